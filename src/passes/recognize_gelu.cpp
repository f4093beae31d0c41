#include "passes/recognize_gelu.h"

#include <numbers>

#include "passes/match.h"
#include "passes/product.h"

namespace kheya {
namespace {

// For 1 + Erf(x / sqrt(2)): x. An invalid id otherwise.
ValueId ArgumentOfErf(const Graph& graph, ValueId value) {
  const NodeId add = ProducerOf(graph, value, "Add");
  if (!add.valid()) return ValueId();
  const std::optional<ValueId> operand = OperandBesideScalar(graph, graph.node(add), 1.0);
  const NodeId erf = operand ? ProducerOf(graph, *operand, "Erf") : NodeId();
  if (!erf.valid()) return ValueId();
  const Product inner = ProductOf(graph, graph.node(erf).inputs[0]);
  const bool scaled = inner.factors.size() == 1 && IsNear(inner.scale, 1 / std::numbers::sqrt2);
  return scaled ? inner.factors[0] : ValueId();
}

Status Visit(Graph& graph, NodeId id, PassContext& context) {
  const Node& node = graph.node(id);
  if (!IsOp(node, "Mul") && !IsOp(node, "Div")) return OkStatus();
  const Product product = ProductOf(graph, node.outputs[0]);
  if (product.factors.size() != 2) return OkStatus();
  ValueId x;
  for (size_t i = 0; i < 2; ++i) {
    const ValueId argument = ArgumentOfErf(graph, product.factors[i]);
    if (argument.valid() && argument == product.factors[1 - i]) x = argument;
  }
  if (!x.valid()) return OkStatus();
  if (!IsNear(product.scale, 0.5)) {
    // A product behind this one may bring the rest.
    const std::optional<Use> use = SoleUse(graph, node.outputs[0]);
    if (use && (graph.node(use->node).op == "Mul" || graph.node(use->node).op == "Div")) {
      return OkStatus();
    }
    context.Note(node, "x (1 + Erf(x / sqrt(2))) is scaled by {}, expected 0.5", product.scale);
    return OkStatus();
  }
  if (!SameShape(graph, x, node.outputs[0])) {
    context.Note(node, "the shapes of x and of the product differ or are not known");
    return OkStatus();
  }
  Patch patch(graph);
  return context.Replace(graph, patch, node.outputs[0],
                         {.op = "Gelu", .name = node.name, .inputs = {x}});
}

}  // namespace

Status RecognizeGelu(Graph& graph, PassContext& context) {
  return VisitNodes(graph, context, Visit);
}

}  // namespace kheya
