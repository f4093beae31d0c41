// Which input elements a pool's window meets.
#ifndef KHEYA_KERNELS_PORTABLE_POOL_TAPS_H_
#define KHEYA_KERNELS_PORTABLE_POOL_TAPS_H_

#include <algorithm>
#include <cstdint>

#include "kernels/params/pool.h"

namespace kheya {

// The input indices of one position along an axis: first, first + step, ... below last; and how
// many the average counts.
struct PoolTaps {
  int64_t first = 0;
  int64_t last = 0;
  int64_t step = 1;
  int64_t counted = 0;
};

inline PoolTaps PoolTapsOf(const kernels::PoolParams& params, const kernels::Spatial& in, int axis,
                           int64_t position) {
  const kernels::Window& window = params.window;
  const int64_t step = window.dilation[axis];
  const int64_t begin = position * window.stride[axis] - window.pad_begin[axis];
  const int64_t end = begin + DilatedKernel(window, axis);
  const int64_t skipped = begin < 0 ? (-begin + step - 1) / step : 0;
  PoolTaps taps{begin + skipped * step, std::min(end, in[axis]), step, 0};
  const int64_t limit = params.count_include_pad ? in[axis] + window.pad_end[axis] : in[axis];
  const int64_t start = params.count_include_pad ? begin : taps.first;
  taps.counted = std::max<int64_t>(0, (std::min(end, limit) - start + step - 1) / step);
  return taps;
}

}  // namespace kheya

#endif  // KHEYA_KERNELS_PORTABLE_POOL_TAPS_H_
