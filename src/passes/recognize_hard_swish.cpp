#include "passes/recognize_hard_swish.h"

#include "ops/contexts.h"
#include "passes/match.h"

namespace kheya {
namespace {

Status Visit(Graph& graph, NodeId id, PassContext& context) {
  const Node& node = graph.node(id);
  if (!IsOp(node, "Mul")) return OkStatus();
  for (ValueId operand : node.inputs) {
    const NodeId gate = ProducerOf(graph, operand, "HardSigmoid");
    if (!gate.valid() || graph.node(gate).inputs[0] != OtherInput(node, operand)) continue;
    const AttributeReader attributes(graph.node(gate));
    if (attributes.Float("alpha", 0.2f) != 1.0f / 6.0f || attributes.Float("beta", 0.5f) != 0.5f) {
      context.Note(node, "its HardSigmoid has other slopes than HardSwish");
      return OkStatus();
    }
    Patch patch(graph);
    return context.Replace(
        graph, patch, node.outputs[0],
        {.op = "HardSwish", .name = node.name, .inputs = {graph.node(gate).inputs[0]}});
  }
  return OkStatus();
}

}  // namespace

Status RecognizeHardSwish(Graph& graph, PassContext& context) {
  return VisitNodes(graph, context, Visit);
}

}  // namespace kheya
