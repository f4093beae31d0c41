#include <algorithm>
#include <vector>

#include "kernels/reference/elementwise.h"
#include "kernels/reference/quantize.h"
#include "ops/axes.h"
#include "ops/infer_util.h"
#include "ops/op.h"
#include "ops/random_ops.h"

namespace kheya {
namespace {

constexpr TypeMask kTypes = types::kFloat | types::kFloat8;
constexpr ParamDef kInputs[] = {{"data", kTypes, 'T'},
                                {"ratio", kTypes, '\0', Presence::kOptional},
                                {"training_mode", types::kBool, '\0', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"output", kTypes, 'T'},
                                 {"mask", types::kBool, '\0', Presence::kOptional}};
constexpr AttributeDef kAttributes[] = {{"seed", AttributeKind::kInt}};

Status Infer(InferContext& context) {
  KHEYA_RETURN_IF_ERROR(InferSameType(context));
  return context.SetOutput(1, DType::kBool, ShapeOrNull(context, 0));
}

// How likely an element is dropped: 0 unless the model trains.
Result<double> DropRatio(const EvalContext& context) {
  if (!context.has_input(2)) return 0.0;
  if (context.input(2).num_elements() != 1) {
    return InvalidArgumentError("found training_mode of type {}, expected one element",
                                context.input(2).TypeString());
  }
  if (!context.input(2).data<bool>()[0]) return 0.0;
  if (!context.has_input(1)) return 0.5;
  KHEYA_ASSIGN_OR_RETURN(const std::vector<double> ratio,
                         kernels::NumbersOf(context.input(1).view()));
  if (ratio.size() == 1 && ratio[0] >= 0 && ratio[0] < 1) return ratio[0];
  return InvalidArgumentError(
      "found ratio {}, expected one number in [0, 1)",
      ratio.size() == 1 ? std::to_string(ratio[0]) : context.input(1).TypeString());
}

Result<MutableTensorView> MaskOutput(EvalContext& context) {
  return context.Output(1, DType::kBool, context.input(0).shape());
}

// What stays is scaled so that the expectation stays too.
Status Drop(EvalContext& context, double ratio) {
  const Tensor& data = context.input(0);
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView out,
                         context.Output(0, data.dtype(), data.shape()));
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView mask, MaskOutput(context));
  kernels::RandomNumbers numbers = NumbersFor(context);
  for (bool& keeps : mask.as<bool>()) keeps = numbers.Uniform() >= ratio;
  const bool* keeps = mask.as<bool>().data();
  const double scale = 1 / (1 - ratio);
  return kernels::MapReal(data.view(), out, [&](auto value) {
    return static_cast<decltype(value)>(*keeps++ ? static_cast<double>(value) * scale : 0);
  });
}

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const double ratio, DropRatio(context));
  if (ratio > 0) return Drop(context, ratio);
  KHEYA_RETURN_IF_ERROR(context.SetOutput(0, context.input_value(0)));
  if (!context.wants_output(1)) return OkStatus();
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView mask, MaskOutput(context));
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
                          .evaluate = Evaluate,
                          .deterministic = false};

}  // namespace kheya
