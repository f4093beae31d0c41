#include <vector>

#include "ops/axes.h"
#include "ops/op.h"
#include "ops/parts.h"
#include "ops/sequence.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"input_sequence", types::kAny}};
constexpr ParamDef kOutputs[] = {{"concat_result", types::kEvery}};
constexpr AttributeDef kAttributes[] = {{"axis", AttributeKind::kInt, true},
                                        {"new_axis", AttributeKind::kInt}};

// The axis of the result; `rank` is that of the elements.
Result<int> ResultAxis(const AttributeReader& attributes, int rank) {
  const int new_axes = attributes.Int("new_axis", 0) != 0 ? 1 : 0;
  return NormalizeAxis(attributes.Int("axis", 0), rank + new_axes);
}

Status Infer(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(ValueType element, ElementTypeOf(context, 0));
  if (!element.is_tensor()) element = ValueType::OfTensor(DType::kUndefined);
  if (element.shape) {
    SymbolicShape& shape = *element.shape;
    KHEYA_ASSIGN_OR_RETURN(const int axis,
                           ResultAxis(context.attributes(), static_cast<int>(shape.size())));
    if (context.attributes().Int("new_axis", 0) != 0) {
      shape.insert(shape.begin() + axis, Dim());
    } else {
      shape[axis] = Dim();
    }
  }
  return context.SetOutputType(0, std::move(element));
}

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const std::vector<Tensor> parts, TensorSequenceInput(context, 0));
  const int64_t new_axis = context.attributes().Int("new_axis", 0);
  if (new_axis != 0 && new_axis != 1) {
    return InvalidArgumentError("new_axis: found {}, expected 0 or 1", new_axis);
  }
  const int rank = parts.empty() ? 1 : parts[0].shape().rank();
  KHEYA_ASSIGN_OR_RETURN(const int axis, ResultAxis(context.attributes(), rank));
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, JoinedShape(parts, axis, new_axis == 1));
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView out, context.Output(0, parts[0].dtype(), shape));
  JoinParts(parts, axis, out);
  return OkStatus();
}

}  // namespace

extern const OpDef kConcatFromSequenceOp;
const OpDef kConcatFromSequenceOp = {.domain = "",
                                     .name = "ConcatFromSequence",
                                     .category = "sequences and optionals",
                                     .inputs = kInputs,
                                     .outputs = kOutputs,
                                     .attributes = kAttributes,
                                     .infer = Infer,
                                     .evaluate = Evaluate};

}  // namespace kheya
