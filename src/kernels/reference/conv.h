// Convolutions in plain loops, on float32 or float64, accumulating in the element type.
#ifndef KHEYA_KERNELS_REFERENCE_CONV_H_
#define KHEYA_KERNELS_REFERENCE_CONV_H_

#include "base/status.h"
#include "kernels/params/conv.h"
#include "tensor/tensor.h"

namespace kheya::kernels {

// y = x convolved with w, plus bias [M] (its data may be null: none). All of one type, y shaped by
// ConvOutputShape.
Status Conv(const ConvParams& params, const TensorView& x, const TensorView& w,
            const TensorView& bias, const MutableTensorView& y);

// The same for ConvTranspose, y shaped by ConvTransposeOutputShape (or larger at its ends: what no
// input reaches holds the bias).
Status ConvTranspose(const ConvParams& params, const TensorView& x, const TensorView& w,
                     const TensorView& bias, const MutableTensorView& y);

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_CONV_H_
