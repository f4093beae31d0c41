#include "kernels/params/conv.h"

#include <array>

#include "base/checked_math.h"

namespace kheya::kernels {
namespace {

// `channels_axis` of w is checked against the channels of x.
Status CheckConv(const ConvParams& params, const Shape& x, const Shape& w) {
  KHEYA_RETURN_IF_ERROR(CheckWindow(params.window));
  if (x.rank() != params.window.rank + 2 || w.rank() != x.rank()) {
    return InvalidArgumentError("found input {} and weights {}, expected both of rank {}",
                                x.ToString(), w.ToString(), params.window.rank + 2);
  }
  if (SpatialOf(w, 2) != params.window.kernel) {
    return InvalidArgumentError("found weights {}, expected the kernel shape {},{},{}",
                                w.ToString(), params.window.kernel[0], params.window.kernel[1],
                                params.window.kernel[2]);
  }
  if (params.groups < 1) {
    return InvalidArgumentError("found {} groups, expected at least 1", params.groups);
  }
  return OkStatus();
}

Status ChannelsError(const ConvParams& params, const Shape& x, const Shape& w) {
  return InvalidArgumentError(
      "found {} channels of input {}, weights {} and {} groups, which do "
      "not fit",
      x[1], x.ToString(), w.ToString(), params.groups);
}

}  // namespace

Result<Shape> ConvOutputShape(const ConvParams& params, const Shape& x, const Shape& w) {
  KHEYA_RETURN_IF_ERROR(CheckConv(params, x, w));
  if (x[1] % params.groups != 0 || x[1] / params.groups != w[1] || w[0] % params.groups != 0) {
    return ChannelsError(params, x, w);
  }
  KHEYA_ASSIGN_OR_RETURN(Spatial positions,
                         WindowPositions(params.window, SpatialOf(x, 2), /*ceil=*/false));
  return JoinSpatial(std::array{x[0], w[0]}, positions, params.window.rank);
}

Result<Shape> ConvTransposeOutputShape(const ConvParams& params, const Shape& x, const Shape& w) {
  KHEYA_RETURN_IF_ERROR(CheckConv(params, x, w));
  if (x[1] != w[0] || x[1] % params.groups != 0) return ChannelsError(params, x, w);
  int64_t channels = 0;
  if (!CheckedMul(w[1], params.groups, &channels)) return ChannelsError(params, x, w);
  const Window& window = params.window;
  const Spatial input = SpatialOf(x, 2);
  Spatial output = {1, 1, 1};
  for (int axis = 0; axis < kSpatialAxes; ++axis) {
    int64_t size = 0;
    const int64_t rest = params.output_padding[axis] + DilatedKernel(window, axis) -
                         window.pad_begin[axis] - window.pad_end[axis];
    if (!CheckedMul(window.stride[axis], input[axis] - 1, &size) ||
        !CheckedAdd(size, rest, &size) || size < 0) {
      return InvalidArgumentError(
          "found an output axis of negative or overflowing size for an "
          "input of {}",
          input[axis]);
    }
    output[axis] = size;
  }
  return JoinSpatial(std::array{x[0], channels}, output, window.rank);
}

Result<int64_t> ConvMacs(const Shape& w, const Shape& positions) {
  int64_t macs = 0;
  if (!CheckedMul(positions.num_elements(), w.Product(1, w.rank()), &macs)) {
    return InvalidArgumentError("the multiply-accumulates of weights {} overflow", w.ToString());
  }
  return macs;
}

}  // namespace kheya::kernels
