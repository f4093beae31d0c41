#include "kernels/reference/inverse.h"

#include <algorithm>
#include <cmath>

namespace kheya::kernels {

bool Invert(int64_t size, std::span<double> a, std::span<double> inverse) {
  const auto n = static_cast<size_t>(size);
  std::ranges::fill(inverse, 0.0);
  for (size_t i = 0; i < n; ++i) inverse[i * n + i] = 1;
  for (size_t column = 0; column < n; ++column) {
    size_t pivot = column;
    for (size_t row = column; row < n; ++row) {
      if (std::abs(a[row * n + column]) > std::abs(a[pivot * n + column])) pivot = row;
    }
    const double divisor = a[pivot * n + column];
    if (divisor == 0) return false;
    for (size_t i = 0; i < n; ++i) {
      std::swap(a[pivot * n + i], a[column * n + i]);
      std::swap(inverse[pivot * n + i], inverse[column * n + i]);
      a[column * n + i] /= divisor;
      inverse[column * n + i] /= divisor;
    }
    for (size_t row = 0; row < n; ++row) {
      const double factor = a[row * n + column];
      if (row == column || factor == 0) continue;
      for (size_t i = 0; i < n; ++i) {
        a[row * n + i] -= factor * a[column * n + i];
        inverse[row * n + i] -= factor * inverse[column * n + i];
      }
    }
  }
  return true;
}

}  // namespace kheya::kernels
