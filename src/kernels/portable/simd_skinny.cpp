#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/simd_skinny.cpp"
#include "kernels/portable/simd_skinny.h"

#include <hwy/foreach_target.h>

#include <algorithm>

#include "kernels/portable/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kheya::simd::HWY_NAMESPACE {

// Vectors of columns in a panel.
constexpr size_t kPanel = 4;
constexpr size_t kMostRows = 8;
// Chains of additions that hide the latency of one.
constexpr size_t kChains = 8;

// How many vectors of columns the sums of `rows` rows leave registers for.
constexpr size_t VectorsFor(size_t rows) {
  if (HWY_TARGET == HWY_AVX3) return rows <= 4 ? 4 : 2;
  return rows <= 2 ? 4 : rows <= 4 ? 2 : 1;
}

// A piece of a panel: kVectors vectors of `stride` in each of k rows.
template <size_t kVectors, size_t kRows>
HWY_INLINE void SumPiece(size_t k, const float* HWY_RESTRICT a, size_t a_pitch,
                         const float* HWY_RESTRICT panel, size_t stride,
                         V (&sums)[kRows][kVectors]) {
  constexpr size_t kProducts = kVectors * kRows;
  constexpr size_t kUnroll = kProducts >= kChains ? 1 : kChains / kProducts;
  const D d;
  const size_t lanes = hn::Lanes(d);
  V parts[kUnroll][kRows][kVectors];
  for (size_t u = 0; u < kUnroll; ++u) {
    for (size_t r = 0; r < kRows; ++r) {
      for (size_t v = 0; v < kVectors; ++v) parts[u][r][v] = u == 0 ? sums[r][v] : hn::Zero(d);
    }
  }
  const auto step = [&](size_t i, size_t u) HWY_ATTR {
    for (size_t v = 0; v < kVectors; ++v) {
      const V weight = hn::LoadU(d, panel + u * stride + v * lanes);
      for (size_t r = 0; r < kRows; ++r) {
        parts[u][r][v] = hn::MulAdd(hn::Set(d, a[r * a_pitch + i + u]), weight, parts[u][r][v]);
      }
    }
  };
  size_t i = 0;
  for (; i + kUnroll <= k; i += kUnroll) {
    for (size_t u = 0; u < kUnroll; ++u) step(i, u);
    panel += kUnroll * stride;
  }
  for (; i < k; ++i) {
    step(i, 0);
    panel += stride;
  }
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t v = 0; v < kVectors; ++v) {
      sums[r][v] = parts[0][r][v];
      for (size_t u = 1; u < kUnroll; ++u) sums[r][v] = hn::Add(sums[r][v], parts[u][r][v]);
    }
  }
}

HWY_INLINE V Finish(const SkinnyProduct& product, V sum) {
  if (!product.relu) return sum;
  return hn::IfThenElse(hn::IsNaN(sum), sum, hn::Max(sum, hn::Zero(D())));
}

// The columns of a piece that there are.
template <size_t kVectors, size_t kRows>
HWY_INLINE void StorePiece(const SkinnyProduct& product, size_t column, float* y,
                           V (&sums)[kRows][kVectors]) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  for (size_t v = 0; v < kVectors; ++v) {
    const size_t first = column + v * lanes;
    if (first >= product.n) return;
    const size_t count = std::min(lanes, product.n - first);
    for (size_t r = 0; r < kRows; ++r) {
      float* to = y + r * product.n + first;
      const float* residual =
          product.residual == nullptr ? nullptr : product.residual + (to - product.y);
      if (count == lanes) {
        V sum = sums[r][v];
        if (residual != nullptr) sum = hn::Add(sum, hn::LoadU(d, residual));
        hn::StoreU(Finish(product, sum), d, to);
        continue;
      }
      HWY_ALIGN float edge[hn::MaxLanes(D())] = {};
      if (residual != nullptr) std::copy_n(residual, count, edge);
      hn::Store(Finish(product, hn::Add(sums[r][v], hn::Load(d, edge))), d, edge);
      std::copy_n(edge, count, to);
    }
  }
}

template <size_t kVectors, size_t kRows>
void Piece(const SkinnyProduct& product, size_t row, size_t column, const float* panel,
           size_t stride) {
  const D d;
  V sums[kRows][kVectors];
  for (size_t v = 0; v < kVectors; ++v) {
    const V bias = product.bias == nullptr ? hn::Zero(d)
                                           : hn::LoadU(d, product.bias + column + v * hn::Lanes(d));
    for (size_t r = 0; r < kRows; ++r) sums[r][v] = bias;
  }
  SumPiece<kVectors, kRows>(product.k, product.a + row * product.k, product.k, panel, stride, sums);
  StorePiece<kVectors, kRows>(product, column, product.y + row * product.n, sums);
}

// A piece of `vectors` vectors, at most kVectors.
template <size_t kVectors, size_t kRows>
void PieceOf(size_t vectors, const SkinnyProduct& product, size_t row, size_t column,
             const float* panel, size_t stride) {
  if (vectors == kVectors) {
    return Piece<kVectors, kRows>(product, row, column, panel, stride);
  }
  if constexpr (kVectors > 1) {
    PieceOf<kVectors - 1, kRows>(vectors, product, row, column, panel, stride);
  }
}

// One panel for `rows` rows, at most kRows.
template <size_t kRows>
void PanelRows(size_t rows, const SkinnyProduct& product, size_t row, size_t column,
               size_t vectors) {
  if (rows == kRows) {
    const size_t lanes = hn::Lanes(D()), stride = vectors * lanes;
    const float* panel = product.panels + column * product.k;
    for (size_t v = 0; v < vectors; v += VectorsFor(kRows)) {
      PieceOf<VectorsFor(kRows), kRows>(std::min(VectorsFor(kRows), vectors - v), product, row,
                                        column + v * lanes, panel + v * lanes, stride);
    }
    return;
  }
  if constexpr (kRows > 1) PanelRows<kRows - 1>(rows, product, row, column, vectors);
}

void SkinnyRun(const SkinnyProduct& product, size_t begin, size_t end) {
  const size_t lanes = hn::Lanes(D()), width = kPanel * lanes;
  for (size_t panel = begin; panel < end; ++panel) {
    const size_t column = panel * width;
    const size_t vectors = std::min(kPanel, (product.n - column + lanes - 1) / lanes);
    for (size_t row = 0; row < product.m; row += kMostRows) {
      PanelRows<kMostRows>(std::min(kMostRows, product.m - row), product, row, column, vectors);
    }
  }
}

SkinnyWidths Widths() {
  const size_t lanes = hn::Lanes(D());
  return {lanes, kPanel * lanes};
}

}  // namespace kheya::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kheya::simd {

HWY_EXPORT(SkinnyRun);
HWY_EXPORT(Widths);

SkinnyWidths SkinnyWidthsHere() { return HWY_DYNAMIC_DISPATCH(Widths)(); }

void Skinny(const SkinnyProduct& product, size_t begin, size_t end) {
  HWY_DYNAMIC_DISPATCH(SkinnyRun)(product, begin, end);
}

}  // namespace kheya::simd
#endif
