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

Status GatherElementsOf(InferContext& context) {
  const std::optional<std::vector<Dim>> elements = context.input_elements(0);
  const std::optional<std::vector<int64_t>> indices = KnownElements(context, 1);
  const SymbolicShape* data = context.input_shape(0);
  const SymbolicShape* shape = context.input_shape(1);
  if (!elements || !indices || data == nullptr || data->size() != 1 || shape == nullptr ||
      shape->size() > 1) {
    return OkStatus();
  }
  std::vector<Dim> taken;
  for (int64_t index : *indices) {
    KHEYA_ASSIGN_OR_RETURN(int64_t at,
                           NormalizeIndex(index, static_cast<int64_t>(elements->size())));
    taken.push_back((*elements)[at]);
  }
  context.SetOutputElements(0, std::move(taken));
  return OkStatus();
}

Status Infer(InferContext& context) {
  const SymbolicShape* data = context.input_shape(0);
  const SymbolicShape* indices = context.input_shape(1);
  const DType dtype = context.input_dtype(0);
  if (data == nullptr || indices == nullptr) return context.SetOutput(0, dtype, std::nullopt);
  KHEYA_ASSIGN_OR_RETURN(
      int axis, NormalizeAxis(context.attributes().Int("axis", 0), static_cast<int>(data->size())));
  SymbolicShape shape(data->begin(), data->begin() + axis);
  shape.insert(shape.end(), indices->begin(), indices->end());
  shape.insert(shape.end(), data->begin() + axis + 1, data->end());
  KHEYA_RETURN_IF_ERROR(context.SetOutput(0, dtype, std::move(shape)));
  return GatherElementsOf(context);
}

Status Evaluate(EvalContext& context) {
  const Tensor& data = context.input(0);
  const Tensor& indices = context.input(1);
  const Shape& in = data.shape();
  KHEYA_ASSIGN_OR_RETURN(int axis, NormalizeAxis(context.attributes().Int("axis", 0), in.rank()));
  KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> at, NormalizedIndices(indices, in[axis]));
  std::vector<int64_t> dims(in.begin(), in.begin() + axis);
  dims.insert(dims.end(), indices.shape().begin(), indices.shape().end());
  dims.insert(dims.end(), in.begin() + axis + 1, in.end());
  KHEYA_ASSIGN_OR_RETURN(Shape shape, Shape::Create(dims));
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView out, context.Output(0, data.dtype(), shape));
  const int64_t block = in.Product(axis + 1, in.rank());
  if (block == 0) return OkStatus();
  int64_t to = 0;
  for (int64_t outer = 0; outer < in.Product(0, axis); ++outer) {
    for (int64_t index : at) {
      kernels::CopyElements(data.view(), (outer * in[axis] + index) * block, out, to, block);
      to += block;
    }
  }
  return OkStatus();
}

}  // namespace

extern const OpDef kGatherOp;
const OpDef kGatherOp = {.domain = "",
                         .name = "Gather",
                         .category = "shape",
                         .inputs = kInputs,
                         .outputs = kOutputs,
                         .attributes = kAttributes,
                         .infer = Infer,
                         .evaluate = Evaluate};

}  // namespace kheya
