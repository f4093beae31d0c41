// Vector forms of the elementwise functions. Included once for each target by simd_*.cpp.
#if defined(KHEYA_KERNELS_PORTABLE_SIMD_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KHEYA_KERNELS_PORTABLE_SIMD_MATH_INL_H_
#undef KHEYA_KERNELS_PORTABLE_SIMD_MATH_INL_H_
#else
#define KHEYA_KERNELS_PORTABLE_SIMD_MATH_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kheya::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// Min and Max return their second operand where one is NaN.
#if HWY_TARGET <= HWY_SSE4 && HWY_ARCH_X86
constexpr bool kMinMaxKeepNan = true;
#else
constexpr bool kMinMaxKeepNan = false;
#endif

// Calls body(vector) on each whole vector of a run, and on a padded copy of the rest.
template <typename Body>
HWY_INLINE void Map(const float* x, float* y, size_t count, Body body) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(body(hn::LoadU(d, x + i)), d, y + i);
  if (i == count) return;
  HWY_ALIGN float rest[hn::MaxLanes(D())] = {};
  for (size_t j = i; j < count; ++j) rest[j - i] = x[j];
  hn::Store(body(hn::Load(d, rest)), d, rest);
  for (size_t j = i; j < count; ++j) y[j] = rest[j - i];
}

// x P(x^2) / Q(x^2) on [-4, 4], outside of which erf is 1 to the last bit (Eigen's coefficients).
HWY_INLINE V Erf(V value) {
  const D d;
  const V x = hn::Clamp(value, hn::Set(d, -4.0f), hn::Set(d, 4.0f));
  const V x2 = hn::Mul(x, x);
  V p = hn::Set(d, -2.72614225801306e-10f);
  for (const float c : {2.77068142495902e-08f, -2.10102402082508e-06f, -5.69250639462346e-05f,
                        -7.34990630326855e-04f, -2.95459980854025e-03f, -1.60960333262415e-02f}) {
    p = hn::MulAdd(p, x2, hn::Set(d, c));
  }
  V q = hn::Set(d, -1.45660718464996e-05f);
  for (const float c : {-2.13374055278905e-04f, -1.68282697438203e-03f, -7.37332916720468e-03f,
                        -1.42647390514189e-02f}) {
    q = hn::MulAdd(q, x2, hn::Set(d, c));
  }
  return hn::Div(hn::Mul(x, p), q);
}

constexpr float kLeastExponent = -87.3365448f;  // e^x is a normal number from here on

// p 2^n for p near 1 and whole n from -126 to 127; where kScalesAll any n, 0 or infinity where the
// result is too small or too large.
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
constexpr bool kScalesAll = true;
HWY_INLINE V Scale(V p, V n) { return V{_mm512_scalef_ps(p.raw, n.raw)}; }
#else
constexpr bool kScalesAll = false;
HWY_INLINE V Scale(V p, V n) {
  const D d;
  const hn::RebindToSigned<D> di;
  const auto exponent = hn::ShiftLeft<23>(hn::ConvertTo(di, n));
  return hn::BitCast(d, hn::Add(hn::BitCast(di, p), exponent));
}
#endif

// e^x, or e^-x where kNegated, for |x| up to -kLeastExponent, where kScalesAll up to 1000; NaN
// stays on x86. The polynomial has the least maximum relative error on |r| <= ln(2) / 2, by
// Remez's exchange.
template <bool kNegated = false>
HWY_INLINE V ExpWithin(V x) {
  const D d;
  constexpr float kSign = kNegated ? -1.0f : 1.0f;
  const V n = hn::Round(hn::Mul(x, hn::Set(d, kSign * 1.44269504f)));
  V r = hn::MulAdd(n, hn::Set(d, kSign * -0.693359375f), x);
  r = hn::MulAdd(n, hn::Set(d, kSign * 2.12194440e-4f), r);
  V p = hn::Set(d, 1.40614215e-3f);
  for (const float c : {kSign * 8.37905901e-3f, 4.16647733e-2f, kSign * 1.66663648e-1f,
                        5.00000044e-1f, kSign, 1.0f}) {
    p = hn::MulAdd(p, r, hn::Set(d, c));
  }
  return Scale(p, n);
}

// e^x for x <= 0; it may be 0 where it is no normal number. NaN stays.
HWY_INLINE V ExpOfNonPositive(V x) {
  const D d;
  const V least = hn::Set(d, kScalesAll ? -150.0f : kLeastExponent);
  const V power = ExpWithin(hn::Max(least, x));
  if (kScalesAll) return power;
  const V result = hn::IfThenElse(hn::IsNaN(x), x, power);
  return hn::IfThenZeroElse(hn::Lt(x, least), result);
}

// x P(x^2) / Q(x^2) (Eigen's coefficients) up to where that first is 1 as rounded with fused
// products or without. NaN stays.
HWY_INLINE V Tanh(V value) {
  const D d;
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
  const V most = hn::Set(d, 7.99881172f);
#else
  const V most = hn::Set(d, 7.90531111f);
#endif
  const V x = hn::Min(most, hn::Max(hn::Neg(most), value));
  const V x2 = hn::Mul(x, x);
  V p = hn::Set(d, -2.76076847742355e-16f);
  for (const float c : {2.00018790482477e-13f, -8.60467152213735e-11f, 5.12229709037114e-08f,
                        1.48572235717979e-05f, 6.37261928875436e-04f, 4.89352455891786e-03f}) {
    p = hn::MulAdd(p, x2, hn::Set(d, c));
  }
  V q = hn::Set(d, 1.19825839466702e-06f);
  for (const float c : {1.18534705686654e-04f, 2.26843463243900e-03f, 4.89352518554385e-03f}) {
    q = hn::MulAdd(q, x2, hn::Set(d, c));
  }
  const V result = hn::Div(hn::Mul(x, p), q);
  return kMinMaxKeepNan ? result : hn::IfThenElse(hn::IsNaN(value), value, result);
}

// 1 / (1 + e^-x); it may be 0 where it is no normal number. NaN stays.
HWY_INLINE V Sigmoid(V x) {
  const D d;
  const V one = hn::Set(d, 1.0f);
  const V least = hn::Set(d, kScalesAll ? -100.0f : kLeastExponent);
  const V clamped = hn::Min(hn::Neg(least), hn::Max(least, x));
  const V result = hn::Div(one, hn::Add(one, ExpWithin<true>(clamped)));
  if (kScalesAll) return result;  // 1 / infinity below
  return hn::IfThenElse(hn::IsNaN(x), x, hn::IfThenZeroElse(hn::Lt(x, least), result));
}

}  // namespace kheya::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard that toggles
