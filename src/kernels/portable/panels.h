// Products whose right operand was packed into panels: the inner part of convolutions and matrix
// products with constant weights.
#ifndef KHEYA_KERNELS_PORTABLE_PANELS_H_
#define KHEYA_KERNELS_PORTABLE_PANELS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"
#include "kernels/pack_cache.h"
#include "kernels/portable/finish.h"
#include "tensor/tensor.h"

namespace kheya {

namespace simd {

inline constexpr ptrdiff_t kNoOffset = 0;

// y[r][j] = finish(bias[j] + sum over s and i of x[r * x_pitch + offsets[s] + i] *
//                                                b[s * run + i][j])
// for j < columns, where b is packed as panels. Rows of y are y_pitch apart. Sums are taken in this
// order, whatever is computed beside them.
struct PanelProduct {
  const float* x = nullptr;
  size_t x_pitch = 0;
  const ptrdiff_t* offsets = &kNoOffset;
  size_t segments = 1;
  size_t run = 0;
  size_t panel_rows = 0;  // those of a whole panel, of which the product begins at `first_row`;
  size_t first_row = 0;   // 0: segments * run
  const float* panels = nullptr;  // that of the first column on
  size_t columns = 0;
  const float* bias = nullptr;  // or null
  Finishing finish;             // y and the residual, from the first row and column on
  size_t y_pitch = 0;
  // Tiles of rows one after another, each against all panels: for panels that stay in the second
  // cache. Else panel after panel, each against all rows.
  bool row_major = false;
};

// Columns of a panel: two vectors. The last panel has one where that is enough.
size_t PanelColumns();
// Columns of all panels of a right operand of so many columns.
size_t PackedColumns(size_t columns);
// Rows that are computed at once.
size_t PanelTileRows();

void RunPanels(const PanelProduct& product, size_t rows);

}  // namespace simd

// Kernels that multiply weights by zeros of a padding must have finite ones: Unimplemented names
// one that is not.
Status CheckFinite(const Tensor& weights);

// Packs the right operand [k][n] whose element (row, column) is weights[rows[row] + column *
// column_step]: panel after panel, each of k rows, filled up with zeros. `layout` names the order
// of `rows`.
Result<std::shared_ptr<const Buffer>> PackPanels(const Tensor& weights, int64_t n,
                                                 std::span<const int64_t> rows, int64_t column_step,
                                                 const std::string& layout, PackCache* cache);

}  // namespace kheya

#endif  // KHEYA_KERNELS_PORTABLE_PANELS_H_
