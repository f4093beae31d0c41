#include "ops/slice_axes.h"

#include <algorithm>

namespace kheya {

Result<AxisSlice> SliceAxis(int64_t start, int64_t end, int64_t step, int64_t size) {
  if (step == 0) return InvalidArgumentError("found a step of 0, expected another");
  if (start < 0) start += size;
  if (end < 0) end += size;
  const int64_t lowest = step > 0 ? 0 : -1;
  const int64_t highest = step > 0 ? size : size - 1;
  start = std::clamp<int64_t>(start, step > 0 ? 0 : std::min<int64_t>(0, highest), highest);
  end = std::clamp<int64_t>(end, std::min(lowest, highest), highest);
  AxisSlice slice = {start, step, 0};
  if (step > 0 && end > start) slice.count = (end - start - 1) / step + 1;
  if (step < 0 && end < start) {
    const uint64_t width = static_cast<uint64_t>(start - end);
    const uint64_t stride = uint64_t{0} - static_cast<uint64_t>(step);
    slice.count = static_cast<int64_t>((width - 1) / stride + 1);
  }
  return slice;
}

}  // namespace kheya
