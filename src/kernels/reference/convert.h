// ConvertNumber: one number from one C++ type to another, as Cast does it.
#ifndef KHEYA_KERNELS_REFERENCE_CONVERT_H_
#define KHEYA_KERNELS_REFERENCE_CONVERT_H_

#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/reference/elementwise.h"

namespace kheya::kernels {

// Toward zero; outside the range the nearest end, NaN gives 0.
template <typename To>
To FloatToInteger(double value) {
  using Limits = std::numeric_limits<To>;
  if (std::isnan(value)) return To{};
  // 2^bits is exact in double where the highest integer may not be.
  if (value >= std::ldexp(1.0, Limits::digits)) return Limits::max();
  if (value <= static_cast<double>(Limits::min())) return Limits::min();
  return static_cast<To>(value);
}

// Float types, the half types, integers and bool; integers wrap among each other.
template <typename To, typename From>
To ConvertNumber(From value) {
  if constexpr (kIsHalf<From>) {
    return ConvertNumber<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From{};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return FloatToInteger<To>(value);
  } else if constexpr (kIsHalf<To>) {
    return To(static_cast<float>(value));
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_CONVERT_H_
