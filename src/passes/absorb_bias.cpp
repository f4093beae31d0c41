#include "passes/absorb_bias.h"

#include "ops/contexts.h"
#include "passes/channel_weights.h"
#include "passes/match.h"

namespace kheya {
namespace {

Status Visit(Graph& graph, NodeId id, PassContext& context) {
  const Node& conv = graph.node(id);
  if (!IsOp(conv, "Conv") && !IsOp(conv, "ConvTranspose")) return OkStatus();
  const std::optional<Use> use = SoleUse(graph, conv.outputs[0]);
  if (!use || !IsOp(graph.node(use->node), "Add")) return OkStatus();
  const Node& add = graph.node(use->node);
  const ValueId addend = OtherInput(add, conv.outputs[0]);
  if (graph.Constant(addend) == nullptr) return OkStatus();
  const SymbolicShape* shape = ShapeOf(graph, conv.outputs[0]);
  const std::optional<int64_t> channels = OutputChannels(graph, conv);
  if (shape == nullptr || !channels || DTypeOfValue(graph, addend) != DType::kFloat32) {
    context.Note(conv, "its channels are not known or its type is not float32");
    return OkStatus();
  }
  std::optional<std::vector<double>> bias =
      PerChannelConstant(graph, addend, *channels, static_cast<int>(shape->size()));
  const std::optional<std::vector<double>> own = BiasOf(graph, conv, *channels);
  if (!bias || !own) {
    context.Note(
        conv, "{}",
        own ? "the constant added to it differs within a channel" : "its bias is not constant");
    return OkStatus();
  }
  for (size_t i = 0; i < bias->size(); ++i) (*bias)[i] += (*own)[i];
  KHEYA_ASSIGN_OR_RETURN(Tensor tensor, MakeFloats(Shape{*channels}, *bias));
  Patch patch(graph);
  NodeSpec spec = SpecOf(conv);
  spec.inputs.resize(3);
  spec.inputs[2] = patch.AddConstant(graph.value(add.outputs[0]).name + "_bias", std::move(tensor));
  return context.Replace(graph, patch, add.outputs[0], std::move(spec));
}

}  // namespace

Status AbsorbBias(Graph& graph, PassContext& context) { return VisitNodes(graph, context, Visit); }

}  // namespace kheya
