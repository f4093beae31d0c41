#include "passes/recognize_mish.h"

#include "passes/match.h"

namespace kheya {
namespace {

Status Visit(Graph& graph, NodeId id, PassContext& context) {
  const Node& node = graph.node(id);
  if (!IsOp(node, "Mul")) return OkStatus();
  for (ValueId operand : node.inputs) {
    const NodeId tanh = ProducerOf(graph, operand, "Tanh");
    if (!tanh.valid()) continue;
    const NodeId softplus = ProducerOf(graph, graph.node(tanh).inputs[0], "Softplus");
    if (!softplus.valid()) continue;
    const ValueId x = graph.node(softplus).inputs[0];
    if (x != OtherInput(node, operand)) {
      context.Note(node, "it is not the argument of Softplus that Tanh(Softplus(x)) multiplies");
      continue;
    }
    Patch patch(graph);
    return context.Replace(graph, patch, node.outputs[0],
                           {.op = "Mish", .name = node.name, .inputs = {x}});
  }
  return OkStatus();
}

}  // namespace

Status RecognizeMish(Graph& graph, PassContext& context) {
  return VisitNodes(graph, context, Visit);
}

}  // namespace kheya
