// Functions of two numbers of one type, as ONNX defines them. Integer results wrap.
#ifndef KHEYA_KERNELS_REFERENCE_ARITHMETIC_H_
#define KHEYA_KERNELS_REFERENCE_ARITHMETIC_H_

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace kheya::kernels {

template <typename T>
inline constexpr bool kIsReal = std::is_floating_point_v<T>;

// Integers are computed on 64 unsigned bits, where overflow is defined, and cut.
struct AddFn {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (kIsReal<T>)
      return a + b;
    else
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
};
struct SubFn {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (kIsReal<T>)
      return a - b;
    else
      return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  }
};
struct MulFn {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (kIsReal<T>)
      return a * b;
    else
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  }
};
// Integers: toward zero; the divisor is not 0.
struct DivFn {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (!kIsReal<T>) {
      if (b == static_cast<T>(-1)) return SubFn()(T{}, a);  // the lowest / -1 wraps
    }
    return static_cast<T>(a / b);
  }
};
// The sign is the divisor's (an integer divisor is not 0) or, for C's fmod, the dividend's.
struct ModFn {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (kIsReal<T>) {
      const T rest = std::fmod(a, b);
      if (rest == 0) return std::copysign(rest, b);
      return (rest < 0) != (b < 0) ? rest + b : rest;
    } else {
      if (b == static_cast<T>(-1)) return T{};
      const T rest = static_cast<T>(a % b);
      return rest != 0 && (rest < T{}) != (b < T{}) ? static_cast<T>(rest + b) : rest;
    }
  }
};
struct FmodFn {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (kIsReal<T>)
      return std::fmod(a, b);
    else
      return b == static_cast<T>(-1) ? T{} : static_cast<T>(a % b);
  }
};
template <typename T>
bool IsNan(T x) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(x);
  return false;
}

// NaN wins.
struct MaxFn {
  template <typename T>
  T operator()(T a, T b) const {
    return IsNan(a) || a > b ? a : b;
  }
};
struct MinFn {
  template <typename T>
  T operator()(T a, T b) const {
    return IsNan(a) || a < b ? a : b;
  }
};
struct PreluFn {
  template <typename T>
  T operator()(T x, T slope) const {
    return x < T{} ? MulFn()(x, slope) : x;
  }
};

// base^exponent of integers by squaring, wrapping; 0 to a negative power is 0.
template <typename T>
T IntegerPower(T base, int64_t exponent) {
  if (exponent < 0) {
    if (base == T{1}) return T{1};
    if (base == static_cast<T>(-1) && std::is_signed_v<T>) return exponent % 2 == 0 ? T{1} : base;
    return T{};
  }
  T power = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 != 0) power = MulFn()(power, base);
    base = MulFn()(base, base);
  }
  return power;
}

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_ARITHMETIC_H_
