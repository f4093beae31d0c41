// What Slice takes of an axis.
#ifndef KHEYA_OPS_SLICE_AXES_H_
#define KHEYA_OPS_SLICE_AXES_H_

#include <cstdint>

#include "base/status.h"

namespace kheya {

// `count` elements from `start` in steps of `step`.
struct AxisSlice {
  int64_t start = 0;
  int64_t step = 1;
  int64_t count = 0;
};

// NumPy's rules: negative bounds count from the end, bounds outside are cut. InvalidArgument for a
// step of 0.
Result<AxisSlice> SliceAxis(int64_t start, int64_t end, int64_t step, int64_t size);

}  // namespace kheya

#endif  // KHEYA_OPS_SLICE_AXES_H_
