#include <vector>

#include "kernels/reference/movement.h"
#include "ops/axes.h"
#include "ops/gather_indices.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {
    {"data", types::kEvery, 'T'}, {"indices", types::kIndex}, {"updates", types::kEvery, 'T'}};
constexpr ParamDef kOutputs[] = {{"output", types::kEvery, 'T'}};
constexpr AttributeDef kAttributes[] = {{"axis", AttributeKind::kInt},
                                        {"reduction", AttributeKind::kString}};

Status Infer(InferContext& context) {
  return context.SetOutput(0, context.input_dtype(0), ShapeOrNull(context, 0));
}

Status CheckShapes(const Shape& data, const Shape& indices, const Shape& updates, int axis) {
  bool fits = data.rank() == indices.rank() && indices == updates;
  for (int i = 0; fits && i < data.rank(); ++i) fits = i == axis || indices[i] <= data[i];
  if (fits) return OkStatus();
  return InvalidArgumentError(
      "found indices {} and updates {} of data {}, expected equal shapes "
      "of its rank and no larger but on axis {}",
      indices.ToString(), updates.ToString(), data.ToString(), axis);
}

Status Evaluate(EvalContext& context) {
  const Tensor& data = context.input(0);
  const Tensor& updates = context.input(2);
  const Shape& shape = updates.shape();
  KHEYA_ASSIGN_OR_RETURN(int axis,
                         NormalizeAxis(context.attributes().Int("axis", 0), data.shape().rank()));
  KHEYA_ASSIGN_OR_RETURN(Reduction reduction,
                         ParseReduction(context.attributes().String("reduction", "none")));
  KHEYA_RETURN_IF_ERROR(CheckShapes(data.shape(), context.input(1).shape(), shape, axis));
  KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> at,
                         NormalizedIndices(context.input(1), data.shape()[axis]));
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView out, context.Output(0, data.dtype(), data.shape()));
  kernels::CopyElements(data.view(), 0, out, 0, data.num_elements());
  const auto strides = StridesOf(data.shape());
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    int64_t rest = i, offset = at[i] * strides[axis];
    for (int a = shape.rank() - 1; a >= 0; --a) {
      if (a != axis) offset += rest % shape[a] * strides[a];
      rest /= shape[a];
    }
    KHEYA_RETURN_IF_ERROR(ReduceInto(reduction, updates.view(), i, out, offset, 1));
  }
  return OkStatus();
}

}  // namespace

extern const OpDef kScatterElementsOp;
const OpDef kScatterElementsOp = {.domain = "",
                                  .name = "ScatterElements",
                                  .category = "shape",
                                  .inputs = kInputs,
                                  .outputs = kOutputs,
                                  .attributes = kAttributes,
                                  .infer = Infer,
                                  .evaluate = Evaluate};

}  // namespace kheya
