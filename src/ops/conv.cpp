#include "kernels/reference/conv.h"

#include <vector>

#include "ops/axes.h"
#include "ops/conv_attributes.h"
#include "ops/op.h"
#include "ops/wide.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"X", types::kFloat, 'T'},
                                {"W", types::kFloat, 'T'},
                                {"B", types::kFloat, 'T', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"Y", types::kFloat, 'T'}};
constexpr AttributeDef kAttributes[] = {
    {"auto_pad", AttributeKind::kString}, {"dilations", AttributeKind::kInts},
    {"group", AttributeKind::kInt},       {"kernel_shape", AttributeKind::kInts},
    {"pads", AttributeKind::kInts},       {"strides", AttributeKind::kInts}};

Status Infer(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(std::optional<SymbolicShape> shape, InferConvShape(context, 0, 1));
  return context.SetOutput(0, context.input_dtype(0), std::move(shape));
}

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(Tensor x, WideInput(context, 0));
  KHEYA_ASSIGN_OR_RETURN(Tensor w, WideInput(context, 1));
  KHEYA_ASSIGN_OR_RETURN(Tensor bias, WideInput(context, 2));
  KHEYA_ASSIGN_OR_RETURN(kernels::ConvParams params,
                         ReadConv(context.attributes(), x.shape(), w.shape()));
  KHEYA_ASSIGN_OR_RETURN(Shape shape, ConvOutputShape(params, x.shape(), w.shape()));
  KHEYA_RETURN_IF_ERROR(CheckConvBias(bias, shape));
  KHEYA_ASSIGN_OR_RETURN(WideOutput y,
                         WideOutput::Create(context, 0, context.input(0).dtype(), shape));
  KHEYA_RETURN_IF_ERROR(kernels::Conv(params, x.view(), w.view(), bias.view(), y.view()));
  return y.Finish();
}

std::optional<int64_t> Macs(const Graph& graph, const Node& node) {
  return ConvMacsOf(graph, node, node.outputs[0]);
}

}  // namespace

extern const OpDef kConvOp;
const OpDef kConvOp = {.domain = "",
                       .name = "Conv",
                       .category = "convolution and pooling",
                       .inputs = kInputs,
                       .outputs = kOutputs,
                       .attributes = kAttributes,
                       .infer = Infer,
                       .evaluate = Evaluate,
                       .macs = Macs};

}  // namespace kheya
