// Functions of one number, as ONNX defines them, on float, double and (where they make sense)
// integers.
#ifndef KHEYA_KERNELS_REFERENCE_SCALAR_FUNCTIONS_H_
#define KHEYA_KERNELS_REFERENCE_SCALAR_FUNCTIONS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>

#include "kernels/reference/arithmetic.h"

namespace kheya::kernels {

// The wrapped result of an integer operation on the bits.
template <typename T>
T Negated(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return -x;
  } else {
    return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x));
  }
}

struct AbsFn {
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) return std::fabs(x);
    return x < T{} ? Negated(x) : x;
  }
};
struct NegFn {
  template <typename T>
  T operator()(T x) const {
    return Negated(x);
  }
};
struct SignFn {
  template <typename T>
  T operator()(T x) const {
    if (IsNan(x)) return x;
    return static_cast<T>((x > T{}) - (x < T{}));
  }
};
struct ReluFn {
  template <typename T>
  T operator()(T x) const {
    return x < T{} ? T{} : x;
  }
};
struct ReciprocalFn {
  template <typename T>
  T operator()(T x) const {
    return T{1} / x;
  }
};
struct RoundFn {  // halves to even, whatever the rounding mode
  template <typename T>
  T operator()(T x) const {
    const T rounded = std::round(x);
    const bool half = std::fabs(x - std::trunc(x)) == T{0.5};
    return std::copysign(half ? 2 * std::round(x / 2) : rounded, x);
  }
};

#define KHEYA_STANDARD_FUNCTION(Name, function) \
  struct Name {                                 \
    template <typename T>                       \
    T operator()(T x) const {                   \
      return function(x);                       \
    }                                           \
  }
KHEYA_STANDARD_FUNCTION(AcosFn, std::acos);
KHEYA_STANDARD_FUNCTION(AcoshFn, std::acosh);
KHEYA_STANDARD_FUNCTION(AsinFn, std::asin);
KHEYA_STANDARD_FUNCTION(AsinhFn, std::asinh);
KHEYA_STANDARD_FUNCTION(AtanFn, std::atan);
KHEYA_STANDARD_FUNCTION(AtanhFn, std::atanh);
KHEYA_STANDARD_FUNCTION(CeilFn, std::ceil);
KHEYA_STANDARD_FUNCTION(CosFn, std::cos);
KHEYA_STANDARD_FUNCTION(CoshFn, std::cosh);
KHEYA_STANDARD_FUNCTION(ExpFn, std::exp);
KHEYA_STANDARD_FUNCTION(FloorFn, std::floor);
KHEYA_STANDARD_FUNCTION(SinFn, std::sin);
KHEYA_STANDARD_FUNCTION(SinhFn, std::sinh);
KHEYA_STANDARD_FUNCTION(SqrtFn, std::sqrt);
KHEYA_STANDARD_FUNCTION(TanFn, std::tan);
KHEYA_STANDARD_FUNCTION(TanhFn, std::tanh);
#undef KHEYA_STANDARD_FUNCTION

struct LogFn {  // where denormals count as zero, std::log would scale zero up to be normal
  template <typename T>
  T operator()(T x) const {
    return x == T{} ? -std::numeric_limits<T>::infinity() : std::log(x);
  }
};
struct SigmoidFn {
  template <typename T>
  T operator()(T x) const {
    return T{1} / (T{1} + std::exp(-x));
  }
};
struct SoftplusFn {  // log(1 + exp(x)) without overflow
  template <typename T>
  T operator()(T x) const {
    return std::fmax(x, T{}) + std::log1p(std::exp(-std::fabs(x)));
  }
};
struct SoftsignFn {
  template <typename T>
  T operator()(T x) const {
    return x / (T{1} + std::fabs(x));
  }
};
struct MishFn {
  template <typename T>
  T operator()(T x) const {
    return x * std::tanh(SoftplusFn()(x));
  }
};
struct HardSwishFn {
  template <typename T>
  T operator()(T x) const {
    return x * std::clamp(x / T{6} + T{0.5}, T{0}, T{1});
  }
};
struct GeluFn {
  template <typename T>
  T operator()(T x) const {
    return x / 2 * (T{1} + std::erf(x / std::numbers::sqrt2_v<T>));
  }
};
struct TanhGeluFn {
  template <typename T>
  T operator()(T x) const {
    const T scale = std::sqrt(2 * std::numbers::inv_pi_v<T>);
    return x / 2 * (T{1} + std::tanh(scale * (x + T(0.044715) * x * x * x)));
  }
};

// With parameters, as float: the attributes of ONNX are.
struct LeakyReluFn {
  float alpha;
  template <typename T>
  T operator()(T x) const {
    return x < T{} ? T(alpha) * x : x;
  }
};
struct EluFn {
  float alpha;
  template <typename T>
  T operator()(T x) const {
    return x < T{} ? T(alpha) * std::expm1(x) : x;
  }
};
struct CeluFn {
  float alpha;
  template <typename T>
  T operator()(T x) const {
    return x < T{} ? T(alpha) * std::expm1(x / T(alpha)) : x;
  }
};
struct SeluFn {
  float alpha;
  float gamma;
  template <typename T>
  T operator()(T x) const {
    return T(gamma) * (x < T{} ? T(alpha) * std::expm1(x) : x);
  }
};
struct ThresholdedReluFn {
  float alpha;
  template <typename T>
  T operator()(T x) const {
    return x <= T(alpha) ? T{} : x;
  }
};
struct HardSigmoidFn {
  float alpha;
  float beta;
  template <typename T>
  T operator()(T x) const {
    return std::clamp(T(alpha) * x + T(beta), T{0}, T{1});
  }
};
struct SwishFn {
  float alpha;
  template <typename T>
  T operator()(T x) const {
    return x / (T{1} + std::exp(-T(alpha) * x));
  }
};

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_SCALAR_FUNCTIONS_H_
