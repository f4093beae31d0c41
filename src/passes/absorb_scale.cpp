#include "passes/absorb_scale.h"

#include "passes/channel_weights.h"
#include "passes/match.h"

namespace kheya {
namespace {

// y = x * scale + shift for each channel, as one Mul or Add says it.
struct ChannelFunction {
  std::vector<double> scale;
  std::vector<double> shift;
  ValueId output;
};

// The Mul or Add by a constant for each channel that is the only user of `value`.
std::optional<ChannelFunction> FunctionBehind(const Graph& graph, ValueId value, int64_t channels) {
  const std::optional<Use> use = SoleUse(graph, value);
  const SymbolicShape* shape = ShapeOf(graph, value);
  if (!use || shape == nullptr || DTypeOfValue(graph, value) != DType::kFloat32) {
    return std::nullopt;
  }
  const Node& node = graph.node(use->node);
  const bool mul = IsOp(node, "Mul");
  if (!mul && !IsOp(node, "Add")) return std::nullopt;
  const auto values =
      PerChannelConstant(graph, OtherInput(node, value), channels, static_cast<int>(shape->size()));
  if (!values) return std::nullopt;
  const auto count = static_cast<size_t>(channels);
  if (mul) return ChannelFunction{*values, std::vector<double>(count, 0.0), node.outputs[0]};
  return ChannelFunction{std::vector<double>(count, 1.0), *values, node.outputs[0]};
}

// Replaces `node` and what is behind it by one with these constants as inputs `first` and on.
Status Replace(Graph& graph, const Node& node, ValueId output, size_t first,
               std::vector<Tensor> constants, PassContext& context) {
  const std::string name = graph.value(output).name;
  Patch patch(graph);
  NodeSpec spec = SpecOf(node);
  spec.inputs.resize(std::max(spec.inputs.size(), first + constants.size()));
  for (size_t i = 0; i < constants.size(); ++i) {
    const char* suffix = i == 0 ? "_weights" : "_bias";
    spec.inputs[first + i] = patch.AddConstant(name + suffix, std::move(constants[i]));
  }
  return context.Replace(graph, patch, output, std::move(spec));
}

// An addend alone is for absorb_bias, which needs no new weights.
Status VisitConv(Graph& graph, const Node& conv, PassContext& context) {
  const std::optional<int64_t> channels = OutputChannels(graph, conv);
  if (!channels || graph.Constant(conv.inputs[1]) == nullptr) return OkStatus();
  const auto function = FunctionBehind(graph, conv.outputs[0], *channels);
  if (!function || IsOp(graph.node(graph.value(function->output).producer), "Add")) {
    return OkStatus();
  }
  std::optional<std::vector<double>> bias = BiasOf(graph, conv, *channels);
  if (!bias) {
    context.Note(conv, "its bias is not constant");
    return OkStatus();
  }
  for (size_t i = 0; i < bias->size(); ++i) (*bias)[i] *= function->scale[i];
  KHEYA_ASSIGN_OR_RETURN(Tensor weights, ScaleWeights(graph, conv, function->scale));
  KHEYA_ASSIGN_OR_RETURN(Tensor shift, MakeFloats(Shape{*channels}, *bias));
  return Replace(graph, conv, function->output, 1, {std::move(weights), std::move(shift)}, context);
}

Status VisitBatchNorm(Graph& graph, const Node& norm, PassContext& context) {
  std::optional<std::vector<double>> scale = ConstantFloats(graph, norm.inputs[1]);
  std::optional<std::vector<double>> bias = ConstantFloats(graph, norm.inputs[2]);
  if (!scale || !bias || scale->size() != bias->size() || norm.outputs.size() != 1) {
    return OkStatus();
  }
  const auto channels = static_cast<int64_t>(scale->size());
  const auto function = FunctionBehind(graph, norm.outputs[0], channels);
  if (!function) return OkStatus();
  for (size_t i = 0; i < scale->size(); ++i) {
    (*scale)[i] *= function->scale[i];
    (*bias)[i] = (*bias)[i] * function->scale[i] + function->shift[i];
  }
  KHEYA_ASSIGN_OR_RETURN(Tensor new_scale, MakeFloats(Shape{channels}, *scale));
  KHEYA_ASSIGN_OR_RETURN(Tensor new_bias, MakeFloats(Shape{channels}, *bias));
  return Replace(graph, norm, function->output, 1, {std::move(new_scale), std::move(new_bias)},
                 context);
}

Status Visit(Graph& graph, NodeId id, PassContext& context) {
  const Node& node = graph.node(id);
  if (IsOp(node, "BatchNormalization")) return VisitBatchNorm(graph, node, context);
  if (IsOp(node, "Conv") || IsOp(node, "ConvTranspose")) return VisitConv(graph, node, context);
  return OkStatus();
}

}  // namespace

Status AbsorbScale(Graph& graph, PassContext& context) { return VisitNodes(graph, context, Visit); }

}  // namespace kheya
