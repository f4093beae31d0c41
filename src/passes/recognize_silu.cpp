#include "passes/recognize_silu.h"

#include "passes/match.h"

namespace kheya {
namespace {

Status Visit(Graph& graph, NodeId id, PassContext& context) {
  const Node& node = graph.node(id);
  if (!IsOp(node, "Mul") || node.inputs.size() != 2) return OkStatus();
  for (ValueId operand : node.inputs) {
    const NodeId sigmoid = ProducerOf(graph, operand, "Sigmoid");
    if (!sigmoid.valid() || graph.node(sigmoid).inputs[0] != OtherInput(node, operand)) continue;
    Patch patch(graph);
    KHEYA_ASSIGN_OR_RETURN(const NodeId swish,
                           patch.AddNode({.op = "Swish",
                                          .name = node.name,
                                          .inputs = {graph.node(sigmoid).inputs[0]},
                                          .outputs = {graph.value(node.outputs[0]).name}}));
    patch.ReplaceValue(node.outputs[0], patch.Output(swish, 0));
    return context.Apply(patch);
  }
  return OkStatus();
}

}  // namespace

Status RecognizeSilu(Graph& graph, PassContext& context) {
  for (NodeId id : graph.NodeIds()) {
    if (graph.IsLive(id)) KHEYA_RETURN_IF_ERROR(Visit(graph, id, context));
  }
  return OkStatus();
}

}  // namespace kheya
