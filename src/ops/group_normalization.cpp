// GroupNormalization, InstanceNormalization: each group of channels of each image, then scale and
// bias by channel.
#include "kernels/reference/norm.h"
#include "ops/axes.h"
#include "ops/channel_input.h"
#include "ops/op.h"
#include "ops/wide.h"

namespace kheya {
namespace {

constexpr ParamDef kGroupInputs[] = {
    {"X", types::kFloat, 'T'}, {"scale", types::kFloat, 'T'}, {"bias", types::kFloat, 'T'}};
constexpr ParamDef kGroupOutputs[] = {{"Y", types::kFloat, 'T'}};
constexpr AttributeDef kGroupAttributes[] = {{"epsilon", AttributeKind::kFloat},
                                             {"num_groups", AttributeKind::kInt, true},
                                             {"stash_type", AttributeKind::kInt}};
constexpr ParamDef kInstanceInputs[] = {
    {"input", types::kFloat, 'T'}, {"scale", types::kFloat, 'T'}, {"B", types::kFloat, 'T'}};
constexpr ParamDef kInstanceOutputs[] = {{"output", types::kFloat, 'T'}};
constexpr AttributeDef kInstanceAttributes[] = {{"epsilon", AttributeKind::kFloat}};

Status Infer(InferContext& context) {
  return context.SetOutput(0, context.input_dtype(0), ShapeOrNull(context, 0));
}

// `groups` 0: as many as channels.
Status EvaluateGroups(EvalContext& context, int64_t groups) {
  KHEYA_ASSIGN_OR_RETURN(Tensor x, WideInput(context, 0));
  const Shape& shape = x.shape();
  if (shape.rank() < 2) {
    return InvalidArgumentError("found input {}, expected rank 2 or more", shape.ToString());
  }
  const int64_t channels = shape[1];
  if (groups == 0) groups = channels;
  if (groups < 0 || (groups > 0 && channels % groups != 0)) {
    return InvalidArgumentError("found {} groups of {} channels, expected a divisor", groups,
                                channels);
  }
  KHEYA_ASSIGN_OR_RETURN(std::vector<double> scale, ChannelInput(context, 1, channels));
  KHEYA_ASSIGN_OR_RETURN(std::vector<double> bias, ChannelInput(context, 2, channels));
  KHEYA_ASSIGN_OR_RETURN(WideOutput y,
                         WideOutput::Create(context, 0, context.input(0).dtype(), shape));
  const int64_t inner = shape.Product(2, shape.rank());
  const kernels::NormParams params = {shape[0] * groups,
                                      groups == 0 ? 0 : channels / groups * inner,
                                      context.attributes().Float("epsilon", 1e-5f)};
  KHEYA_RETURN_IF_ERROR(kernels::NormalizeRows(params, x.view(), y.view(), {}, {}));
  KHEYA_RETURN_IF_ERROR(kernels::ScaleChannels(shape[0], scale, bias, inner, y.view(), y.view()));
  return y.Finish();
}

Status EvaluateGroup(EvalContext& context) {
  const int64_t groups = context.attributes().Int("num_groups", 0);
  if (groups < 1) return InvalidArgumentError("found {} groups, expected at least 1", groups);
  return EvaluateGroups(context, groups);
}

Status EvaluateInstance(EvalContext& context) { return EvaluateGroups(context, 0); }

}  // namespace

extern const OpDef kGroupNormalizationOp;
const OpDef kGroupNormalizationOp = {.domain = "",
                                     .name = "GroupNormalization",
                                     .category = "normalization",
                                     .inputs = kGroupInputs,
                                     .outputs = kGroupOutputs,
                                     .attributes = kGroupAttributes,
                                     .infer = Infer,
                                     .evaluate = EvaluateGroup};

extern const OpDef kInstanceNormalizationOp;
const OpDef kInstanceNormalizationOp = {.domain = "",
                                        .name = "InstanceNormalization",
                                        .category = "normalization",
                                        .inputs = kInstanceInputs,
                                        .outputs = kInstanceOutputs,
                                        .attributes = kInstanceAttributes,
                                        .infer = Infer,
                                        .evaluate = EvaluateInstance};

}  // namespace kheya
