// Quantized operands as plain numbers: what the quantized products share.
#ifndef KHEYA_OPS_QUANTIZED_H_
#define KHEYA_OPS_QUANTIZED_H_

#include "base/status.h"
#include "ops/contexts.h"
#include "tensor/tensor.h"

namespace kheya {

// Input `index` less its zero point, input `zero_index` (which may be left out), as float64, which
// holds every such difference and sums of 2^37 of their products exactly. A zero point has one
// element, or one for each place of `axis` of a tensor of rank 2 or more (negative: from the end),
// or a shape that broadcasts to the input's.
Result<Tensor> DifferenceInput(EvalContext& context, int index, int zero_index, int axis);

// Scales or zero points, input `index`, as float64 of a shape that broadcasts to `shape`: one
// element, or one for each place of `axis`, or such a shape. InvalidArgument otherwise.
Result<Tensor> BroadcastableInput(EvalContext& context, int index, const Shape& shape, int axis);

// The sums as int32, whose high bits are lost.
Status GiveInt32(EvalContext& context, const Tensor& sums);

// y = saturate(round(sums * a_scale * b_scale / y_scale) + y_zero) as output 0 of type `dtype`.
struct Requantization {
  Tensor a_scale, b_scale, y_scale, y_zero;  // float64, broadcast to the sums
};
Status GiveRequantized(EvalContext& context, DType dtype, const Tensor& sums,
                       const Requantization& by);

}  // namespace kheya

#endif  // KHEYA_OPS_QUANTIZED_H_
