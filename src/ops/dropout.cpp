#include <algorithm>

#include "kernels/reference/cast.h"
#include "ops/axes.h"
#include "ops/infer_util.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"data", types::kFloat, 'T'},
                                {"ratio", types::kFloat, '\0', Presence::kOptional},
                                {"training_mode", types::kBool, '\0', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"output", types::kFloat, 'T'},
                                 {"mask", types::kBool, '\0', Presence::kOptional}};
constexpr AttributeDef kAttributes[] = {{"seed", AttributeKind::kInt}};

Status Infer(InferContext& context) {
  KHEYA_RETURN_IF_ERROR(InferSameType(context));
  return context.SetOutput(1, DType::kBool, ShapeOrNull(context, 0));
}

// True when elements would be dropped: training with a ratio that is not 0.
Result<bool> Drops(EvalContext& context) {
  if (!context.has_input(2)) return false;
  if (context.input(2).num_elements() != 1) {
    return InvalidArgumentError("found training_mode of type {}, expected one element",
                                context.input(2).TypeString());
  }
  if (!context.input(2).data<bool>()[0]) return false;
  if (!context.has_input(1)) return true;
  const Tensor& ratio = context.input(1);
  KHEYA_ASSIGN_OR_RETURN(Tensor wide,
                         Tensor::Allocate(DType::kFloat64, ratio.shape(), context.budget()));
  KHEYA_RETURN_IF_ERROR(kernels::Cast(ratio.view(), wide.mutable_view()));
  const auto values = wide.data<double>();
  return std::ranges::any_of(values, [](double value) { return value != 0; });
}

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(bool drops, Drops(context));
  if (drops) return UnimplementedError("dropout while training is not supported");
  KHEYA_RETURN_IF_ERROR(context.SetOutput(0, context.input_value(0)));
  if (!context.wants_output(1)) return OkStatus();
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView mask,
                         context.Output(1, DType::kBool, context.input(0).shape()));
  std::ranges::fill(mask.as<bool>(), true);
  return OkStatus();
}

}  // namespace

extern const OpDef kDropoutOp;
const OpDef kDropoutOp = {.domain = "",
                          .name = "Dropout",
                          .category = "neural network",
                          .inputs = kInputs,
                          .outputs = kOutputs,
                          .attributes = kAttributes,
                          .infer = Infer,
                          .evaluate = Evaluate};

}  // namespace kheya
