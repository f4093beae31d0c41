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
  const SymbolicShape* x = context.input_shape(0);
  const SymbolicShape* w = context.input_shape(1);
  const DType dtype = context.input_dtype(0);
  if (x == nullptr || w == nullptr) {
    const SymbolicShape* any = x != nullptr ? x : w;
    return context.SetOutput(
        0, dtype,
        any == nullptr ? std::nullopt : std::optional(UnknownDims(static_cast<int>(any->size()))));
  }
  if (x->size() != w->size() || x->size() < 3) {
    return InvalidArgumentError("found input {} and weights {}, expected equal ranks from 3 on",
                                ToString(*x), ToString(*w));
  }
  const int64_t groups = context.attributes().Int("group", 1);
  if (groups < 1) return InvalidArgumentError("found {} groups, expected at least 1", groups);
  const Dim channels = (*w)[1] * groups;
  if (channels.known() && (*x)[1].known() && channels.value() != (*x)[1].value()) {
    return InvalidArgumentError("found {} channels of input {}, weights {} expect {}",
                                (*x)[1].value(), ToString(*x), ToString(*w), channels.value());
  }
  KHEYA_ASSIGN_OR_RETURN(std::optional<WindowAttributes> window,
                         ReadConvWindow(context.attributes(), *w));
  if (!window) {
    SymbolicShape shape = UnknownDims(static_cast<int>(x->size()));
    shape[0] = (*x)[0];
    shape[1] = (*w)[0];
    return context.SetOutput(0, dtype, std::move(shape));
  }
  KHEYA_ASSIGN_OR_RETURN(SymbolicShape shape,
                         SymbolicWindowShape(*window, *x, (*w)[0], /*ceil=*/false));
  return context.SetOutput(0, dtype, std::move(shape));
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
