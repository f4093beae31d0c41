// Normalizations in plain loops, on float32 or float64. Means and variances are kept in double.
#ifndef KHEYA_KERNELS_REFERENCE_NORM_H_
#define KHEYA_KERNELS_REFERENCE_NORM_H_

#include <span>

#include "base/status.h"
#include "kernels/params/norm.h"
#include "kernels/reference/reduce.h"
#include "tensor/tensor.h"

namespace kheya::kernels {

// y = (x - mean) / sqrt(variance + epsilon) for each row, with the variance of the whole row
// (divided by its size). `mean` and `inverse` (float32, one a row; their data may be null) receive
// the mean and 1 / sqrt(variance + epsilon).
Status NormalizeRows(const NormParams& params, const TensorView& x, const MutableTensorView& y,
                     const MutableTensorView& mean, const MutableTensorView& inverse);

// y = x / sqrt(mean of squares + epsilon) for each row.
Status RmsNormalizeRows(const NormParams& params, const TensorView& x, const MutableTensorView& y);

// y[n, c, i] = x[n, c, i] * scale[c] + shift[c] for x of [n, channels, inner] in memory; scale and
// shift are doubles. May be done in place.
Status ScaleChannels(int64_t outer, std::span<const double> scale, std::span<const double> shift,
                     int64_t inner, const TensorView& x, const MutableTensorView& y);

// y = x * scale + shift, both broadcast to x (checked by the caller) and of its type; the data of
// `shift` may be null: none. May be done in place.
Status ScaleElements(const TensorView& scale, const TensorView& shift, const TensorView& x,
                     const MutableTensorView& y);

// x [N, C, ...]: y = x / (bias + alpha / size * sum of squares over `size` channels around)^beta.
// The sum over channel c runs from c - floor((size - 1) / 2) to c + ceil((size - 1) / 2).
Status Lrn(const LrnParams& params, const TensorView& x, const MutableTensorView& y);

// y = x / norm of x along the axis: the sum of |x|, or the root of the sum of squares. Where the
// norm is 0, y is 0.
Status DivideByNorm(bool absolute, const ReduceRows& rows, const TensorView& x,
                    const MutableTensorView& y);

// y = (x - mean) / (standard deviation + 1e-9), both over the elements that differ in their index
// along `axes` alone.
Status NormalizeOverAxes(std::span<const int> axes, const TensorView& x,
                         const MutableTensorView& y);

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_NORM_H_
