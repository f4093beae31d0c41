// The error that signal.h states of FourierTransform, against the sum in long double.
#include "kernels/reference/signal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace kheya::kernels {
namespace {

using Complex = std::complex<double>;
using LongComplex = std::complex<long double>;

std::vector<Complex> RandomNumbersOf(int64_t size) {
  std::mt19937 engine(7);
  std::uniform_real_distribution<double> distribution(-1, 1);
  std::vector<Complex> numbers;
  for (int64_t i = 0; i < size; ++i) {
    const double real = distribution(engine);
    numbers.emplace_back(real, distribution(engine));
  }
  return numbers;
}

// Place k of the transform, by its definition.
LongComplex PlaceOf(const std::vector<Complex>& x, int64_t k, bool inverse) {
  const auto size = static_cast<int64_t>(x.size());
  LongComplex sum = 0;
  for (int64_t n = 0; n < size; ++n) {
    const auto turns = static_cast<long double>(k * n % size) / static_cast<long double>(size);
    const long double angle = (inverse ? 2 : -2) * std::numbers::pi_v<long double> * turns;
    sum += LongComplex(x[n]) * LongComplex(std::cos(angle), std::sin(angle));
  }
  return inverse ? sum / static_cast<long double>(size) : sum;
}

// The relative L2 error of every `step`th place.
double ErrorOf(int64_t size, bool inverse, int64_t step) {
  const std::vector<Complex> x = RandomNumbersOf(size);
  std::vector<Complex> y = x;
  FourierTransform(size, inverse).Run(y);
  long double wrong = 0;
  long double all = 0;
  for (int64_t k = 0; k < size; k += step) {
    const LongComplex expected = PlaceOf(x, k, inverse);
    wrong += std::norm(LongComplex(y[k]) - expected);
    all += std::norm(expected);
  }
  return static_cast<double>(std::sqrt(wrong / all));
}

TEST(FourierTransform, IsAsExactAsStated) {
  for (int64_t size : {1, 2, 3, 5, 8, 12, 97, 100, 128, 360, 499, 1009, 1024}) {
    for (bool inverse : {false, true}) {
      EXPECT_LT(ErrorOf(size, inverse, 1), 1e-14) << size << (inverse ? " inverse" : "");
    }
  }
}

// Too long for all places: some of them.
TEST(FourierTransform, IsAsExactAsStatedWhenLong) {
  for (int64_t size : {int64_t{1} << 20, int64_t{1000003}}) {
    EXPECT_LT(ErrorOf(size, false, 345679), 1e-14) << size;
  }
}

}  // namespace
}  // namespace kheya::kernels
