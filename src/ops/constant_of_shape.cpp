#include <vector>

#include "kernels/reference/movement.h"
#include "ops/axes.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"input", types::kInt64}};
constexpr ParamDef kOutputs[] = {{"output", types::kEvery}};
constexpr AttributeDef kAttributes[] = {{"value", AttributeKind::kTensor}};

// The fill value: one element, float32 0 when left out.
Result<Tensor> ReadValue(const AttributeReader& attributes) {
  const Tensor* value = attributes.TensorOrNull("value");
  if (value == nullptr) return Tensor::Scalar(0.0f);
  if (value->num_elements() != 1) {
    return InvalidArgumentError("found value of type {}, expected one element",
                                value->TypeString());
  }
  return value->Aligned();
}

Status Infer(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(Tensor value, ReadValue(context.attributes()));
  std::optional<std::vector<Dim>> shape = context.input_elements(0);
  if (!shape) return context.SetOutput(0, value.dtype(), std::nullopt);
  for (const Dim& dim : *shape) {
    if (dim.known() && dim.value() < 0) {
      return InvalidArgumentError("found {} in the shape, expected 0 or more", dim.value());
    }
  }
  const Dim count = ProductOf(*shape);
  const bool list = shape->size() <= 1;
  KHEYA_RETURN_IF_ERROR(context.SetOutput(0, value.dtype(), std::move(shape)));
  if (!list || !IsInteger(value.dtype()) || !count.known() ||
      count.value() > kMaxPropagatedElements) {
    return OkStatus();
  }
  KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> element, ToInt64s(value));
  context.SetOutputElements(0, std::vector<Dim>(count.value(), Dim(element[0])));
  return OkStatus();
}

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(Tensor value, ReadValue(context.attributes()));
  KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> dims, IntListInput(context, 0));
  KHEYA_ASSIGN_OR_RETURN(Shape shape, Shape::Create(dims));
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView out, context.Output(0, value.dtype(), shape));
  return kernels::FillWith(value.view(), out);
}

}  // namespace

extern const OpDef kConstantOfShapeOp;
const OpDef kConstantOfShapeOp = {.domain = "",
                                  .name = "ConstantOfShape",
                                  .category = "shape",
                                  .inputs = kInputs,
                                  .outputs = kOutputs,
                                  .attributes = kAttributes,
                                  .infer = Infer,
                                  .evaluate = Evaluate};

}  // namespace kheya
