#include "kernels/reference/random_numbers.h"

#include <cmath>

namespace kheya::kernels {

double RandomNumbers::Uniform() {
  const uint32_t high = static_cast<uint32_t>(generator_()) >> 5;
  const uint32_t low = static_cast<uint32_t>(generator_()) >> 6;
  return (high * 67108864.0 + low) / 9007199254740992.0;  // 2^26, 2^53
}

double RandomNumbers::Normal() {
  if (has_kept_) {
    has_kept_ = false;
    return kept_;
  }
  double x = 0;
  double y = 0;
  double square = 0;
  do {
    x = 2 * Uniform() - 1;
    y = 2 * Uniform() - 1;
    square = x * x + y * y;
  } while (square >= 1 || square == 0);
  const double factor = std::sqrt(-2 * std::log(square) / square);
  kept_ = factor * x;
  has_kept_ = true;
  return factor * y;
}

}  // namespace kheya::kernels
