#include "kernels/params/window.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/checked_math.h"

namespace kheya::kernels {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();

Status CheckRange(const char* what, int64_t value, int64_t least) {
  if (value >= least && value <= kLargest) return OkStatus();
  return InvalidArgumentError("found a window {} of {}, expected {} to {}", what, value, least,
                              kLargest);
}

}  // namespace

bool Window::is_pointwise() const {
  constexpr Spatial kOnes = {1, 1, 1}, kZeros = {0, 0, 0};
  return kernel == kOnes && stride == kOnes && pad_begin == kZeros && pad_end == kZeros;
}

Spatial SpatialOf(const Shape& shape, int first) {
  Spatial spatial = {1, 1, 1};
  const int count = std::min(shape.rank() - first, kSpatialAxes);
  for (int i = 0; i < count; ++i) spatial[kSpatialAxes - count + i] = shape[first + i];
  return spatial;
}

Result<Shape> JoinSpatial(std::span<const int64_t> leading, const Spatial& spatial, int rank) {
  std::vector<int64_t> dims(leading.begin(), leading.end());
  dims.insert(dims.end(), spatial.end() - rank, spatial.end());
  return Shape::Create(dims);
}

Status CheckWindow(const Window& window) {
  if (window.rank < 1 || window.rank > kSpatialAxes) {
    return UnimplementedError("found {} spatial axes, supported are 1 to {}", window.rank,
                              kSpatialAxes);
  }
  for (int axis = 0; axis < kSpatialAxes; ++axis) {
    KHEYA_RETURN_IF_ERROR(CheckRange("size", window.kernel[axis], 1));
    KHEYA_RETURN_IF_ERROR(CheckRange("stride", window.stride[axis], 1));
    KHEYA_RETURN_IF_ERROR(CheckRange("dilation", window.dilation[axis], 1));
    KHEYA_RETURN_IF_ERROR(CheckRange("padding", window.pad_begin[axis], 0));
    KHEYA_RETURN_IF_ERROR(CheckRange("padding", window.pad_end[axis], 0));
  }
  return OkStatus();
}

int64_t DilatedKernel(const Window& window, int axis) {
  return (window.kernel[axis] - 1) * window.dilation[axis] + 1;
}

Result<Spatial> WindowPositions(const Window& window, const Spatial& input, bool ceil) {
  Spatial positions = {1, 1, 1};
  for (int axis = 0; axis < kSpatialAxes; ++axis) {
    int64_t padded = 0;
    if (!CheckedAdd(input[axis], window.pad_begin[axis] + window.pad_end[axis], &padded)) {
      return InvalidArgumentError("found an input axis of {}, too large to pad", input[axis]);
    }
    const int64_t room = padded - DilatedKernel(window, axis);
    if (room < 0) {
      return InvalidArgumentError("found a padded input of {} under a window of {} along an axis",
                                  padded, DilatedKernel(window, axis));
    }
    const int64_t stride = window.stride[axis];
    int64_t count = room / stride + 1;
    if (ceil && room % stride != 0) {
      const bool starts_inside = count * stride < input[axis] + window.pad_begin[axis];
      if (starts_inside) ++count;
    }
    positions[axis] = count;
  }
  return positions;
}

MeetingRange PositionsMeeting(const Window& window, int axis, int64_t k, int64_t input,
                              int64_t positions) {
  const int64_t stride = window.stride[axis];
  MeetingRange range;
  range.offset = k * window.dilation[axis] - window.pad_begin[axis];
  range.first = range.offset < 0 ? (-range.offset + stride - 1) / stride : 0;
  range.last = input > range.offset ? (input - 1 - range.offset) / stride + 1 : 0;
  range.last = std::min(range.last, positions);
  range.first = std::min(range.first, range.last);
  return range;
}

}  // namespace kheya::kernels
