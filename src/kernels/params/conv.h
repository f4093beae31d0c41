// Parameters of Conv and ConvTranspose.
#ifndef KHEYA_KERNELS_PARAMS_CONV_H_
#define KHEYA_KERNELS_PARAMS_CONV_H_

#include <cstdint>

#include "base/status.h"
#include "kernels/params/window.h"
#include "tensor/shape.h"

namespace kheya::kernels {

// Padding is explicit: automatic padding has been resolved for the input shape. For ConvTranspose
// it is what is cut from the full output.
struct ConvParams {
  Window window;
  int64_t groups = 1;
  Spatial output_padding = {0, 0, 0};  // ConvTranspose alone
};

// Shape of y [N, M, positions...] for x [N, C, spatial...] and w [M, C / groups, kernel...].
// Checks all that a kernel relies on: ranks, channels against groups, window against w;
// InvalidArgument naming both sides.
Result<Shape> ConvOutputShape(const ConvParams& params, const Shape& x, const Shape& w);

// The same for ConvTranspose: w [C, M / groups, kernel...], y [N, M, ...] with
// stride * (in - 1) + output_padding + dilated kernel - padding along each axis.
Result<Shape> ConvTransposeOutputShape(const ConvParams& params, const Shape& x, const Shape& w);

// Multiply-accumulates of either: elements of one filter times those of `positions`, y for Conv and
// x for ConvTranspose.
Result<int64_t> ConvMacs(const Shape& w, const Shape& positions);

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_PARAMS_CONV_H_
