// kheya.FusedConv: y = activation(Conv(x, w, bias) + residual), with the attributes of Conv and
// those of ops/fused_activation.h. The residual has the shape of y.
#include "kernels/reference/conv.h"
#include "ops/conv_attributes.h"
#include "ops/fused_activation.h"
#include "ops/op.h"
#include "ops/wide.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"X", types::kFloat, 'T'},
                                {"W", types::kFloat, 'T'},
                                {"B", types::kFloat, 'T', Presence::kOptional},
                                {"residual", types::kFloat, 'T', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"Y", types::kFloat, 'T'}};
constexpr AttributeDef kAttributes[] = {
    {"auto_pad", AttributeKind::kString},   {"dilations", AttributeKind::kInts},
    {"group", AttributeKind::kInt},         {"kernel_shape", AttributeKind::kInts},
    {"pads", AttributeKind::kInts},         {"strides", AttributeKind::kInts},
    {"activation", AttributeKind::kString}, {"activation_params", AttributeKind::kFloats}};

Status Infer(InferContext& context) {
  KHEYA_RETURN_IF_ERROR(CheckActivation(context.attributes()));
  return FindOp("", "Conv")->infer(context);
}

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(Tensor x, WideInput(context, 0));
  KHEYA_ASSIGN_OR_RETURN(Tensor w, WideInput(context, 1));
  KHEYA_ASSIGN_OR_RETURN(Tensor bias, WideInput(context, 2));
  KHEYA_ASSIGN_OR_RETURN(Tensor residual, WideInput(context, 3));
  KHEYA_ASSIGN_OR_RETURN(kernels::ConvParams params,
                         ReadConv(context.attributes(), x.shape(), w.shape()));
  KHEYA_ASSIGN_OR_RETURN(Shape shape, ConvOutputShape(params, x.shape(), w.shape()));
  KHEYA_RETURN_IF_ERROR(CheckConvBias(bias, shape));
  KHEYA_ASSIGN_OR_RETURN(WideOutput y,
                         WideOutput::Create(context, 0, context.input(0).dtype(), shape));
  KHEYA_RETURN_IF_ERROR(kernels::Conv(params, x.view(), w.view(), bias.view(), y.view()));
  KHEYA_RETURN_IF_ERROR(AddResidual(residual, y.view()));
  KHEYA_RETURN_IF_ERROR(ApplyActivation(context.attributes(), y.view()));
  return y.Finish();
}

std::optional<int64_t> Macs(const Graph& graph, const Node& node) {
  return ConvMacsOf(graph, node, node.outputs[0]);
}

}  // namespace

extern const OpDef kFusedConvOp;
const OpDef kFusedConvOp = {.domain = kInternalDomain,
                            .name = "FusedConv",
                            .category = "fused",
                            .inputs = kInputs,
                            .outputs = kOutputs,
                            .attributes = kAttributes,
                            .infer = Infer,
                            .evaluate = Evaluate,
                            .macs = Macs};

}  // namespace kheya
