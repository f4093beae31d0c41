#include "passes/recognize_gelu_tanh.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "passes/match.h"
#include "passes/product.h"

namespace kheya {
namespace {

constexpr double kCubic = 0.044715;

// For 0.044715 x^count: x.
ValueId OperandOfPower(const Graph& graph, ValueId value, size_t count) {
  const Product power = ProductOf(graph, value);
  const bool same =
      power.factors.size() == count && IsNear(power.scale, kCubic) &&
      std::ranges::count(power.factors, power.factors[0]) == static_cast<int64_t>(count);
  return same ? power.factors[0] : ValueId();
}

// For x + 0.044715 x^3: x.
ValueId OperandOfCubic(const Graph& graph, ValueId value) {
  const NodeId add = ProducerOf(graph, value, "Add");
  if (!add.valid()) return ValueId();
  for (size_t i = 0; i < 2; ++i) {
    const ValueId x = graph.node(add).inputs[i];
    if (OperandOfPower(graph, graph.node(add).inputs[1 - i], 3) == x) return x;
  }
  return ValueId();
}

// For 1 + 0.044715 x^2: x.
ValueId OperandOfQuadratic(const Graph& graph, ValueId value) {
  const NodeId add = ProducerOf(graph, value, "Add");
  if (!add.valid()) return ValueId();
  const std::optional<ValueId> rest = OperandBesideScalar(graph, graph.node(add), 1.0);
  return rest ? OperandOfPower(graph, *rest, 2) : ValueId();
}

// For 1 + Tanh(sqrt(2 / pi) (x + 0.044715 x^3)): x. An invalid id otherwise.
ValueId ArgumentOfTanh(const Graph& graph, ValueId value) {
  const NodeId add = ProducerOf(graph, value, "Add");
  if (!add.valid()) return ValueId();
  const std::optional<ValueId> operand = OperandBesideScalar(graph, graph.node(add), 1.0);
  const NodeId tanh = operand ? ProducerOf(graph, *operand, "Tanh") : NodeId();
  if (!tanh.valid()) return ValueId();
  const Product inner = ProductOf(graph, graph.node(tanh).inputs[0]);
  if (!IsNear(inner.scale, std::sqrt(2 / std::numbers::pi))) return ValueId();
  if (inner.factors.size() == 1) return OperandOfCubic(graph, inner.factors[0]);
  if (inner.factors.size() != 2) return ValueId();
  for (size_t i = 0; i < 2; ++i) {
    if (OperandOfQuadratic(graph, inner.factors[i]) == inner.factors[1 - i]) {
      return inner.factors[1 - i];
    }
  }
  return ValueId();
}

Status Visit(Graph& graph, NodeId id, PassContext& context) {
  const Node& node = graph.node(id);
  if (!IsOp(node, "Mul") && !IsOp(node, "Div")) return OkStatus();
  const Product product = ProductOf(graph, node.outputs[0]);
  if (product.factors.size() != 2) return OkStatus();
  ValueId x;
  for (size_t i = 0; i < 2; ++i) {
    const ValueId argument = ArgumentOfTanh(graph, product.factors[i]);
    if (argument.valid() && argument == product.factors[1 - i]) x = argument;
  }
  if (!x.valid()) return OkStatus();
  if (!IsNear(product.scale, 0.5)) {
    // A product behind this one may bring the rest.
    const std::optional<Use> use = SoleUse(graph, node.outputs[0]);
    if (use && (graph.node(use->node).op == "Mul" || graph.node(use->node).op == "Div")) {
      return OkStatus();
    }
    context.Note(node, "x (1 + Tanh(...)) is scaled by {}, expected 0.5", product.scale);
    return OkStatus();
  }
  if (!SameShape(graph, x, node.outputs[0])) {
    context.Note(node, "the shapes of x and of the product differ or are not known");
    return OkStatus();
  }
  Patch patch(graph);
  return context.Replace(graph, patch, node.outputs[0],
                         {.op = "Gelu",
                          .name = node.name,
                          .inputs = {x},
                          .attributes = {{"approximate", std::string("tanh")}}});
}

}  // namespace

Status RecognizeGeluTanh(Graph& graph, PassContext& context) {
  return VisitNodes(graph, context, Visit);
}

}  // namespace kheya
