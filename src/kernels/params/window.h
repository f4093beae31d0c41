// Window: a sliding window over one to three spatial axes, shared by convolutions and pools.
#ifndef KHEYA_KERNELS_PARAMS_WINDOW_H_
#define KHEYA_KERNELS_PARAMS_WINDOW_H_

#include <array>
#include <cstdint>
#include <span>

#include "base/status.h"
#include "tensor/shape.h"

namespace kheya::kernels {

inline constexpr int kSpatialAxes = 3;
using Spatial = std::array<int64_t, kSpatialAxes>;

// Arrays are indexed [depth, height, width] whatever the rank: a window of rank 2 has kernel 1,
// stride 1, dilation 1 and no padding along depth, one of rank 1 along height too.
struct Window {
  int rank = 2;  // spatial axes of the tensors, 1 to 3
  Spatial kernel = {1, 1, 1};
  Spatial stride = {1, 1, 1};
  Spatial dilation = {1, 1, 1};
  Spatial pad_begin = {0, 0, 0};
  Spatial pad_end = {0, 0, 0};

  // True when the window is one element that visits every input element once.
  bool is_pointwise() const;
};

// The axes from `first` on of a shape, ones in front where there are fewer than three.
Spatial SpatialOf(const Shape& shape, int first);
// As many leading axes as `batch` names, then the last `rank` of `spatial`.
Result<Shape> JoinSpatial(std::span<const int64_t> leading, const Spatial& spatial, int rank);

// InvalidArgument unless rank is 1 to 3, kernels, strides and dilations are positive and paddings
// are not negative, each at most 2^31 - 1 so that products of two fit.
Status CheckWindow(const Window& window);

// (kernel - 1) * dilation + 1
int64_t DilatedKernel(const Window& window, int axis);

// Positions of the window along each axis: floor((input + padding - dilated kernel) / stride) + 1.
// With `ceil` the division rounds up, but a last window that would start in the end padding is
// dropped. InvalidArgument when the padded input is smaller than the window.
Result<Spatial> WindowPositions(const Window& window, const Spatial& input, bool ceil);

// The positions [first, last) along an axis at which kernel element `k` meets an input element,
// and the input index at position 0 (may be negative): input = position * stride + offset.
struct MeetingRange {
  int64_t first = 0;
  int64_t last = 0;
  int64_t offset = 0;
};
MeetingRange PositionsMeeting(const Window& window, int axis, int64_t k, int64_t input,
                              int64_t positions);

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_PARAMS_WINDOW_H_
