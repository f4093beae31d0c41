// The inner loop of depthwise convolutions in channels-last memory.
#ifndef KHEYA_KERNELS_PORTABLE_DEPTHWISE_H_
#define KHEYA_KERNELS_PORTABLE_DEPTHWISE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/portable/finish.h"

namespace kheya::simd {

// One row of the output, of `pixels` pixels. Columns of windows that lie outside of the input are
// not read.
struct DepthwiseRow {
  const float* x = nullptr;  // the input's row that the first row of the kernel meets
  int64_t x_pitch = 0;       // from one row of the kernel to the next
  int64_t rows = 0;          // of the kernel, those that meet the input
  int64_t columns = 0;       // of the kernel
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad = 0;    // columns before the input's first
  int64_t width = 0;  // of the input
  int64_t pixels = 0;
  size_t channels = 0;
  const float* weights = nullptr;  // [rows][columns][channels]
  const float* bias = nullptr;     // or null
  Finishing finish;                // y and the residual, from pixel 0 on
};

void Depthwise(const DepthwiseRow& row);

}  // namespace kheya::simd

#endif  // KHEYA_KERNELS_PORTABLE_DEPTHWISE_H_
