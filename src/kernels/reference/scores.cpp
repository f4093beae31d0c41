#include "kernels/reference/scores.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kheya::kernels {
namespace {

// Winitzki's approximation of the inverse error function, which the standard's users compute.
double InverseErf(double x) {
  const double sign = x < 0 ? -1 : 1;
  const double log = std::log((1 - x) * (1 + x));
  constexpr double kPi = 3.14159f;
  const double v = 2 / (kPi * 0.147) + 0.5 * log;
  return sign * std::sqrt(-v + std::sqrt(v * v - 1 / 0.147 * log));
}

double Probit(double score) { return 1.41421356f * InverseErf(2 * score - 1); }

void Softmax(std::span<double> scores, bool skip_zeros) {
  double largest = -std::numeric_limits<double>::infinity();
  for (double score : scores) largest = std::max(largest, score);
  double sum = 0;
  for (double& score : scores) {
    const bool skipped = skip_zeros && std::abs(score) <= 1e-7;
    score = skipped ? 0 : std::exp(score - largest);
    sum += score;
  }
  for (double& score : scores) score /= sum;
}

}  // namespace

double Logistic(double score) { return 1 / (1 + std::exp(-score)); }

void Transform(PostTransform transform, std::span<double> scores) {
  switch (transform) {
    case PostTransform::kNone:
      return;
    case PostTransform::kSoftmax:
    case PostTransform::kSoftmaxZero:
      return Softmax(scores, transform == PostTransform::kSoftmaxZero);
    case PostTransform::kLogistic:
      for (double& score : scores) score = Logistic(score);
      return;
    case PostTransform::kProbit:
      for (double& score : scores) score = Probit(score);
  }
}

std::array<double, 2> BothScores(PostTransform transform, bool shares, double score) {
  if (transform == PostTransform::kProbit) return {score, Probit(score)};
  if (shares) return {1 - score, score};
  if (transform == PostTransform::kLogistic) return {Logistic(-score), Logistic(score)};
  return {-score, score};
}

size_t IndexOfLargest(std::span<const double> scores) {
  return static_cast<size_t>(std::ranges::max_element(scores) - scores.begin());
}

}  // namespace kheya::kernels
