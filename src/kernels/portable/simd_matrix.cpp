#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/simd_matrix.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cmath>

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
  for (size_t r = 0; r < rows; r += kTile) {
    for (size_t c = 0; c < columns; c += kTile) {
      TransposeTile(x + r * x_pitch + c, x_pitch, y + c * y_pitch + r, y_pitch,
                    std::min(kTile, rows - r), std::min(kTile, columns - c));
    }
  }
}

// Rows of a tile: as many sums of two vectors as there are registers for.
constexpr size_t kMostRows = HWY_TARGET == HWY_AVX3 ? 12 : 6;

// kRows rows of c, two vectors wide.
template <size_t kRows>
void GemmTile(size_t k, const float* HWY_RESTRICT a, size_t a_pitch, const float* HWY_RESTRICT b,
              size_t b_pitch, float* HWY_RESTRICT c, size_t c_pitch, bool add) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V sums[kRows][2];
  for (size_t r = 0; r < kRows; ++r) {
    sums[r][0] = add ? hn::LoadU(d, c + r * c_pitch) : hn::Zero(d);
    sums[r][1] = add ? hn::LoadU(d, c + r * c_pitch + lanes) : hn::Zero(d);
  }
  for (size_t i = 0; i < k; ++i) {
    const V b0 = hn::LoadU(d, b);
    const V b1 = hn::LoadU(d, b + lanes);
    b += b_pitch;
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

// GemmTile of `rows`, at most kRows.
template <size_t kRows>
void GemmRows(size_t rows, size_t k, const float* a, size_t a_pitch, const float* b, size_t b_pitch,
              float* c, size_t c_pitch, bool add) {
  if (rows == kRows) return GemmTile<kRows>(k, a, a_pitch, b, b_pitch, c, c_pitch, add);
  if constexpr (kRows > 1) {
    GemmRows<kRows - 1>(rows, k, a, a_pitch, b, b_pitch, c, c_pitch, add);
  }
}

// Two vectors of columns in tiles of nearly equal height: a low one at the end would wait for its
// own sums.
void GemmColumns(size_t m, size_t k, const float* a, size_t a_pitch, const float* b, size_t b_pitch,
                 float* c, size_t c_pitch, bool add) {
  const size_t tiles = (m + kMostRows - 1) / kMostRows;
  for (size_t t = 0, r = 0; t < tiles; ++t) {
    const size_t rows = m / tiles + (t < m % tiles ? 1 : 0);
    GemmRows<kMostRows>(rows, k, a + r * a_pitch, a_pitch, b, b_pitch, c + r * c_pitch, c_pitch,
                        add);
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
    GemmColumns(m, k, a, a_pitch, b + j, b_pitch, c + j, c_pitch, add);
  }
  if (j < n) GemmEdge(m, n - j, k, a, a_pitch, b + j, b_pitch, c + j, c_pitch, add);
}

}  // namespace kheya::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kheya::simd {

HWY_EXPORT(TransposeRun);
HWY_EXPORT(GemmRun);

void Transpose(const float* x, size_t x_pitch, float* y, size_t y_pitch, size_t rows,
               size_t columns) {
  HWY_DYNAMIC_DISPATCH(TransposeRun)(x, x_pitch, y, y_pitch, rows, columns);
}

void Gemm(size_t m, size_t n, size_t k, const float* a, size_t a_pitch, const float* b,
          size_t b_pitch, float* c, size_t c_pitch, bool add) {
  HWY_DYNAMIC_DISPATCH(GemmRun)(m, n, k, a, a_pitch, b, b_pitch, c, c_pitch, add);
}

}  // namespace kheya::simd
#endif
