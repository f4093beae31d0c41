// Inference that many operators share, and the propagation of small integer elements.
#ifndef KHEYA_OPS_INFER_UTIL_H_
#define KHEYA_OPS_INFER_UTIL_H_

#include "base/function_ref.h"
#include "base/status.h"
#include "ops/contexts.h"

namespace kheya {

// Output 0 has input 0's element type and shape.
Status InferSameType(InferContext& context);
// The same, and its elements.
Status InferIdentity(InferContext& context);
// Output 0 has input 0's shape and this element type.
Status InferSameShape(InferContext& context, DType dtype);
// Output 0 is all inputs broadcast together; its element type is `dtype`.
Status InferBroadcast(InferContext& context, DType dtype);

// Element by element, for outputs of type int32, int64 or bool (whose elements are 0 and 1):
// elements of output 0 computed from those of the first inputs, one element broadcast to the other
// list. Call after the output's type is set. A result that the output's type does not hold is
// unknown; nothing happens when an input's number of elements is not known.
void PropagateUnary(InferContext& context, FunctionRef<Dim(const Dim&)> function);
void PropagateBinary(InferContext& context, FunctionRef<Dim(const Dim&, const Dim&)> function);
void PropagateTernary(InferContext& context,
                      FunctionRef<Dim(const Dim&, const Dim&, const Dim&)> function);
// Folds all inputs with `function`.
void PropagateVariadic(InferContext& context, FunctionRef<Dim(const Dim&, const Dim&)> function);

}  // namespace kheya

#endif  // KHEYA_OPS_INFER_UTIL_H_
