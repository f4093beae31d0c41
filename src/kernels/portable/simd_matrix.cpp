#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/simd_matrix.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/portable/simd.h"
#include "kernels/portable/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kheya::simd::HWY_NAMESPACE {

constexpr size_t kTile = 16;

HWY_INLINE void TransposeEdge(const float* x, size_t x_pitch, float* y, size_t y_pitch, size_t rows,
                              size_t columns) {
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < columns; ++c) y[c * y_pitch + r] = x[r * x_pitch + c];
  }
}

HWY_INLINE void Transpose4(const float* x, size_t x_pitch, float* y, size_t y_pitch) {
#if HWY_TARGET == HWY_SCALAR
  TransposeEdge(x, x_pitch, y, y_pitch, 4, 4);
#else
  const hn::FixedTag<float, 4> d;
  const auto v0 = hn::LoadU(d, x);
  const auto v1 = hn::LoadU(d, x + x_pitch);
  const auto v2 = hn::LoadU(d, x + 2 * x_pitch);
  const auto v3 = hn::LoadU(d, x + 3 * x_pitch);
  const auto low02 = hn::InterleaveLower(d, v0, v2);
  const auto high02 = hn::InterleaveUpper(d, v0, v2);
  const auto low13 = hn::InterleaveLower(d, v1, v3);
  const auto high13 = hn::InterleaveUpper(d, v1, v3);
  hn::StoreU(hn::InterleaveLower(d, low02, low13), d, y);
  hn::StoreU(hn::InterleaveUpper(d, low02, low13), d, y + y_pitch);
  hn::StoreU(hn::InterleaveLower(d, high02, high13), d, y + 2 * y_pitch);
  hn::StoreU(hn::InterleaveUpper(d, high02, high13), d, y + 3 * y_pitch);
#endif
}

// The first four elements of kRows rows, kRows a multiple of 4 and as many as there are lanes,
// become four rows of y.
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
template <size_t kLanes>
HWY_INLINE auto LoadBlocks(const float* x, size_t x_pitch) {
  if constexpr (kLanes == 4) {
    return hn::LoadU(hn::FixedTag<float, 4>(), x);
  } else {
    const auto low = LoadBlocks<kLanes / 2>(x, x_pitch);
    const auto high = LoadBlocks<kLanes / 2>(x + kLanes / 2 * x_pitch, x_pitch);
    return hn::Combine(hn::FixedTag<float, kLanes>(), high, low);
  }
}

HWY_INLINE void TransposeColumn(const float* x, size_t x_pitch, float* y, size_t y_pitch) {
  constexpr size_t kLanes = hn::MaxLanes(D());
  const hn::FixedTag<float, kLanes> d;
  const auto v0 = LoadBlocks<kLanes>(x, x_pitch);
  const auto v1 = LoadBlocks<kLanes>(x + x_pitch, x_pitch);
  const auto v2 = LoadBlocks<kLanes>(x + 2 * x_pitch, x_pitch);
  const auto v3 = LoadBlocks<kLanes>(x + 3 * x_pitch, x_pitch);
  const auto low02 = hn::InterleaveLower(d, v0, v2);
  const auto high02 = hn::InterleaveUpper(d, v0, v2);
  const auto low13 = hn::InterleaveLower(d, v1, v3);
  const auto high13 = hn::InterleaveUpper(d, v1, v3);
  hn::StoreU(hn::InterleaveLower(d, low02, low13), d, y);
  hn::StoreU(hn::InterleaveUpper(d, low02, low13), d, y + y_pitch);
  hn::StoreU(hn::InterleaveLower(d, high02, high13), d, y + 2 * y_pitch);
  hn::StoreU(hn::InterleaveUpper(d, high02, high13), d, y + 3 * y_pitch);
}

#endif

HWY_INLINE void TransposeTile(const float* x, size_t x_pitch, float* y, size_t y_pitch, size_t rows,
                              size_t columns) {
  const size_t whole_rows = rows / 4 * 4;
  const size_t whole_columns = columns / 4 * 4;
  for (size_t r = 0; r < whole_rows; r += 4) {
    for (size_t c = 0; c < whole_columns; c += 4) {
      Transpose4(x + r * x_pitch + c, x_pitch, y + c * y_pitch + r, y_pitch);
    }
    TransposeEdge(x + r * x_pitch + whole_columns, x_pitch, y + whole_columns * y_pitch + r,
                  y_pitch, 4, columns - whole_columns);
  }
  TransposeEdge(x + whole_rows * x_pitch, x_pitch, y + whole_rows, y_pitch, rows - whole_rows,
                columns);
}

void TransposeRun(const float* x, size_t x_pitch, float* y, size_t y_pitch, size_t rows,
                  size_t columns) {
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
  const size_t lanes = hn::Lanes(D());
  for (; rows >= lanes; rows -= lanes, x += lanes * x_pitch, y += lanes) {
    size_t c = 0;
    for (; c + 4 <= columns; c += 4) TransposeColumn(x + c, x_pitch, y + c * y_pitch, y_pitch);
    TransposeEdge(x + c, x_pitch, y + c * y_pitch, y_pitch, lanes, columns - c);
  }
#endif
  for (size_t r = 0; r < rows; r += kTile) {
    for (size_t c = 0; c < columns; c += kTile) {
      TransposeTile(x + r * x_pitch + c, x_pitch, y + c * y_pitch + r, y_pitch,
                    std::min(kTile, rows - r), std::min(kTile, columns - c));
    }
  }
}

void PackRowsRun(const float* x, size_t x_pitch, size_t rows, size_t columns, float* panels) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const size_t width = 2 * lanes;
  for (size_t j = 0; j < columns; j += width) {
    float* y = panels + j * rows;
    const size_t count = std::min(width, columns - j);
    for (size_t r = 0; r < rows; ++r, y += width) {
      const float* from = x + r * x_pitch + j;
      if (count == width) {
        hn::StoreU(hn::LoadU(d, from), d, y);
        hn::StoreU(hn::LoadU(d, from + lanes), d, y + lanes);
      } else {
        std::fill(std::copy(from, from + count, y), y + width, 0.0f);
      }
    }
  }
}

void PackColumnsRun(const float* x, size_t x_pitch, size_t rows, size_t columns, float* panels) {
  const size_t width = 2 * hn::Lanes(D());
  for (size_t r = 0; r < rows; r += width) {
    float* y = panels + r * columns;
    const size_t count = std::min(width, rows - r);
    if (count < width) std::fill(y, y + width * columns, 0.0f);
    TransposeRun(x + r * x_pitch, x_pitch, y, width, count, columns);
  }
}

// Rows of a tile: as many sums of two vectors as there are registers for.
constexpr size_t kMostRows = HWY_TARGET == HWY_AVX3 ? 12 : 6;

// sizeof...(r) rows of c, kVectors vectors wide. Every index is a constant from the start, so that
// the sums stay in registers.
template <size_t kVectors, size_t... r>
HWY_INLINE void TileOf(std::index_sequence<r...>, size_t k, const float* HWY_RESTRICT a,
                       size_t a_pitch, const float* HWY_RESTRICT b, size_t b_pitch,
                       float* HWY_RESTRICT c, size_t c_pitch, bool add) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  constexpr bool kTwo = kVectors == 2;
  V low[] = {(static_cast<void>(r), hn::Zero(d))...};
  V high[] = {(static_cast<void>(r), hn::Zero(d))...};
  if (add) {
    (..., (low[r] = hn::LoadU(d, c + r * c_pitch)));
    if constexpr (kTwo) (..., (high[r] = hn::LoadU(d, c + r * c_pitch + lanes)));
  }
  for (size_t i = 0; i < k; ++i) {
    const V b0 = hn::LoadU(d, b);
    const V b1 = kTwo ? hn::LoadU(d, b + lanes) : b0;
    b += b_pitch;
    const auto step = [&](V value, V& sum0, V& sum1) HWY_ATTR {
      sum0 = hn::MulAdd(value, b0, sum0);
      if constexpr (kTwo) sum1 = hn::MulAdd(value, b1, sum1);
    };
    (..., step(hn::Set(d, a[r * a_pitch + i]), low[r], high[r]));
  }
  (..., hn::StoreU(low[r], d, c + r * c_pitch));
  if constexpr (kTwo) (..., hn::StoreU(high[r], d, c + r * c_pitch + lanes));
}

template <size_t kVectors, size_t kRows>
void GemmTile(size_t k, const float* a, size_t a_pitch, const float* b, size_t b_pitch, float* c,
              size_t c_pitch, bool add) {
  TileOf<kVectors>(std::make_index_sequence<kRows>(), k, a, a_pitch, b, b_pitch, c, c_pitch, add);
}

// GemmTile of `rows`, at most kRows.
template <size_t kVectors, size_t kRows>
void GemmRows(size_t rows, size_t k, const float* a, size_t a_pitch, const float* b, size_t b_pitch,
              float* c, size_t c_pitch, bool add) {
  if (rows == kRows) return GemmTile<kVectors, kRows>(k, a, a_pitch, b, b_pitch, c, c_pitch, add);
  if constexpr (kRows > 1) {
    GemmRows<kVectors, kRows - 1>(rows, k, a, a_pitch, b, b_pitch, c, c_pitch, add);
  }
}

// kVectors vectors of columns in tiles of nearly equal height: a low one at the end would wait for
// its own sums.
template <size_t kVectors>
void GemmColumns(size_t m, size_t k, const float* a, size_t a_pitch, const float* b, size_t b_pitch,
                 float* c, size_t c_pitch, bool add) {
  const size_t tiles = (m + kMostRows - 1) / kMostRows;
  for (size_t t = 0, r = 0; t < tiles; ++t) {
    const size_t rows = m / tiles + (t < m % tiles ? 1 : 0);
    GemmRows<kVectors, kMostRows>(rows, k, a + r * a_pitch, a_pitch, b, b_pitch, c + r * c_pitch,
                                  c_pitch, add);
    r += rows;
  }
}

void GemmEdge(size_t m, size_t n, size_t k, const float* a, size_t a_pitch, const float* b,
              size_t b_pitch, float* c, size_t c_pitch, bool add) {
  for (size_t r = 0; r < m; ++r) {
    for (size_t j = 0; j < n; ++j) {
      float sum = add ? c[r * c_pitch + j] : 0.0f;
      for (size_t i = 0; i < k; ++i) sum = std::fma(a[r * a_pitch + i], b[i * b_pitch + j], sum);
      c[r * c_pitch + j] = sum;
    }
  }
}

void GemmRun(size_t m, size_t n, size_t k, const float* a, size_t a_pitch, const float* b,
             size_t b_pitch, float* c, size_t c_pitch, bool add) {
  const size_t width = 2 * hn::Lanes(D());
  size_t j = 0;
  for (; j + width <= n; j += width) {
    GemmColumns<2>(m, k, a, a_pitch, b + j, b_pitch, c + j, c_pitch, add);
  }
  if (j < n) GemmEdge(m, n - j, k, a, a_pitch, b + j, b_pitch, c + j, c_pitch, add);
}

void PanelRun(size_t m, size_t n, size_t k, const float* a, size_t a_pitch, const float* panels,
              float* c, size_t c_pitch) {
  const size_t width = 2 * hn::Lanes(D());
  size_t j = 0;
  for (; j + width <= n; j += width) {
    GemmColumns<2>(m, k, a, a_pitch, panels + j * k, width, c + j, c_pitch, /*add=*/false);
  }
  if (j < n) GemmColumns<1>(m, k, a, a_pitch, panels + j * k, width, c + j, c_pitch, false);
}

}  // namespace kheya::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kheya::simd {

HWY_EXPORT(TransposeRun);
HWY_EXPORT(GemmRun);
HWY_EXPORT(PanelRun);
HWY_EXPORT(PackRowsRun);
HWY_EXPORT(PackColumnsRun);

void Transpose(const float* x, size_t x_pitch, float* y, size_t y_pitch, size_t rows,
               size_t columns) {
  HWY_DYNAMIC_DISPATCH(TransposeRun)(x, x_pitch, y, y_pitch, rows, columns);
}

void Gemm(size_t m, size_t n, size_t k, const float* a, size_t a_pitch, const float* b,
          size_t b_pitch, float* c, size_t c_pitch, bool add) {
  HWY_DYNAMIC_DISPATCH(GemmRun)(m, n, k, a, a_pitch, b, b_pitch, c, c_pitch, add);
}

void PackPanels(const float* x, size_t x_pitch, size_t rows, size_t columns, float* panels) {
  HWY_DYNAMIC_DISPATCH(PackRowsRun)(x, x_pitch, rows, columns, panels);
}

void PackTransposedPanels(const float* x, size_t x_pitch, size_t rows, size_t columns,
                          float* panels) {
  HWY_DYNAMIC_DISPATCH(PackColumnsRun)(x, x_pitch, rows, columns, panels);
}

void PanelGemm(size_t m, size_t n, size_t k, const float* a, size_t a_pitch, const float* panels,
               float* c, size_t c_pitch) {
  HWY_DYNAMIC_DISPATCH(PanelRun)(m, n, k, a, a_pitch, panels, c, c_pitch);
}

}  // namespace kheya::simd
#endif
