#include "passes/recognize_silu.h"

#include "passes/match.h"

namespace kheya {
namespace {

Status Visit(Graph& graph, NodeId id, PassContext& context) {
  const Node& node = graph.node(id);
  if (!IsOp(node, "Mul")) return OkStatus();
  for (ValueId operand : node.inputs) {
    const NodeId sigmoid = ProducerOf(graph, operand, "Sigmoid");
    if (!sigmoid.valid() || graph.node(sigmoid).inputs[0] != OtherInput(node, operand)) continue;
    Patch patch(graph);
    return context.Replace(
        graph, patch, node.outputs[0],
        {.op = "Swish", .name = node.name, .inputs = {graph.node(sigmoid).inputs[0]}});
  }
  return OkStatus();
}

}  // namespace

Status RecognizeSilu(Graph& graph, PassContext& context) {
  return VisitNodes(graph, context, Visit);
}

}  // namespace kheya
