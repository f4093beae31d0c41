// Cast and CastLike.
#include "kernels/reference/cast.h"

#include "ops/infer_util.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr TypeMask kTypes = types::kAll | types::kSmall;
constexpr ParamDef kInputs[] = {{"input", kTypes}};
constexpr ParamDef kLikeInputs[] = {{"input", kTypes}, {"target_type", kTypes}};
constexpr ParamDef kOutputs[] = {{"output", kTypes}};
constexpr AttributeDef kAttributes[] = {{"round_mode", AttributeKind::kString},
                                        {"saturate", AttributeKind::kInt},
                                        {"to", AttributeKind::kInt, true}};
constexpr AttributeDef kLikeAttributes[] = {{"round_mode", AttributeKind::kString},
                                            {"saturate", AttributeKind::kInt}};

Result<DType> TargetType(const AttributeReader& attributes) {
  const int64_t number = attributes.Int("to", 0);
  const std::optional<DType> dtype = DTypeFromOnnx(number);
  if (!dtype) return InvalidArgumentError("found element type number {} in 'to'", number);
  if ((kTypes & MaskOf({*dtype})) == 0) {
    return UnimplementedError("conversion to {} is not supported", DTypeName(*dtype));
  }
  return *dtype;
}

Status InferTo(InferContext& context, DType dtype) {
  KHEYA_RETURN_IF_ERROR(InferSameShape(context, dtype));
  if (dtype == DType::kBool) {
    PropagateUnary(context, [](const Dim& x) { return x.known() ? Dim(x.value() != 0) : Dim(); });
  } else {
    PropagateUnary(context, [](const Dim& x) { return x; });
  }
  return OkStatus();
}

Status InferCast(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(DType dtype, TargetType(context.attributes()));
  return InferTo(context, dtype);
}

Status InferCastLike(InferContext& context) { return InferTo(context, context.input_dtype(1)); }

Result<SmallOptions> OptionsOf(const AttributeReader& attributes) {
  SmallOptions options;
  options.saturate = attributes.Int("saturate", 1) != 0;
  const std::string mode = attributes.String("round_mode", "up");
  if (mode == "up") {
    options.rounding = SmallRounding::kUp;
  } else if (mode == "down") {
    options.rounding = SmallRounding::kDown;
  } else if (mode == "nearest") {
    options.rounding = SmallRounding::kNearest;
  } else {
    return InvalidArgumentError("found round_mode '{}', expected up, down or nearest", mode);
  }
  return options;
}

Status EvaluateTo(EvalContext& context, DType dtype) {
  const Tensor& input = context.input(0);
  KHEYA_ASSIGN_OR_RETURN(const SmallOptions options, OptionsOf(context.attributes()));
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView output, context.Output(0, dtype, input.shape()));
  return kernels::Cast(input.view(), output, options);
}

Status EvaluateCast(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(DType dtype, TargetType(context.attributes()));
  return EvaluateTo(context, dtype);
}

Status EvaluateCastLike(EvalContext& context) {
  return EvaluateTo(context, context.input(1).dtype());
}

}  // namespace

extern const OpDef kCastOp;
const OpDef kCastOp = {.domain = "",
                       .name = "Cast",
                       .category = "types",
                       .inputs = kInputs,
                       .outputs = kOutputs,
                       .attributes = kAttributes,
                       .infer = InferCast,
                       .evaluate = EvaluateCast};

extern const OpDef kCastLikeOp;
const OpDef kCastLikeOp = {.domain = "",
                           .name = "CastLike",
                           .category = "types",
                           .inputs = kLikeInputs,
                           .outputs = kOutputs,
                           .attributes = kLikeAttributes,
                           .infer = InferCastLike,
                           .evaluate = EvaluateCastLike};

}  // namespace kheya
