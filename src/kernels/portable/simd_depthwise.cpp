#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/simd_depthwise.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "kernels/portable/depthwise.h"
#include "kernels/portable/simd_finish-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kheya::simd::HWY_NAMESPACE {

constexpr int64_t kPixels = 4;  // of the output at once

// One vector of channels of kCount pixels of the output. kColumns and kStride: those of the row
// where they are known here, else 0. kEdge: some columns may lie outside of the input; column 0 of
// the first window is column `at` of it.
template <int kColumns, int kStride, bool kEdge, int64_t kCount, bool kWhole>
HWY_INLINE void Pixels(const DepthwiseRow& row, int64_t at, size_t channel, ptrdiff_t y) {
  const D d;
  const size_t count = row.channels - channel;
  const auto channels = static_cast<int64_t>(row.channels);
  const int64_t columns = kColumns > 0 ? kColumns : row.columns;
  const int64_t stride = kStride > 0 ? kStride : row.stride;
  const int64_t dilation = kColumns > 0 ? 1 : row.dilation;
  V sums[kCount][1];
  const V start = row.bias != nullptr ? LoadFirst<kWhole>(row.bias + channel, count) : hn::Zero(d);
  for (int64_t t = 0; t < kCount; ++t) sums[t][0] = start;
  for (int64_t r = 0; r < row.rows; ++r) {
    const float* HWY_RESTRICT x = row.x + r * row.x_pitch + at * channels + channel;
    const float* HWY_RESTRICT w = row.weights + r * columns * channels + channel;
    for (int64_t column = 0; column < columns; ++column) {
      const V weight = LoadFirst<kWhole>(w + column * channels, count);
      for (int64_t t = 0; t < kCount; ++t) {
        const int64_t from = t * stride + column * dilation;
        if (kEdge && static_cast<uint64_t>(at + from) >= static_cast<uint64_t>(row.width)) continue;
        sums[t][0] = hn::MulAdd(LoadFirst<kWhole>(x + from * channels, count), weight, sums[t][0]);
      }
    }
  }
  Finish<kWhole, kCount, 1>(row.finish, sums, y + channel, row.channels, count);
}

template <int kColumns, int kStride, bool kEdge, int64_t kCount>
void AllChannels(const DepthwiseRow& row, int64_t pixel) {
  const size_t lanes = hn::Lanes(D());
  const int64_t at = pixel * row.stride - row.pad;
  const ptrdiff_t y = pixel * static_cast<int64_t>(row.channels);
  size_t channel = 0;
  for (; channel + lanes <= row.channels; channel += lanes) {
    Pixels<kColumns, kStride, kEdge, kCount, true>(row, at, channel, y);
  }
  if (channel < row.channels) Pixels<kColumns, kStride, kEdge, kCount, false>(row, at, channel, y);
}

// AllChannels of `count` pixels, at most kCount.
template <int kColumns, int kStride, bool kEdge, int64_t kCount>
void Tile(const DepthwiseRow& row, int64_t pixel, int64_t count) {
  if (count == kCount) return AllChannels<kColumns, kStride, kEdge, kCount>(row, pixel);
  if constexpr (kCount > 1) Tile<kColumns, kStride, kEdge, kCount - 1>(row, pixel, count);
}

// Tiles of nearly equal width.
template <int kColumns, int kStride>
void Row(const DepthwiseRow& row) {
  const int64_t tiles = (row.pixels + kPixels - 1) / kPixels;
  const int64_t reach = (row.columns - 1) * row.dilation;
  int64_t pixel = 0;
  for (int64_t t = 0; t < tiles; ++t) {
    const int64_t count = row.pixels / tiles + (t < row.pixels % tiles ? 1 : 0);
    const int64_t first = pixel * row.stride - row.pad;
    const int64_t last = first + (count - 1) * row.stride + reach;
    if (first >= 0 && last < row.width) {
      Tile<kColumns, kStride, false, kPixels>(row, pixel, count);
    } else {
      Tile<kColumns, kStride, true, kPixels>(row, pixel, count);
    }
    pixel += count;
  }
}

void DepthwiseRun(const DepthwiseRow& row) {
  if (row.dilation != 1 || row.stride > 2) return Row<0, 0>(row);
  if (row.columns == 3) return row.stride == 1 ? Row<3, 1>(row) : Row<3, 2>(row);
  if (row.columns == 5) return row.stride == 1 ? Row<5, 1>(row) : Row<5, 2>(row);
  Row<0, 0>(row);
}

}  // namespace kheya::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kheya::simd {

HWY_EXPORT(DepthwiseRun);

void Depthwise(const DepthwiseRow& row) { HWY_DYNAMIC_DISPATCH(DepthwiseRun)(row); }

}  // namespace kheya::simd
#endif
