#include "ops/axes.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"input", types::kEvery, 'T'}};
constexpr ParamDef kOutputs[] = {{"output", types::kEvery, 'T'}};
constexpr AttributeDef kAttributes[] = {{"axis", AttributeKind::kInt}};

// The axis may also be the rank: all axes go to the first dimension.
Result<int> FlattenAxis(const AttributeReader& attributes, int rank) {
  const int64_t axis = attributes.Int("axis", 1);
  if (axis == rank) return rank;
  return NormalizeAxis(axis, rank);
}

Status Infer(InferContext& context) {
  const SymbolicShape* shape = context.input_shape(0);
  if (shape == nullptr) return context.SetOutput(0, context.input_dtype(0), UnknownDims(2));
  KHEYA_ASSIGN_OR_RETURN(int axis,
                         FlattenAxis(context.attributes(), static_cast<int>(shape->size())));
  const std::span<const Dim> dims = *shape;
  return context.SetOutput(
      0, context.input_dtype(0),
      SymbolicShape{ProductOf(dims.first(axis)), ProductOf(dims.subspan(axis))});
}

Status Evaluate(EvalContext& context) {
  const Tensor& input = context.input(0);
  const Shape& shape = input.shape();
  KHEYA_ASSIGN_OR_RETURN(int axis, FlattenAxis(context.attributes(), shape.rank()));
  const int64_t dims[] = {shape.Product(0, axis), shape.Product(axis, shape.rank())};
  KHEYA_ASSIGN_OR_RETURN(Shape flat, Shape::Create(dims));
  KHEYA_ASSIGN_OR_RETURN(Tensor output, input.Reshaped(flat));
  return context.SetOutput(0, std::move(output));
}

}  // namespace

extern const OpDef kFlattenOp;
const OpDef kFlattenOp = {.domain = "",
                          .name = "Flatten",
                          .category = "shape",
                          .inputs = kInputs,
                          .outputs = kOutputs,
                          .attributes = kAttributes,
                          .infer = Infer,
                          .evaluate = Evaluate,
                          .aliases_input = true};

}  // namespace kheya
