// Sampling images at places that a grid gives, grids of affine maps, and columns of blocks put
// back into images.
#ifndef KHEYA_KERNELS_REFERENCE_GRID_H_
#define KHEYA_KERNELS_REFERENCE_GRID_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "tensor/tensor.h"

namespace kheya::kernels {

enum class GridMode : uint8_t { kNearest, kLinear, kCubic };
enum class GridPadding : uint8_t { kZeros, kBorder, kReflection };

struct GridParams {
  GridMode mode = GridMode::kLinear;
  GridPadding padding = GridPadding::kZeros;
  // -1 and 1 stand for the centres of the first and last pixels, else for their outer edges.
  bool align_corners = false;
};

// y[n, c, ...] = x[n, c] at the place that grid[n, ..., :] gives, last axis first, for x
// [N, C, spatial...] and grid [N, out..., spatial axes]. Nearest rounds half to even; cubic is
// Keys' convolution with a = -0.75. x and y of one type, grid float32 or float64 (as x's).
Status GridSample(const GridParams& params, const TensorView& x, const TensorView& grid,
                  const MutableTensorView& y);

// grid[n, ..., :] = theta[n] (x, y[, z], 1) for the place (x, y[, z]) of each pixel, in units as
// GridParams. theta [N, 2, 3] or [N, 3, 4]; grid [N, spatial..., 2 or 3].
Status AffineGrid(bool align_corners, const TensorView& theta, const MutableTensorView& grid);

// One spatial axis of Col2Im.
struct BlockAxis {
  int64_t image = 0;
  int64_t block = 0;
  int64_t dilation = 1;
  int64_t stride = 1;
  int64_t pad_begin = 0;
  int64_t positions = 0;  // of the block
};

// Adds x [N, channels * block..., positions...] at its places of y [N, channels, image...], which
// is set to 0 before. Numeric types.
Status ColumnsToImage(std::span<const BlockAxis> axes, int64_t batch_times_channels,
                      const TensorView& x, const MutableTensorView& y);

// Of a deformable convolution over two axes.
struct DeformParams {
  int64_t batch = 0;
  int64_t channels = 0;
  int64_t height = 0;
  int64_t width = 0;
  int64_t filters = 0;
  int64_t groups = 1;
  int64_t offset_groups = 1;
  BlockAxis rows = {};  // image, kernel, dilation, stride, padding, output size
  BlockAxis columns = {};
};

// Convolution whose taps are moved by offset [N, offset_groups * kh * kw * 2, oh, ow] (y, x),
// sampled bilinearly (0 outside) and scaled by mask [N, offset_groups * kh * kw, oh, ow]. The data
// of bias and mask may be null. All of one type, sums in double.
Status DeformConv(const DeformParams& params, const TensorView& x, const TensorView& w,
                  const TensorView& offset, const TensorView& bias, const TensorView& mask,
                  const MutableTensorView& y);

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_GRID_H_
