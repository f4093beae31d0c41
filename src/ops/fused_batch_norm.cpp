// kheya.FusedBatchNorm: y = activation(x scale + shift) for each channel of x [N, C, ...], scale
// and shift [C]. Attributes of ops/fused_activation.h.
#include "kernels/reference/norm.h"
#include "ops/axes.h"
#include "ops/channel_input.h"
#include "ops/fused_activation.h"
#include "ops/op.h"
#include "ops/wide.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {
    {"X", types::kFloat, 'T'}, {"scale", types::kFloat, 'T'}, {"shift", types::kFloat, 'T'}};
constexpr ParamDef kOutputs[] = {{"Y", types::kFloat, 'T'}};
constexpr AttributeDef kAttributes[] = {{"activation", AttributeKind::kString},
                                        {"activation_params", AttributeKind::kFloats}};

Status Infer(InferContext& context) {
  KHEYA_RETURN_IF_ERROR(CheckActivation(context.attributes()));
  return context.SetOutput(0, context.input_dtype(0), ShapeOrNull(context, 0));
}

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Tensor x, WideInput(context, 0));
  const Shape& shape = x.shape();
  if (shape.rank() < 2) {
    return InvalidArgumentError("found input {}, expected rank 2 or more", x.TypeString());
  }
  KHEYA_ASSIGN_OR_RETURN(const std::vector<double> scale, ChannelInput(context, 1, shape[1]));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<double> shift, ChannelInput(context, 2, shape[1]));
  KHEYA_ASSIGN_OR_RETURN(WideOutput y,
                         WideOutput::Create(context, 0, context.input(0).dtype(), shape));
  KHEYA_RETURN_IF_ERROR(kernels::ScaleChannels(shape[0], scale, shift,
                                               shape.Product(2, shape.rank()), x.view(), y.view()));
  KHEYA_RETURN_IF_ERROR(ApplyActivation(context.attributes(), y.view()));
  return y.Finish();
}

}  // namespace

extern const OpDef kFusedBatchNormOp;
const OpDef kFusedBatchNormOp = {.domain = kInternalDomain,
                                 .name = "FusedBatchNorm",
                                 .category = "fused",
                                 .inputs = kInputs,
                                 .outputs = kOutputs,
                                 .attributes = kAttributes,
                                 .infer = Infer,
                                 .evaluate = Evaluate};

}  // namespace kheya
