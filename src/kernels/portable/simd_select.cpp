#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/simd_select.cpp"
#include <hwy/foreach_target.h>

#include <cstring>

#include "kernels/portable/simd.h"
#include "kernels/portable/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kheya::simd::HWY_NAMESPACE {

void WeightedSumRun(const float* const* rows, const float* weights, size_t taps, bool add, float* y,
                    size_t count) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    V sum = add ? hn::LoadU(d, y + i) : hn::Zero(d);
    for (size_t t = 0; t < taps; ++t) {
      sum = hn::MulAdd(hn::LoadU(d, rows[t] + i), hn::Set(d, weights[t]), sum);
    }
    hn::StoreU(sum, d, y + i);
  }
  for (; i < count; ++i) {
    float sum = add ? y[i] : 0.0f;
    for (size_t t = 0; t < taps; ++t) sum += rows[t][i] * weights[t];
    y[i] = sum;
  }
}

// x at a vector of indices that do not fall, all below `size`: neighbours come from one vector.
HWY_INLINE V Gathered(const float* x, size_t size, const int32_t* indices) {
  const D d;
  const hn::RebindToSigned<D> di;
  const auto at = hn::LoadU(di, indices);
  const size_t lanes = hn::Lanes(d);
  if (size >= lanes) {
    const int32_t first = HWY_MIN(indices[0], static_cast<int32_t>(size - lanes));
    if (indices[lanes - 1] - first < static_cast<int32_t>(lanes)) {
      const auto places = hn::IndicesFromVec(d, hn::Sub(at, hn::Set(di, first)));
      return hn::TableLookupLanes(hn::LoadU(d, x + first), places);
    }
  }
  return hn::GatherIndex(d, x, at);
}

void GatheredSumRun(const float* x, size_t size, const int32_t* indices, const float* weights,
                    size_t taps, float* y, size_t count) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    V sum = hn::Zero(d);
    for (size_t at = i; at < taps * count; at += count) {
      sum = hn::MulAdd(Gathered(x, size, indices + at), hn::LoadU(d, weights + at), sum);
    }
    hn::StoreU(sum, d, y + i);
  }
  for (; i < count; ++i) {
    float sum = 0;
    for (size_t at = i; at < taps * count; at += count) sum += x[indices[at]] * weights[at];
    y[i] = sum;
  }
}

void GatherRun(const float* x, size_t size, const int32_t* indices, float* y, size_t count) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(Gathered(x, size, indices + i), d, y + i);
  for (; i < count; ++i) std::memcpy(y + i, x + indices[i], sizeof(float));
}

size_t FindBeyondRun(const float* x, size_t first, size_t count, float bound, bool below) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const V limit = hn::Set(d, bound);
  size_t i = first;
  for (; i + lanes <= count; i += lanes) {
    const V v = hn::LoadU(d, x + i);
    const auto within = below ? hn::Ge(v, limit) : hn::Le(v, limit);
    if (!hn::AllTrue(d, within)) return i + hn::FindKnownFirstTrue(d, hn::Not(within));
  }
  for (; i < count; ++i) {
    if (below ? !(x[i] >= bound) : !(x[i] <= bound)) return i;
  }
  return count;
}

}  // namespace kheya::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kheya::simd {

HWY_EXPORT(WeightedSumRun);
HWY_EXPORT(GatheredSumRun);
HWY_EXPORT(GatherRun);
HWY_EXPORT(FindBeyondRun);

void WeightedSum(const float* const* rows, const float* weights, size_t taps, bool add, float* y,
                 size_t count) {
  HWY_DYNAMIC_DISPATCH(WeightedSumRun)(rows, weights, taps, add, y, count);
}

void GatheredSum(const float* x, size_t size, const int32_t* indices, const float* weights,
                 size_t taps, float* y, size_t count) {
  HWY_DYNAMIC_DISPATCH(GatheredSumRun)(x, size, indices, weights, taps, y, count);
}

void Gather(const float* x, size_t size, const int32_t* indices, float* y, size_t count) {
  HWY_DYNAMIC_DISPATCH(GatherRun)(x, size, indices, y, count);
}

size_t FindBeyond(const float* x, size_t first, size_t count, float bound, bool below) {
  return HWY_DYNAMIC_DISPATCH(FindBeyondRun)(x, first, count, bound, below);
}

}  // namespace kheya::simd
#endif
