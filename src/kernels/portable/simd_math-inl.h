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

HWY_INLINE V Sigmoid(V x) {
  const D d;
  const V one = hn::Set(d, 1.0f);
  const V e = hn::Exp(d, hn::Neg(hn::Abs(x)));
  const V top = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one);  // 1 - positive would cancel
  return hn::Div(top, hn::Add(one, e));
}

}  // namespace kheya::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard that toggles
