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

// e^x for |x| up to -kLeastExponent; NaN stays on x86. The polynomial has the least
// maximum relative error on |r| <= ln(2) / 2, by Remez's exchange.
HWY_INLINE V ExpWithin(V x) {
  const D d;
  const hn::RebindToSigned<D> di;
  const V n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504f)));
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  V p = hn::Set(d, 1.40614215e-3f);
  for (const float c :
       {8.37905901e-3f, 4.16647733e-2f, 1.66663648e-1f, 5.00000044e-1f, 1.0f, 1.0f}) {
    p = hn::MulAdd(p, r, hn::Set(d, c));
  }
  const auto exponent = hn::ShiftLeft<23>(hn::ConvertTo(di, n));
  return hn::BitCast(d, hn::Add(hn::BitCast(di, p), exponent));
}

// e^x for x <= 0; 0 where the result would be no normal number; NaN stays.
HWY_INLINE V ExpOfNonPositive(V x) {
  const D d;
  const V least = hn::Set(d, kLeastExponent);
  const V power = ExpWithin(hn::Max(least, x));
  const V result = hn::IfThenElse(hn::IsNaN(x), x, power);
  return hn::IfThenZeroElse(hn::Lt(x, least), result);
}

// 1 / (1 + e^-x); 0 where that is no normal number.
HWY_INLINE V Sigmoid(V x) {
  const D d;
  const V one = hn::Set(d, 1.0f);
  const V least = hn::Set(d, kLeastExponent);
  const V clamped = hn::Min(hn::Neg(least), hn::Max(least, x));
  const V result = hn::Div(one, hn::Add(one, ExpWithin(hn::Neg(clamped))));
  return hn::IfThenZeroElse(hn::Lt(x, least), result);
}

}  // namespace kheya::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard that toggles
