#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/simd_panels.cpp"
#include <hwy/foreach_target.h>

#include "kernels/portable/simd.h"
#include "kernels/portable/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kheya::simd::HWY_NAMESPACE {

// Rows of a tile: as many sums of two vectors as there are registers for.
constexpr size_t kMostRows = HWY_TARGET == HWY_AVX3 ? 12 : 6;

template <size_t kRows>
void PanelTile(size_t k, const float* HWY_RESTRICT a, size_t a_pitch, const float* HWY_RESTRICT b,
               float* HWY_RESTRICT c, size_t c_pitch) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V sums[kRows][2];
  for (size_t r = 0; r < kRows; ++r) sums[r][0] = sums[r][1] = hn::Zero(d);
  for (size_t i = 0; i < k; ++i) {
    const V b0 = hn::LoadU(d, b);
    const V b1 = hn::LoadU(d, b + lanes);
    b += 2 * lanes;
    for (size_t r = 0; r < kRows; ++r) {
      const V value = hn::Set(d, a[r * a_pitch + i]);
      sums[r][0] = hn::MulAdd(value, b0, sums[r][0]);
      sums[r][1] = hn::MulAdd(value, b1, sums[r][1]);
    }
  }
  for (size_t r = 0; r < kRows; ++r) {
    hn::StoreU(sums[r][0], d, c + r * c_pitch);
    hn::StoreU(sums[r][1], d, c + r * c_pitch + lanes);
  }
}

template <size_t kRows>
void PanelRest(size_t rows, size_t k, const float* a, size_t a_pitch, const float* b, float* c,
               size_t c_pitch) {
  if (rows == kRows) return PanelTile<kRows>(k, a, a_pitch, b, c, c_pitch);
  if constexpr (kRows > 1) PanelRest<kRows - 1>(rows, k, a, a_pitch, b, c, c_pitch);
}

void PanelRun(size_t m, size_t n, size_t k, const float* a, size_t a_pitch, const float* panels,
              float* c, size_t c_pitch) {
  const size_t width = 2 * hn::Lanes(D());
  // Tiles of nearly equal height: a low one at the end would wait for its own sums.
  const size_t tiles = (m + kMostRows - 1) / kMostRows;
  for (size_t j = 0; j < n; j += width) {
    for (size_t t = 0, r = 0; t < tiles; ++t) {
      const size_t rows = m / tiles + (t < m % tiles ? 1 : 0);
      PanelRest<kMostRows>(rows, k, a + r * a_pitch, a_pitch, panels + j * k, c + r * c_pitch + j,
                           c_pitch);
      r += rows;
    }
  }
}

size_t PanelWidth() { return 2 * hn::Lanes(D()); }

}  // namespace kheya::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kheya::simd {

HWY_EXPORT(PanelRun);
HWY_EXPORT(PanelWidth);

size_t PanelColumns() { return HWY_DYNAMIC_DISPATCH(PanelWidth)(); }

void PanelGemm(size_t m, size_t n, size_t k, const float* a, size_t a_pitch, const float* panels,
               float* c, size_t c_pitch) {
  HWY_DYNAMIC_DISPATCH(PanelRun)(m, n, k, a, a_pitch, panels, c, c_pitch);
}

}  // namespace kheya::simd
#endif
