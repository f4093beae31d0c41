// How a product of packed panels is cut: into ranges of rows, and of columns where rows are few.
#ifndef KHEYA_KERNELS_PORTABLE_PANEL_CUT_H_
#define KHEYA_KERNELS_PORTABLE_PANEL_CUT_H_

#include <algorithm>
#include <cstdint>

#include "kernels/portable/panels.h"
#include "kernels/slicing.h"

namespace kheya {

struct PanelCut {
  int64_t row_slices = 1;
  int64_t column_slices = 1;

  int64_t slices() const { return row_slices * column_slices; }
  SliceRange Rows(int64_t slice, int64_t rows) const {
    return RangeOf(slice / column_slices, row_slices, rows);
  }
  // The range begins at a panel.
  SliceRange Columns(int64_t slice, int64_t columns) const {
    const auto width = static_cast<int64_t>(simd::PanelColumns());
    const SliceRange panels =
        RangeOf(slice % column_slices, column_slices, (columns + width - 1) / width);
    return {panels.begin * width, std::min(panels.end * width, columns)};
  }
};

// `pixels`: rows of the product in all; they come in `rows` parts that are not cut.
inline PanelCut CutPanels(int64_t pixels, int64_t rows, int64_t columns, int64_t k) {
  constexpr double kLeast = 5e6;
  constexpr double kLargeBytes = 1 << 20;  // of panels that every slice would read from afar
  const double bytes = 4.0 * static_cast<double>(columns) * static_cast<double>(k);
  const bool large = bytes > kLargeBytes;
  const int64_t least_pixels = large ? 224 : 48;  // for which a panel is read
  const auto width = static_cast<int64_t>(simd::PanelColumns());
  const double flops =
      2.0 * static_cast<double>(pixels) * static_cast<double>(columns) * static_cast<double>(k);
  const int64_t wanted = SlicesFor(flops, kLeast, large ? 8 : 16);
  PanelCut cut;
  cut.row_slices = std::clamp<int64_t>(std::min(rows, pixels / least_pixels), 1, wanted);
  cut.column_slices =
      std::clamp<int64_t>(wanted / cut.row_slices, 1, (columns + width - 1) / width);
  return cut;
}

}  // namespace kheya

#endif  // KHEYA_KERNELS_PORTABLE_PANEL_CUT_H_
