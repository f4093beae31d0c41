#include <vector>

#include "kernels/reference/movement.h"
#include "ops/axes.h"
#include "ops/gather_indices.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"data", types::kEvery, 'T'}, {"indices", types::kIndex}};
constexpr ParamDef kOutputs[] = {{"output", types::kEvery, 'T'}};
constexpr AttributeDef kAttributes[] = {{"axis", AttributeKind::kInt}};

Status Infer(InferContext& context) {
  return context.SetOutput(0, context.input_dtype(0), ShapeOrNull(context, 1));
}

// The output, shaped like the indices, reads data at its own index but along `axis`.
Status CheckShapes(const Shape& data, const Shape& indices, int axis) {
  bool fits = data.rank() == indices.rank();
  for (int i = 0; fits && i < data.rank(); ++i) fits = i == axis || indices[i] <= data[i];
  if (fits) return OkStatus();
  return InvalidArgumentError(
      "found indices {} of data {}, expected as many axes and no larger "
      "ones but axis {}",
      indices.ToString(), data.ToString(), axis);
}

Status Evaluate(EvalContext& context) {
  const Tensor& data = context.input(0);
  const Tensor& indices = context.input(1);
  const Shape& in = data.shape();
  const Shape& shape = indices.shape();
  KHEYA_ASSIGN_OR_RETURN(int axis, NormalizeAxis(context.attributes().Int("axis", 0), in.rank()));
  KHEYA_RETURN_IF_ERROR(CheckShapes(in, shape, axis));
  KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> at, NormalizedIndices(indices, in[axis]));
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView out, context.Output(0, data.dtype(), shape));
  const auto strides = StridesOf(in);
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    int64_t rest = i, offset = at[i] * strides[axis];
    for (int a = shape.rank() - 1; a >= 0; --a) {
      if (a != axis) offset += rest % shape[a] * strides[a];
      rest /= shape[a];
    }
    kernels::CopyElements(data.view(), offset, out, i, 1);
  }
  return OkStatus();
}

}  // namespace

extern const OpDef kGatherElementsOp;
const OpDef kGatherElementsOp = {.domain = "",
                                 .name = "GatherElements",
                                 .category = "shape",
                                 .inputs = kInputs,
                                 .outputs = kOutputs,
                                 .attributes = kAttributes,
                                 .infer = Infer,
                                 .evaluate = Evaluate};

}  // namespace kheya
