// Resizing of 8-bit pictures; the formula is in data/preprocess.h.
#ifndef KHEYA_DATA_RESIZE_H_
#define KHEYA_DATA_RESIZE_H_

#include <cstdint>
#include <memory>

#include "base/allocator.h"
#include "base/status.h"

namespace kheya {

struct PixelDims {
  int64_t height;
  int64_t width;
  int64_t channels;
};

// A part of a row or column that was resized as a whole to `size` pixels: [first, first + count).
struct AxisWindow {
  int64_t size;
  int64_t first;
  int64_t count;
};

// `pixels` is [height, width, channels]; the result [rows.count, columns.count, channels]. Work and
// memory follow the window, not the size: a narrow strip can be resized to billions of pixels of
// which few are wanted. All sides are at least 1 and windows lie inside.
Result<Buffer> ResizePixels(const uint8_t* pixels, const PixelDims& dims, const AxisWindow& rows,
                            const AxisWindow& columns,
                            const std::shared_ptr<MemoryBudget>& budget = nullptr);

}  // namespace kheya

#endif  // KHEYA_DATA_RESIZE_H_
