// Elementwise functions of one float tensor with attributes.
#include "kernels/reference/elementwise.h"
#include "kernels/reference/scalar_functions.h"
#include "ops/infer_util.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kFloats[] = {{"X", types::kFloat, 'T'}};
constexpr AttributeDef kAlpha[] = {{"alpha", AttributeKind::kFloat}};
constexpr AttributeDef kAlphaBeta[] = {{"alpha", AttributeKind::kFloat},
                                       {"beta", AttributeKind::kFloat}};
constexpr AttributeDef kAlphaGamma[] = {{"alpha", AttributeKind::kFloat},
                                        {"gamma", AttributeKind::kFloat}};
constexpr AttributeDef kApproximate[] = {{"approximate", AttributeKind::kString}};

template <typename Function>
Status Map(EvalContext& context, Function function) {
  const Tensor& x = context.input(0);
  KHEYA_ASSIGN_OR_RETURN(auto y, context.Output(0, x.dtype(), x.shape()));
  return kernels::MapReal(x.view(), y, function);
}

float Alpha(EvalContext& context, float missing) {
  return context.attributes().Float("alpha", missing);
}

Status EvaluateLeakyRelu(EvalContext& context) {
  return Map(context, kernels::LeakyReluFn{Alpha(context, 0.01f)});
}

Status EvaluateElu(EvalContext& context) {
  return Map(context, kernels::EluFn{Alpha(context, 1.0f)});
}

Status EvaluateCelu(EvalContext& context) {
  return Map(context, kernels::CeluFn{Alpha(context, 1.0f)});
}

Status EvaluateSelu(EvalContext& context) {
  const float gamma = context.attributes().Float("gamma", 1.05070102214813232421875f);
  return Map(context, kernels::SeluFn{Alpha(context, 1.67326319217681884765625f), gamma});
}

Status EvaluateThresholdedRelu(EvalContext& context) {
  return Map(context, kernels::ThresholdedReluFn{Alpha(context, 1.0f)});
}

Status EvaluateHardSigmoid(EvalContext& context) {
  const float beta = context.attributes().Float("beta", 0.5f);
  return Map(context, kernels::HardSigmoidFn{Alpha(context, 0.2f), beta});
}

Status EvaluateSwish(EvalContext& context) {
  return Map(context, kernels::SwishFn{Alpha(context, 1.0f)});
}

Status EvaluateGelu(EvalContext& context) {
  const std::string approximate = context.attributes().String("approximate", "none");
  if (approximate == "none") return Map(context, kernels::GeluFn());
  if (approximate == "tanh") return Map(context, kernels::TanhGeluFn());
  return InvalidArgumentError("found approximate '{}', expected 'none' or 'tanh'", approximate);
}

constexpr OpDef Op(const char* name, std::span<const AttributeDef> attributes,
                   Status (*evaluate)(EvalContext&)) {
  return {.domain = "",
          .name = name,
          .category = "elementwise",
          .inputs = kFloats,
          .outputs = kFloats,
          .attributes = attributes,
          .infer = InferSameType,
          .evaluate = evaluate};
}

}  // namespace

extern const OpDef kCeluOp;
const OpDef kCeluOp = Op("Celu", kAlpha, EvaluateCelu);
extern const OpDef kEluOp;
const OpDef kEluOp = Op("Elu", kAlpha, EvaluateElu);
extern const OpDef kGeluOp;
const OpDef kGeluOp = Op("Gelu", kApproximate, EvaluateGelu);
extern const OpDef kHardSigmoidOp;
const OpDef kHardSigmoidOp = Op("HardSigmoid", kAlphaBeta, EvaluateHardSigmoid);
extern const OpDef kLeakyReluOp;
const OpDef kLeakyReluOp = Op("LeakyRelu", kAlpha, EvaluateLeakyRelu);
extern const OpDef kSeluOp;
const OpDef kSeluOp = Op("Selu", kAlphaGamma, EvaluateSelu);
extern const OpDef kSwishOp;
const OpDef kSwishOp = Op("Swish", kAlpha, EvaluateSwish);
extern const OpDef kThresholdedReluOp;
const OpDef kThresholdedReluOp = Op("ThresholdedRelu", kAlpha, EvaluateThresholdedRelu);

}  // namespace kheya
