#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/simd_panels.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>

#include <algorithm>

#include "kernels/portable/panels.h"
#include "kernels/portable/simd_finish-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kheya::simd::HWY_NAMESPACE {

// As many rows of two vectors as there are registers for.
constexpr size_t kMostRows = HWY_TARGET == HWY_AVX3 ? 14 : 6;

constexpr size_t kChunk = 16;  // of the left operand's rows: a line of the cache

// Adds the products of kCount elements of each row with as many rows of a panel, and gives what
// follows in the panel.
template <size_t kCount, size_t kRows, size_t kVectors>
HWY_INLINE const float* Multiply(const float* HWY_RESTRICT x, size_t x_pitch,
                                 const float* HWY_RESTRICT b, V (&sums)[kRows][kVectors]) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  constexpr size_t kAhead = 8;  // rows of the panel that are fetched before they are needed
  _Pragma("GCC unroll 4") for (size_t i = 0; i < kCount; ++i) {
    V right[kVectors];
    KHEYA_UNROLL for (size_t v = 0; v < kVectors; ++v) {
      right[v] = hn::LoadU(d, b + v * lanes);
      hwy::Prefetch(b + (kAhead * kVectors + v) * lanes);
    }
    b += kVectors * lanes;
    KHEYA_UNROLL for (size_t r = 0; r < kRows; ++r) {
      const V left = hn::Set(d, x[r * x_pitch + i]);
      KHEYA_UNROLL for (size_t v = 0; v < kVectors; ++v) sums[r][v] =
          hn::MulAdd(left, right[v], sums[r][v]);
    }
  }
  return b;
}

// kRows rows from `row` on and kVectors vectors of columns from `column` on, of which `count`
// columns are wanted.
template <size_t kRows, size_t kVectors>
void Tile(const PanelProduct& p, const float* HWY_RESTRICT b, size_t row, size_t column,
          size_t count) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V sums[kRows][kVectors];
  KHEYA_UNROLL for (size_t v = 0; v < kVectors; ++v) {
    const size_t left = count - v * lanes;
    const V first =
        p.bias != nullptr ? LoadFirst<false>(p.bias + column + v * lanes, left) : hn::Zero(d);
    KHEYA_UNROLL for (size_t r = 0; r < kRows; ++r) sums[r][v] = first;
  }
  // What is written in the end, and what is read next.
  KHEYA_UNROLL for (size_t r = 0; r < kRows; ++r) {
    KHEYA_UNROLL for (size_t v = 0; v < kVectors; ++v) {
      hwy::Prefetch(p.finish.y + (row + r) * p.y_pitch + column + v * lanes);
    }
  }
  for (size_t s = 0; s < p.segments; ++s) {
    const float* HWY_RESTRICT x = p.x + row * p.x_pitch + p.offsets[s];
    size_t i = 0;
    for (; i + kChunk <= p.run; i += kChunk) {
      KHEYA_UNROLL for (size_t r = 0; r < kRows; ++r)
          hwy::Prefetch(x + r * p.x_pitch + i + 2 * kChunk);
      b = Multiply<kChunk, kRows, kVectors>(x + i, p.x_pitch, b, sums);
    }
    for (; i < p.run; ++i) b = Multiply<1, kRows, kVectors>(x + i, p.x_pitch, b, sums);
  }
  const size_t at = row * p.y_pitch + column;
  if (count == kVectors * lanes) {
    Finish<true, kRows, kVectors>(p.finish, sums, at, p.y_pitch, count);
  } else {
    Finish<false, kRows, kVectors>(p.finish, sums, at, p.y_pitch, count);
  }
}

// Tile of `rows`, at most kRows.
template <size_t kRows, size_t kVectors>
void TileOf(size_t rows, const PanelProduct& p, const float* b, size_t row, size_t column,
            size_t count) {
  if (rows == kRows) return Tile<kRows, kVectors>(p, b, row, column, count);
  if constexpr (kRows > 1) TileOf<kRows - 1, kVectors>(rows, p, b, row, column, count);
}

size_t PanelWidth() { return 2 * hn::Lanes(D()); }
size_t MostRows() { return kMostRows; }

void TileAt(const PanelProduct& p, size_t row, size_t height, size_t column) {
  const size_t lanes = hn::Lanes(D());
  const size_t count = std::min(p.columns - column, 2 * lanes);
  const size_t panel_rows = p.panel_rows > 0 ? p.panel_rows : p.segments * p.run;
  const size_t width = count > lanes ? 2 * lanes : lanes;
  const float* b = p.panels + column * panel_rows + p.first_row * width;
  if (count > lanes) {
    TileOf<kMostRows, 2>(height, p, b, row, column, count);
  } else {
    TileOf<kMostRows, 1>(height, p, b, row, column, count);
  }
}

// Tiles of nearly equal height: a low one at the end would wait for its own sums.
void PanelsRun(const PanelProduct& p, size_t rows) {
  const size_t tiles = (rows + kMostRows - 1) / kMostRows;
  const size_t low = rows / std::max<size_t>(tiles, 1), higher = rows % std::max<size_t>(tiles, 1);
  const auto height = [&](size_t tile) { return low + (tile < higher ? 1 : 0); };
  const auto first = [&](size_t tile) { return tile * low + std::min(tile, higher); };
  const size_t width = PanelWidth();
  if (p.row_major) {
    for (size_t tile = 0; tile < tiles; ++tile) {
      for (size_t column = 0; column < p.columns; column += width) {
        TileAt(p, first(tile), height(tile), column);
      }
    }
    return;
  }
  for (size_t column = 0; column < p.columns; column += width) {
    for (size_t tile = 0; tile < tiles; ++tile) TileAt(p, first(tile), height(tile), column);
  }
}

}  // namespace kheya::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kheya {
namespace simd {

HWY_EXPORT(PanelsRun);
HWY_EXPORT(PanelWidth);
HWY_EXPORT(MostRows);

size_t PanelColumns() { return HWY_DYNAMIC_DISPATCH(PanelWidth)(); }
size_t PanelTileRows() { return HWY_DYNAMIC_DISPATCH(MostRows)(); }

size_t PackedColumns(size_t columns) {
  const size_t half = PanelColumns() / 2;
  return (columns + half - 1) / half * half;
}

void RunPanels(const PanelProduct& product, size_t rows) {
  HWY_DYNAMIC_DISPATCH(PanelsRun)(product, rows);
}

}  // namespace simd

Result<std::shared_ptr<const Buffer>> PackPanels(const Tensor& weights, int64_t n,
                                                 std::span<const int64_t> rows, int64_t column_step,
                                                 const std::string& layout, PackCache* cache) {
  const auto width = static_cast<int64_t>(simd::PanelColumns());
  const auto all = static_cast<int64_t>(simd::PackedColumns(n));
  const size_t bytes = rows.size() * all * sizeof(float);
  const auto pack = [&]() -> Result<Buffer> {
    KHEYA_ASSIGN_OR_RETURN(Buffer buffer, Buffer::Allocate(bytes, cache->budget()));
    const float* from = weights.data<float>().data();
    auto* to = reinterpret_cast<float*>(buffer.data());
    for (int64_t first = 0; first < all; first += width) {
      const int64_t end = std::min(first + width, all);
      for (const int64_t row : rows) {
        for (int64_t j = first; j < end; ++j) *to++ = j < n ? from[row + j * column_step] : 0.0f;
      }
    }
    return buffer;
  };
  return cache->Get(weights, fmt::format("panels{}:{}:{}x{}", width, layout, rows.size(), n), bytes,
                    pack);
}

}  // namespace kheya
#endif
