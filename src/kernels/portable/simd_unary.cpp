#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/simd_unary.cpp"
#include <hwy/foreach_target.h>

#include "kernels/portable/simd.h"
#include "kernels/portable/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kheya::simd::HWY_NAMESPACE {

// NaN stays NaN in all of them.
HWY_INLINE V KeepNan(V x, V result) { return hn::IfThenElse(hn::IsNaN(x), x, result); }

HWY_INLINE V HardSigmoid(V x, float alpha, float beta) {
  const D d;
  const V line = hn::MulAdd(x, hn::Set(d, alpha), hn::Set(d, beta));
  return KeepNan(x, hn::Clamp(line, hn::Zero(d), hn::Set(d, 1.0f)));
}

HWY_INLINE V Elu(V x, float alpha) {
  const D d;
  const V below = hn::Mul(hn::Set(d, alpha), hn::Expm1(d, hn::Min(x, hn::Zero(d))));
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), below, x);
}

HWY_INLINE V GeluTanh(V x) {
  const D d;
  const V cube = hn::Mul(hn::Mul(x, x), x);
  const V inner = hn::Mul(hn::MulAdd(cube, hn::Set(d, 0.044715f), x), hn::Set(d, 0.7978845608f));
  const V half = hn::Mul(x, hn::Set(d, 0.5f));
  return hn::MulAdd(half, Tanh(inner), half);
}

HWY_INLINE V Gelu(V x) {
  const D d;
  const V half = hn::Mul(x, hn::Set(d, 0.5f));
  return hn::MulAdd(half, Erf(hn::Mul(x, hn::Set(d, 0.70710678118f))), half);
}

HWY_INLINE V Softplus(V x) {
  const D d;
  const V tail = hn::Log1p(d, hn::Exp(d, hn::Neg(hn::Abs(x))));
  return KeepNan(x, hn::Add(hn::Max(x, hn::Zero(d)), tail));
}

// tanh(log(1 + e^x)) as a quotient of polynomials in e^-|x|.
HWY_INLINE V Mish(V x) {
  const D d;
  const V one = hn::Set(d, 1.0f);
  const V two = hn::Set(d, 2.0f);
  const V e = ExpOfNonPositive(hn::Neg(hn::Abs(x)));
  const V above = hn::MulAdd(two, e, one);
  const V below = hn::Mul(e, hn::Add(e, two));
  const V positive = hn::Div(above, hn::MulAdd(hn::Mul(two, e), e, above));
  const V negative = hn::Div(below, hn::Add(below, two));
  return hn::Mul(x, hn::IfThenElse(hn::Lt(x, hn::Zero(d)), negative, positive));
}

void UnaryRun(const Elementwise& function, const float* x, float* y, size_t count) {
  const D d;
  const float alpha = function.alpha, beta = function.beta;
  const auto map = [&](auto body) { Map(x, y, count, body); };
  switch (function.op) {
    case ElementwiseOp::kIdentity:
      return map([](V v) HWY_ATTR { return v; });
    case ElementwiseOp::kRelu:
      return map([d](V v) HWY_ATTR { return KeepNan(v, hn::Max(v, hn::Zero(d))); });
    case ElementwiseOp::kClip:
      return map([=](V v) HWY_ATTR {
        const V low = hn::Max(v, hn::Set(d, alpha));
        return KeepNan(v, hn::Min(low, hn::Set(d, beta)));
      });
    case ElementwiseOp::kLeakyRelu:
      return map([=](V v) HWY_ATTR {
        return hn::IfThenElse(hn::Lt(v, hn::Zero(d)), hn::Mul(v, hn::Set(d, alpha)), v);
      });
    case ElementwiseOp::kElu:
      return map([=](V v) HWY_ATTR { return Elu(v, alpha); });
    case ElementwiseOp::kSigmoid:
      return map([](V v) HWY_ATTR { return Sigmoid(v); });
    case ElementwiseOp::kTanh:
      return map([](V v) HWY_ATTR { return Tanh(v); });
    case ElementwiseOp::kGelu:
      return map([](V v) HWY_ATTR { return KeepNan(v, Gelu(v)); });
    case ElementwiseOp::kGeluTanh:
      return map([](V v) HWY_ATTR { return KeepNan(v, GeluTanh(v)); });
    case ElementwiseOp::kSilu:
      if (alpha == 1) return map([](V v) HWY_ATTR { return hn::Mul(v, Sigmoid(v)); });
      return map([=](V v) HWY_ATTR { return hn::Mul(v, Sigmoid(hn::Mul(v, hn::Set(d, alpha)))); });
    case ElementwiseOp::kHardSigmoid:
      return map([=](V v) HWY_ATTR { return HardSigmoid(v, alpha, beta); });
    case ElementwiseOp::kHardSwish:
      return map([](V v) HWY_ATTR { return hn::Mul(v, HardSigmoid(v, 1.0f / 6, 0.5f)); });
    case ElementwiseOp::kSoftplus:
      return map([](V v) HWY_ATTR { return Softplus(v); });
    case ElementwiseOp::kMish:
      return map([](V v) HWY_ATTR { return KeepNan(v, Mish(v)); });
    case ElementwiseOp::kErf:
      return map([](V v) HWY_ATTR { return KeepNan(v, Erf(v)); });
    case ElementwiseOp::kExp:
      if (kScalesAll) {
        return map([d](V v) HWY_ATTR {
          return ExpWithin(hn::Min(hn::Set(d, 150.0f), hn::Max(hn::Set(d, -150.0f), v)));
        });
      }
      return map([d](V v) HWY_ATTR {
        const V e = hn::Exp(d, hn::Min(v, hn::Set(d, 88.0f)));
        const V large = hn::Mul(e, hn::Exp(d, hn::Max(hn::Sub(v, hn::Set(d, 88.0f)), hn::Zero(d))));
        return KeepNan(v, large);
      });
    case ElementwiseOp::kSqrt:
      return map([](V v) HWY_ATTR { return hn::Sqrt(v); });
    case ElementwiseOp::kReciprocal:
      return map([d](V v) HWY_ATTR { return hn::Div(hn::Set(d, 1.0f), v); });
    case ElementwiseOp::kNeg:
      return map([](V v) HWY_ATTR { return hn::Neg(v); });
    case ElementwiseOp::kAbs:
      return map([](V v) HWY_ATTR { return hn::Abs(v); });
    case ElementwiseOp::kFloor:
      return map([](V v) HWY_ATTR { return hn::Floor(v); });
    case ElementwiseOp::kCeil:
      return map([](V v) HWY_ATTR { return hn::Ceil(v); });
  }
}

}  // namespace kheya::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kheya::simd {

HWY_EXPORT(UnaryRun);

void Unary(const Elementwise& function, const float* x, float* y, size_t count) {
  HWY_DYNAMIC_DISPATCH(UnaryRun)(function, x, y, count);
}

}  // namespace kheya::simd
#endif
