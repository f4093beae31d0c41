// Computing float16 and bfloat16 through float32: widened inputs, outputs that are rounded once.
//
//   KHEYA_ASSIGN_OR_RETURN(Tensor x, WideInput(context, 0));
//   KHEYA_ASSIGN_OR_RETURN(WideOutput y, WideOutput::Create(context, 0, dtype, shape));
//   KHEYA_RETURN_IF_ERROR(kernels::Lrn(params, x.view(), y.view()));
//   return y.Finish();
#ifndef KHEYA_OPS_WIDE_H_
#define KHEYA_OPS_WIDE_H_

#include "base/status.h"
#include "ops/contexts.h"
#include "tensor/tensor.h"

namespace kheya {

// Input `index`, or a float32 copy when it is float16 or bfloat16. An undefined tensor, whose
// view has null data, when the input was left out.
Result<Tensor> WideInput(EvalContext& context, int index);

// An output that is written in float32 when its type is float16 or bfloat16, else in its own type.
class WideOutput {
 public:
  static Result<WideOutput> Create(EvalContext& context, int index, DType dtype,
                                   const Shape& shape);
  const MutableTensorView& view() const { return view_; }
  // Rounds into the output; call it once, after the last write.
  Status Finish();

 private:
  MutableTensorView target_;
  MutableTensorView view_;
  Tensor wide_;  // defined for the half types
};

}  // namespace kheya

#endif  // KHEYA_OPS_WIDE_H_
