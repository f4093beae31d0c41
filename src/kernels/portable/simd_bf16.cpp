#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/simd_bf16.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "base/cpu_features.h"
#include "kernels/portable/bf16.h"
#include "kernels/portable/simd.h"
#include "kernels/portable/simd_math-inl.h"
#include "tensor/float16.h"

HWY_BEFORE_NAMESPACE();
namespace kheya::simd::HWY_NAMESPACE {

using DU32 = hn::RebindToUnsigned<D>;
using DU16 = hn::Rebind<uint16_t, D>;  // as many lanes as D

HWY_INLINE V LoadBf16(const uint16_t* x) {
  const DU32 d;
  return hn::BitCast(D(), hn::ShiftLeft<16>(hn::PromoteTo(d, hn::LoadU(DU16(), x))));
}

HWY_INLINE void StoreBf16(V value, uint16_t* y) {
  const DU32 d;
  const hn::RebindToSigned<D> ds;
  const auto bits = hn::BitCast(d, value);
  const auto high = hn::ShiftRight<16>(bits);
  const auto even = hn::And(high, hn::Set(d, 1u));
  const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(even, hn::Set(d, 0x7fffu))));
  const auto quiet = hn::Or(high, hn::Set(d, 0x40u));
  const auto result = hn::IfThenElse(hn::RebindMask(d, hn::IsNaN(value)), quiet, rounded);
  hn::StoreU(hn::DemoteTo(DU16(), hn::BitCast(ds, result)), DU16(), y);
}

HWY_INLINE float WidenOne(uint16_t bits) {
  BFloat16 value;
  value.bits = bits;
  return value;
}

void WidenRun(const uint16_t* x, float* y, size_t count) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(LoadBf16(x + i), d, y + i);
  for (; i < count; ++i) y[i] = WidenOne(x[i]);
}

void NarrowRun(const float* x, uint16_t* y, size_t count) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) StoreBf16(hn::LoadU(d, x + i), y + i);
  for (; i < count; ++i) y[i] = FloatToBFloatBits(x[i]);
}

// Among integers: negative ones that are no NaN become 0.
void ReluRun(const uint16_t* x, uint16_t* y, size_t count) {
  const hn::ScalableTag<uint16_t> d;
  const size_t lanes = hn::Lanes(d);
  const auto sign = hn::Set(d, uint16_t{0x8000});
  const auto infinity = hn::Set(d, uint16_t{0xff80});
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto bits = hn::LoadU(d, x + i);
    const auto keep = hn::Or(hn::Lt(bits, sign), hn::Gt(bits, infinity));
    hn::StoreU(hn::IfThenElseZero(keep, bits), d, y + i);
  }
  for (; i < count; ++i) y[i] = x[i] < 0x8000 || x[i] > 0xff80 ? x[i] : uint16_t{0};
}

void MaxOfBf16Run(const uint16_t* const* taps, size_t num_taps, uint16_t* y, size_t count) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    V best = LoadBf16(taps[0] + i);
    for (size_t t = 1; t < num_taps; ++t) {
      const V value = LoadBf16(taps[t] + i);
      const V larger = hn::IfThenElse(hn::IsNaN(value), value, hn::Max(best, value));
      best = hn::IfThenElse(hn::IsNaN(best), best, larger);
    }
    StoreBf16(best, y + i);
  }
  for (; i < count; ++i) {
    float best = WidenOne(taps[0][i]);
    for (size_t t = 1; t < num_taps; ++t) {
      const float value = WidenOne(taps[t][i]);
      if (best == best && !(value <= best)) best = value;
    }
    y[i] = FloatToBFloatBits(best);
  }
}

void AccumulateBf16Run(const uint16_t* x, float* y, size_t count) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(hn::Add(LoadBf16(x + i), hn::LoadU(d, y + i)), d, y + i);
  }
  for (; i < count; ++i) y[i] += WidenOne(x[i]);
}

}  // namespace kheya::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kheya {

bool HasBf16Arithmetic() { return GetCpuFeatures().avx512_bf16; }

bool MixesBf16(const KernelCall& call) {
  bool mixes = false;
  for (const auto* descs : {&call.inputs, &call.outputs}) {
    for (const TensorDesc& desc : *descs) {
      if (desc.present() && !IsFloat(desc)) return false;
      mixes = mixes || desc.dtype == DType::kBFloat16;
    }
  }
  return mixes;
}

namespace simd {

HWY_EXPORT(WidenRun);
HWY_EXPORT(NarrowRun);
HWY_EXPORT(ReluRun);
HWY_EXPORT(MaxOfBf16Run);
HWY_EXPORT(AccumulateBf16Run);

void Widen(const uint16_t* x, float* y, size_t count) {
  HWY_DYNAMIC_DISPATCH(WidenRun)(x, y, count);
}

void Narrow(const float* x, uint16_t* y, size_t count) {
  HWY_DYNAMIC_DISPATCH(NarrowRun)(x, y, count);
}

void UnaryBf16(const Elementwise& function, const uint16_t* x, uint16_t* y, size_t count) {
  if (function.op == ElementwiseOp::kRelu) return HWY_DYNAMIC_DISPATCH(ReluRun)(x, y, count);
  constexpr size_t kChunk = 1024;
  float run[kChunk];
  for (size_t i = 0; i < count; i += kChunk) {
    const size_t length = std::min(kChunk, count - i);
    Widen(x + i, run, length);
    Unary(function, run, run, length);
    Narrow(run, y + i, length);
  }
}

void MaxOfBf16(const uint16_t* const* taps, size_t num_taps, uint16_t* y, size_t count) {
  HWY_DYNAMIC_DISPATCH(MaxOfBf16Run)(taps, num_taps, y, count);
}

void AccumulateBf16(const uint16_t* x, float* y, size_t count) {
  HWY_DYNAMIC_DISPATCH(AccumulateBf16Run)(x, y, count);
}

}  // namespace simd
}  // namespace kheya
#endif
