#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/simd_attention.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/portable/simd.h"
#include "kernels/portable/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kheya::simd::HWY_NAMESPACE {

constexpr float kHidden = -std::numeric_limits<float>::infinity();

// The first `count` lanes, fewer than there are.
HWY_INLINE V LoadRest(const float* x, size_t count) {
  HWY_ALIGN float rest[hn::MaxLanes(D())] = {};
  for (size_t i = 0; i < count; ++i) rest[i] = x[i];
  return hn::Load(D(), rest);
}

// Scores become what enters the softmax: load(scores, index, count) on each vector. Returns the
// largest of each lane.
template <typename Load>
HWY_INLINE V Prepare(const ScoreRow& row, Load load) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const V hidden = hn::Set(d, kHidden);
  V best = hidden;
  size_t i = 0;
  for (; i + lanes <= row.visible; i += lanes) {
    const V s = load(hn::Load(d, row.scores + i), i, lanes);
    best = hn::Max(best, s);
    hn::Store(s, d, row.scores + i);
  }
  for (; i < row.count; i += lanes) {
    const size_t left = row.visible > i ? row.visible - i : 0;
    V s = hidden;
    if (left > 0) {
      s = load(hn::Load(d, row.scores + i), i, left);
      s = hn::IfThenElse(hn::FirstN(d, left), s, hidden);
      best = hn::Max(best, s);
    }
    hn::Store(s, d, row.scores + i);
  }
  return best;
}

HWY_INLINE V PrepareRow(const ScoreRow& row) {
  const D d;
  const V scale = hn::Set(d, row.scale);
  const size_t lanes = hn::Lanes(d);
  if (row.mask == nullptr) {
    return Prepare(row, [=](V s, size_t, size_t) HWY_ATTR { return hn::Mul(s, scale); });
  }
  if (row.mask_step == 0) {
    const V mask = hn::Set(d, *row.mask);
    return Prepare(row,
                   [=](V s, size_t, size_t) HWY_ATTR { return hn::Add(hn::Mul(s, scale), mask); });
  }
  const float* mask = row.mask;
  const auto load_mask = [=](size_t i, size_t n) HWY_ATTR {
    return n >= lanes ? hn::LoadU(d, mask + i) : LoadRest(mask + i, n);
  };
  if (row.selects) {
    const V other = hn::Set(d, row.masked_score);
    return Prepare(row, [=](V s, size_t i, size_t n) HWY_ATTR {
      const V chosen = load_mask(i, n);
      return hn::IfThenElse(hn::Eq(chosen, hn::Zero(d)), other, hn::Mul(s, scale));
    });
  }
  return Prepare(row, [=](V s, size_t i, size_t n)
                          HWY_ATTR { return hn::Add(hn::Mul(s, scale), load_mask(i, n)); });
}

void SoftmaxScoresRun(const ScoreRow& row) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const float largest = hn::GetLane(hn::MaxOfLanes(d, PrepareRow(row)));
  const bool hidden =
      row.zero_hidden && !(largest > kHidden) &&
      std::all_of(row.scores, row.scores + row.count, [](float s) { return s == kHidden; });
  const V top = hn::Set(d, largest);
  V sums = hn::Zero(d);
  for (size_t i = 0; i < row.count; i += lanes) {
    const V weight = ExpOfNonPositive(hn::Sub(hn::Load(d, row.scores + i), top));
    sums = hn::Add(sums, weight);
    hn::Store(weight, d, row.scores + i);
  }
  const float sum = hn::GetLane(hn::SumOfLanes(d, sums));
  if (hidden || (row.zero_nan && std::isnan(sum))) {
    std::fill_n(row.scores, row.count, 0.0f);
    return;
  }
  const V factor = hn::Set(d, 1.0f / sum);
  for (size_t i = 0; i < row.count; i += lanes) {
    hn::Store(hn::Mul(hn::Load(d, row.scores + i), factor), d, row.scores + i);
  }
}

}  // namespace kheya::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kheya::simd {

HWY_EXPORT(SoftmaxScoresRun);

void SoftmaxScores(const ScoreRow& row) { HWY_DYNAMIC_DISPATCH(SoftmaxScoresRun)(row); }

}  // namespace kheya::simd
#endif
