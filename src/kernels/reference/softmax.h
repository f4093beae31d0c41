// Softmax and its kin along one axis, on float32 or float64.
#ifndef KHEYA_KERNELS_REFERENCE_SOFTMAX_H_
#define KHEYA_KERNELS_REFERENCE_SOFTMAX_H_

#include "base/status.h"
#include "kernels/reference/reduce.h"
#include "tensor/tensor.h"

namespace kheya::kernels {

// y = exp(x - max) / sum of exp(x - max) along the axis that `rows` names, the sum in double.
Status Softmax(const ReduceRows& rows, const TensorView& x, const MutableTensorView& y);
// y = x - max - log(sum of exp(x - max)).
Status LogSoftmax(const ReduceRows& rows, const TensorView& x, const MutableTensorView& y);
// y = 1 at the first largest element, else 0.
Status Hardmax(const ReduceRows& rows, const TensorView& x, const MutableTensorView& y);

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_SOFTMAX_H_
