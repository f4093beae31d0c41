// Sequences as inputs of operators.
#ifndef KHEYA_OPS_SEQUENCE_H_
#define KHEYA_OPS_SEQUENCE_H_

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "ops/contexts.h"

namespace kheya {

// Input `index`, or InvalidArgument when it is no sequence. Lives as long as the input.
Result<const Sequence*> SequenceInput(const EvalContext& context, int index);
// The same as a list of tensors.
Result<std::vector<Tensor>> TensorSequenceInput(const EvalContext& context, int index);

// What is known of the elements of input `index`; kUnknown when nothing is. InvalidArgument when
// the input is known to be no sequence.
Result<ValueType> ElementTypeOf(const InferContext& context, int index);

}  // namespace kheya

#endif  // KHEYA_OPS_SEQUENCE_H_
