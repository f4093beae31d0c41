#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/simd_recurrent.cpp"
#include "kernels/portable/simd_recurrent.h"

#include <hwy/foreach_target.h>

#include <algorithm>

#include "kernels/portable/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kheya::simd::HWY_NAMESPACE {

// Rows that share one reading of the weights: as many sums as there are registers for.
constexpr size_t kMostRows = HWY_TARGET == HWY_AVX3 ? 4 : 2;
// Chains of additions that hide the latency of one.
constexpr size_t kChains = 8;

HWY_INLINE V KeepNan(V x, V result) { return hn::IfThenElse(hn::IsNaN(x), x, result); }

// Of what enters an activation.
struct Bounds {
  bool clips;
  float clip;
};

HWY_INLINE V Bounded(const Bounds& bounds, V x) {
  if (!bounds.clips) return x;
  const D d;
  return KeepNan(x, hn::Clamp(x, hn::Set(d, -bounds.clip), hn::Set(d, bounds.clip)));
}
HWY_INLINE V Gate(const Bounds& bounds, V x) { return Sigmoid(Bounded(bounds, x)); }

// sums[row][gate] += h[row][0..k) panel, the panel being k times kGates vectors.
template <size_t kGates, size_t kRows>
HWY_INLINE void AddProducts(size_t k, const float* HWY_RESTRICT panel, const float* const* h,
                            V (&sums)[kRows][kGates]) {
  constexpr size_t kUnroll = kGates * kRows >= kChains ? 1 : kChains / (kGates * kRows);
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  if constexpr (kUnroll > 1) {
    V parts[kUnroll][kRows][kGates];
    for (size_t u = 0; u < kUnroll; ++u) {
      for (size_t r = 0; r < kRows; ++r) {
        for (size_t g = 0; g < kGates; ++g) parts[u][r][g] = hn::Zero(d);
      }
    }
    for (; i + kUnroll <= k; i += kUnroll) {
      for (size_t u = 0; u < kUnroll; ++u) {
        for (size_t g = 0; g < kGates; ++g) {
          const V weight = hn::LoadU(d, panel + (u * kGates + g) * lanes);
          for (size_t r = 0; r < kRows; ++r) {
            parts[u][r][g] = hn::MulAdd(hn::Set(d, h[r][i + u]), weight, parts[u][r][g]);
          }
        }
      }
      panel += kUnroll * kGates * lanes;
    }
    for (size_t u = 0; u < kUnroll; ++u) {
      for (size_t r = 0; r < kRows; ++r) {
        for (size_t g = 0; g < kGates; ++g) sums[r][g] = hn::Add(sums[r][g], parts[u][r][g]);
      }
    }
  }
  for (; i < k; ++i) {
    for (size_t g = 0; g < kGates; ++g) {
      const V weight = hn::LoadU(d, panel + g * lanes);
      for (size_t r = 0; r < kRows; ++r) {
        sums[r][g] = hn::MulAdd(hn::Set(d, h[r][i]), weight, sums[r][g]);
      }
    }
    panel += kGates * lanes;
  }
}

template <size_t kRows>
void LstmBlock(const RecurrentStep& step, size_t block, const RecurrentRow* rows) {
  const D d;
  const size_t lanes = hn::Lanes(d), at = block * lanes;
  const Bounds bounds{step.clip > 0, step.clip};
  const float* h[kRows];
  V sums[kRows][4];
  for (size_t r = 0; r < kRows; ++r) {
    h[r] = rows[r].h;
    for (size_t g = 0; g < 4; ++g) sums[r][g] = hn::LoadU(d, rows[r].x + (block * 4 + g) * lanes);
  }
  AddProducts<4, kRows>(step.hidden, step.panels + block * step.hidden * 4 * lanes, h, sums);
  for (size_t r = 0; r < kRows; ++r) {
    V c = hn::LoadU(d, rows[r].c + at);
    const V one = hn::Set(d, 1.0f);
    V in = sums[r][0], out = sums[r][1], forget = sums[r][2];
    if (step.peepholes != nullptr) {
      in = hn::MulAdd(hn::LoadU(d, step.peepholes + at), c, in);
      forget = hn::MulAdd(hn::LoadU(d, step.peepholes + 2 * step.pitch + at), c, forget);
    }
    in = Gate(bounds, in);
    forget = step.input_forget ? hn::Sub(one, in) : Gate(bounds, forget);
    c = hn::MulAdd(forget, c, hn::Mul(in, Tanh(Bounded(bounds, sums[r][3]))));
    if (step.peepholes != nullptr) {
      out = hn::MulAdd(hn::LoadU(d, step.peepholes + step.pitch + at), c, out);
    }
    hn::StoreU(c, d, rows[r].c + at);
    hn::StoreU(hn::Mul(Gate(bounds, out), Tanh(c)), d, rows[r].next + at);
  }
}

// y = (1 - z) candidate + z h
HWY_INLINE void GruResult(V z, V candidate, const RecurrentRow& row, size_t at) {
  const D d;
  const V left = hn::Mul(hn::Sub(hn::Set(d, 1.0f), z), candidate);
  hn::StoreU(hn::MulAdd(z, hn::LoadU(d, row.h + at), left), d, row.next + at);
}

// The reset gate is applied to the product.
template <size_t kRows>
void GruLinearBlock(const RecurrentStep& step, size_t block, const RecurrentRow* rows) {
  const D d;
  const size_t lanes = hn::Lanes(d), at = block * lanes;
  const Bounds bounds{step.clip > 0, step.clip};
  const float* h[kRows];
  V sums[kRows][3];
  for (size_t r = 0; r < kRows; ++r) {
    h[r] = rows[r].h;
    for (size_t g = 0; g < 2; ++g) sums[r][g] = hn::LoadU(d, rows[r].x + (block * 3 + g) * lanes);
    sums[r][2] = hn::LoadU(d, step.bias + at);
  }
  AddProducts<3, kRows>(step.hidden, step.panels + block * step.hidden * 3 * lanes, h, sums);
  for (size_t r = 0; r < kRows; ++r) {
    const V x = hn::LoadU(d, rows[r].x + (block * 3 + 2) * lanes);
    const V reset = Gate(bounds, sums[r][1]);
    const V candidate = Tanh(Bounded(bounds, hn::MulAdd(reset, sums[r][2], x)));
    GruResult(Gate(bounds, sums[r][0]), candidate, rows[r], at);
  }
}

// First pass where the reset gate is applied to the state: z into `next`, r h into `reset`.
template <size_t kRows>
void GruGatesBlock(const RecurrentStep& step, size_t block, const RecurrentRow* rows) {
  const D d;
  const size_t lanes = hn::Lanes(d), at = block * lanes;
  const Bounds bounds{step.clip > 0, step.clip};
  const float* h[kRows];
  V sums[kRows][2];
  for (size_t r = 0; r < kRows; ++r) {
    h[r] = rows[r].h;
    for (size_t g = 0; g < 2; ++g) sums[r][g] = hn::LoadU(d, rows[r].x + (block * 3 + g) * lanes);
  }
  AddProducts<2, kRows>(step.hidden, step.panels + block * step.hidden * 2 * lanes, h, sums);
  for (size_t r = 0; r < kRows; ++r) {
    hn::StoreU(Gate(bounds, sums[r][0]), d, rows[r].next + at);
    const V reset = Gate(bounds, sums[r][1]);
    hn::StoreU(hn::Mul(reset, hn::LoadU(d, rows[r].h + at)), d, rows[r].reset + at);
  }
}

// Second pass.
template <size_t kRows>
void GruCandidateBlock(const RecurrentStep& step, size_t block, const RecurrentRow* rows) {
  const D d;
  const size_t lanes = hn::Lanes(d), at = block * lanes;
  const Bounds bounds{step.clip > 0, step.clip};
  const float* h[kRows];
  V sums[kRows][1];
  for (size_t r = 0; r < kRows; ++r) {
    h[r] = rows[r].reset;
    const V x = hn::LoadU(d, rows[r].x + (block * 3 + 2) * lanes);
    sums[r][0] = hn::Add(x, hn::LoadU(d, step.bias + at));
  }
  const float* panels = step.panels + step.pitch * step.hidden * 2;
  AddProducts<1, kRows>(step.hidden, panels + block * step.hidden * lanes, h, sums);
  for (size_t r = 0; r < kRows; ++r) {
    const V z = hn::LoadU(d, rows[r].next + at);
    GruResult(z, Tanh(Bounded(bounds, sums[r][0])), rows[r], at);
  }
}

template <size_t kRows>
void RnnBlock(const RecurrentStep& step, size_t block, const RecurrentRow* rows) {
  const D d;
  const size_t lanes = hn::Lanes(d), at = block * lanes;
  const Bounds bounds{step.clip > 0, step.clip};
  const float* h[kRows];
  V sums[kRows][1];
  for (size_t r = 0; r < kRows; ++r) {
    h[r] = rows[r].h;
    sums[r][0] = hn::LoadU(d, rows[r].x + at);
  }
  AddProducts<1, kRows>(step.hidden, step.panels + block * step.hidden * lanes, h, sums);
  for (size_t r = 0; r < kRows; ++r) {
    const V sum = Bounded(bounds, sums[r][0]);
    const V result = step.relu ? KeepNan(sum, hn::Max(sum, hn::Zero(d))) : Tanh(sum);
    hn::StoreU(result, d, rows[r].next + at);
  }
}

using Block = void (*)(const RecurrentStep& step, size_t block, const RecurrentRow* rows);

// Every block of units for all rows.
template <Block kMany, Block kOne>
void EachBlock(const RecurrentStep& step, const RecurrentRow* rows, size_t count) {
  const size_t blocks = step.pitch / hn::Lanes(D());
  for (size_t i = 0; i < blocks; ++i) {
    const size_t block = step.backward ? blocks - 1 - i : i;
    size_t r = 0;
    for (; r + kMostRows <= count; r += kMostRows) kMany(step, block, rows + r);
    for (; r < count; ++r) kOne(step, block, rows + r);
  }
}

void LstmRun(const RecurrentStep& step, const RecurrentRow* rows, size_t count) {
  EachBlock<LstmBlock<kMostRows>, LstmBlock<1>>(step, rows, count);
}
void GruLinearRun(const RecurrentStep& step, const RecurrentRow* rows, size_t count) {
  EachBlock<GruLinearBlock<kMostRows>, GruLinearBlock<1>>(step, rows, count);
}
void GruRun(const RecurrentStep& step, const RecurrentRow* rows, size_t count) {
  EachBlock<GruGatesBlock<kMostRows>, GruGatesBlock<1>>(step, rows, count);
  EachBlock<GruCandidateBlock<kMostRows>, GruCandidateBlock<1>>(step, rows, count);
}
void RnnRun(const RecurrentStep& step, const RecurrentRow* rows, size_t count) {
  EachBlock<RnnBlock<kMostRows>, RnnBlock<1>>(step, rows, count);
}

size_t LanesOf() { return hn::Lanes(D()); }

}  // namespace kheya::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kheya::simd {

HWY_EXPORT(LstmRun);
HWY_EXPORT(GruLinearRun);
HWY_EXPORT(GruRun);
HWY_EXPORT(RnnRun);
HWY_EXPORT(LanesOf);

size_t RecurrentLanes() { return HWY_DYNAMIC_DISPATCH(LanesOf)(); }

void LstmStep(const RecurrentStep& step, const RecurrentRow* rows, size_t count) {
  HWY_DYNAMIC_DISPATCH(LstmRun)(step, rows, count);
}
void GruLinearStep(const RecurrentStep& step, const RecurrentRow* rows, size_t count) {
  HWY_DYNAMIC_DISPATCH(GruLinearRun)(step, rows, count);
}
void GruStep(const RecurrentStep& step, const RecurrentRow* rows, size_t count) {
  HWY_DYNAMIC_DISPATCH(GruRun)(step, rows, count);
}
void RnnStep(const RecurrentStep& step, const RecurrentRow* rows, size_t count) {
  HWY_DYNAMIC_DISPATCH(RnnRun)(step, rows, count);
}

}  // namespace kheya::simd
#endif
