// Loading and storing of parts of vectors, and Finishing. Included once for each target.
#if defined(KHEYA_KERNELS_PORTABLE_SIMD_FINISH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KHEYA_KERNELS_PORTABLE_SIMD_FINISH_INL_H_
#undef KHEYA_KERNELS_PORTABLE_SIMD_FINISH_INL_H_
#else
#define KHEYA_KERNELS_PORTABLE_SIMD_FINISH_INL_H_
#endif

#include <cstring>

#include "kernels/portable/finish.h"
#include "kernels/portable/simd_math-inl.h"

// Before a loop over an array of vectors: rolled, it would keep them in memory.
#define KHEYA_UNROLL _Pragma("GCC unroll 16")

HWY_BEFORE_NAMESPACE();
namespace kheya::simd::HWY_NAMESPACE {

// The first `count` floats of a vector, all where kWhole; nothing behind them is read.
template <bool kWhole>
HWY_INLINE V LoadFirst(const float* from, size_t count) {
  const D d;
  if (kWhole || count >= hn::Lanes(d)) return hn::LoadU(d, from);
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
  return hn::MaskedLoad(hn::FirstN(d, count), d, from);
#else
  HWY_ALIGN float all[hn::MaxLanes(D())] = {};
  std::memcpy(all, from, count * sizeof(float));
  return hn::Load(d, all);
#endif
}

template <bool kWhole>
HWY_INLINE void StoreFirst(V value, float* to, size_t count) {
  const D d;
  if (kWhole || count >= hn::Lanes(d)) return hn::StoreU(value, d, to);
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
  hn::BlendedStore(value, hn::FirstN(d, count), d, to);
#else
  HWY_ALIGN float all[hn::MaxLanes(D())];
  hn::Store(value, d, all);
  std::memcpy(to, all, count * sizeof(float));
#endif
}

// A NaN stays one.
HWY_INLINE V Clamp(V low, V high, V sum) {
  const V clamped = hn::Min(high, hn::Max(low, sum));
  return kMinMaxKeepNan ? clamped : hn::IfThenElse(hn::IsNaN(sum), sum, clamped);
}

// kRows rows of y, `pitch` apart, from the offset `at` on; `count` columns of them are wanted, all
// of kVectors vectors where kWhole.
template <bool kWhole, size_t kRows, size_t kVectors>
HWY_INLINE void Finish(const Finishing& f, V (&sums)[kRows][kVectors], ptrdiff_t at, size_t pitch,
                       size_t count) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  if (f.residual != nullptr) {
    KHEYA_UNROLL for (size_t r = 0; r < kRows; ++r) {
      KHEYA_UNROLL for (size_t v = 0; v < kVectors; ++v) {
        const float* residual = f.residual + at + r * pitch + v * lanes;
        sums[r][v] = hn::Add(sums[r][v], LoadFirst<kWhole>(residual, count - v * lanes));
      }
    }
  }
  if (f.clamps) {
    const V low = hn::Set(d, f.low), high = hn::Set(d, f.high);
    KHEYA_UNROLL for (size_t r = 0; r < kRows; ++r) {
      KHEYA_UNROLL for (size_t v = 0; v < kVectors; ++v) sums[r][v] = Clamp(low, high, sums[r][v]);
    }
  }
  KHEYA_UNROLL for (size_t r = 0; r < kRows; ++r) {
    KHEYA_UNROLL for (size_t v = 0; v < kVectors; ++v) {
      StoreFirst<kWhole>(sums[r][v], f.y + at + r * pitch + v * lanes, count - v * lanes);
    }
  }
}

}  // namespace kheya::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // KHEYA_KERNELS_PORTABLE_SIMD_FINISH_INL_H_
