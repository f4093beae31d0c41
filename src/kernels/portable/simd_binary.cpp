#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/simd_binary.cpp"
#include <hwy/foreach_target.h>

#include <cmath>

#include "kernels/portable/simd.h"
#include "kernels/portable/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kheya::simd::HWY_NAMESPACE {

template <typename Body>
HWY_INLINE void Zip(const float* a, size_t a_step, const float* b, size_t b_step, float* y,
                    size_t count, Body body) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const V a0 = hn::Set(d, a[0]);
  const V b0 = hn::Set(d, b[0]);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const V va = a_step ? hn::LoadU(d, a + i) : a0;
    const V vb = b_step ? hn::LoadU(d, b + i) : b0;
    hn::StoreU(body(va, vb), d, y + i);
  }
  if (i == count) return;
  HWY_ALIGN float rest_a[hn::MaxLanes(D())] = {};
  HWY_ALIGN float rest_b[hn::MaxLanes(D())] = {};
  for (size_t j = i; j < count; ++j) {
    rest_a[j - i] = a[j * a_step];
    rest_b[j - i] = b[j * b_step];
  }
  hn::Store(body(hn::Load(d, rest_a), hn::Load(d, rest_b)), d, rest_a);
  for (size_t j = i; j < count; ++j) y[j] = rest_a[j - i];
}

// The minimum or maximum of numbers; NaN where either is.
HWY_INLINE V WithNan(V a, V b, V result) {
  return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::IsNaN(b), b, result));
}

void BinaryRun(BinaryOp op, const float* a, size_t a_step, const float* b, size_t b_step, float* y,
               size_t count) {
  if (count == 0) return;
  const auto zip = [&](auto body) { Zip(a, a_step, b, b_step, y, count, body); };
  switch (op) {
    case BinaryOp::kAdd:
      return zip([](V p, V q) HWY_ATTR { return hn::Add(p, q); });
    case BinaryOp::kSub:
      return zip([](V p, V q) HWY_ATTR { return hn::Sub(p, q); });
    case BinaryOp::kMul:
      return zip([](V p, V q) HWY_ATTR { return hn::Mul(p, q); });
    case BinaryOp::kDiv:
      return zip([](V p, V q) HWY_ATTR { return hn::Div(p, q); });
    case BinaryOp::kMin:
      return zip([](V p, V q) HWY_ATTR { return WithNan(p, q, hn::Min(p, q)); });
    case BinaryOp::kMax:
      return zip([](V p, V q) HWY_ATTR { return WithNan(p, q, hn::Max(p, q)); });
  }
}

void AffineRun(const float* x, const float* scale, const float* shift, size_t step, float* y,
               size_t count) {
  if (count == 0) return;
  const D d;
  const size_t lanes = hn::Lanes(d);
  const V scale0 = hn::Set(d, scale[0]);
  const V shift0 = hn::Set(d, shift[0]);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const V s = step ? hn::LoadU(d, scale + i) : scale0;
    const V t = step ? hn::LoadU(d, shift + i) : shift0;
    hn::StoreU(hn::MulAdd(hn::LoadU(d, x + i), s, t), d, y + i);
  }
  for (; i < count; ++i) y[i] = std::fma(x[i], scale[i * step], shift[i * step]);
}

void MultiplyAccumulateRun(const float* x, const float* w, float* y, size_t count, size_t w_step) {
  if (count == 0) return;
  const D d;
  const size_t lanes = hn::Lanes(d);
  const V w0 = hn::Set(d, w[0]);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const V factor = w_step ? hn::LoadU(d, w + i) : w0;
    hn::StoreU(hn::MulAdd(hn::LoadU(d, x + i), factor, hn::LoadU(d, y + i)), d, y + i);
  }
  for (; i < count; ++i) y[i] = std::fma(x[i], w[i * w_step], y[i]);
}

void AccumulateRun(const float* x, float* y, size_t count) {
  Zip(x, 1, y, 1, y, count, [](V p, V q) HWY_ATTR { return hn::Add(p, q); });
}

// y[i] = finish(taps[0][i] combined with all others).
template <typename Combine, typename Finish>
HWY_INLINE void Reduce(const float* const* taps, size_t num_taps, float* y, size_t count,
                       Combine combine, Finish finish) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    V v0 = hn::LoadU(d, taps[0] + i);
    V v1 = hn::LoadU(d, taps[0] + i + lanes);
    V v2 = hn::LoadU(d, taps[0] + i + 2 * lanes);
    V v3 = hn::LoadU(d, taps[0] + i + 3 * lanes);
    for (size_t t = 1; t < num_taps; ++t) {
      const float* tap = taps[t] + i;
      v0 = combine(v0, hn::LoadU(d, tap));
      v1 = combine(v1, hn::LoadU(d, tap + lanes));
      v2 = combine(v2, hn::LoadU(d, tap + 2 * lanes));
      v3 = combine(v3, hn::LoadU(d, tap + 3 * lanes));
    }
    hn::StoreU(finish(v0), d, y + i);
    hn::StoreU(finish(v1), d, y + i + lanes);
    hn::StoreU(finish(v2), d, y + i + 2 * lanes);
    hn::StoreU(finish(v3), d, y + i + 3 * lanes);
  }
  for (; i + lanes <= count; i += lanes) {
    V v = hn::LoadU(d, taps[0] + i);
    for (size_t t = 1; t < num_taps; ++t) v = combine(v, hn::LoadU(d, taps[t] + i));
    hn::StoreU(finish(v), d, y + i);
  }
  if (i == count) return;
  HWY_ALIGN float rest[hn::MaxLanes(D())] = {};
  const auto load = [&](const float* tap) HWY_ATTR {
    for (size_t j = i; j < count; ++j) rest[j - i] = tap[j];
    return hn::Load(d, rest);
  };
  V v = load(taps[0]);
  for (size_t t = 1; t < num_taps; ++t) v = combine(v, load(taps[t]));
  hn::Store(finish(v), d, rest);
  for (size_t j = i; j < count; ++j) y[j] = rest[j - i];
}

void MaxOfRun(const float* const* taps, size_t num_taps, float* y, size_t count) {
  Reduce(
      taps, num_taps, y, count, [](V p, V q) HWY_ATTR { return WithNan(p, q, hn::Max(p, q)); },
      [](V v) HWY_ATTR { return v; });
}

void ScaledSumOfRun(const float* const* taps, size_t num_taps, float factor, float* y,
                    size_t count) {
  const V factors = hn::Set(D(), factor);
  Reduce(
      taps, num_taps, y, count, [](V p, V q) HWY_ATTR { return hn::Add(p, q); },
      [factors](V v) HWY_ATTR { return hn::Mul(v, factors); });
}

}  // namespace kheya::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kheya::simd {

HWY_EXPORT(BinaryRun);
HWY_EXPORT(AffineRun);
HWY_EXPORT(MultiplyAccumulateRun);
HWY_EXPORT(AccumulateRun);
HWY_EXPORT(MaxOfRun);
HWY_EXPORT(ScaledSumOfRun);

void Binary(BinaryOp op, const float* a, size_t a_step, const float* b, size_t b_step, float* y,
            size_t count) {
  HWY_DYNAMIC_DISPATCH(BinaryRun)(op, a, a_step, b, b_step, y, count);
}

void Affine(const float* x, const float* scale, const float* shift, size_t step, float* y,
            size_t count) {
  HWY_DYNAMIC_DISPATCH(AffineRun)(x, scale, shift, step, y, count);
}

void MultiplyAccumulate(const float* x, const float* w, float* y, size_t count, size_t w_step) {
  HWY_DYNAMIC_DISPATCH(MultiplyAccumulateRun)(x, w, y, count, w_step);
}

void Accumulate(const float* x, float* y, size_t count) {
  HWY_DYNAMIC_DISPATCH(AccumulateRun)(x, y, count);
}

void MaxOf(const float* const* taps, size_t num_taps, float* y, size_t count) {
  HWY_DYNAMIC_DISPATCH(MaxOfRun)(taps, num_taps, y, count);
}

void ScaledSumOf(const float* const* taps, size_t num_taps, float factor, float* y, size_t count) {
  HWY_DYNAMIC_DISPATCH(ScaledSumOfRun)(taps, num_taps, factor, y, count);
}

void Scale(float factor, float* y, size_t count) {
  HWY_DYNAMIC_DISPATCH(BinaryRun)(BinaryOp::kMul, y, 1, &factor, 0, y, count);
}

}  // namespace kheya::simd
#endif
