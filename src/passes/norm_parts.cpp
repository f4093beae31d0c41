#include "passes/norm_parts.h"

#include <algorithm>

#include "ops/contexts.h"
#include "passes/match.h"

namespace kheya {
namespace {

// Sqrt(mean + epsilon), or Pow(mean + epsilon, exponent): what is under the root.
std::optional<InverseRoot> MatchSum(const Graph& graph, ValueId sum) {
  const NodeId add = ProducerOf(graph, sum, "Add");
  if (!add.valid()) return std::nullopt;
  for (ValueId operand : graph.node(add).inputs) {
    const std::optional<double> epsilon = ConstantScalar(graph, operand);
    const ValueId mean = OtherInput(graph.node(add), operand);
    const NodeId reduce = ProducerOf(graph, mean, "ReduceMean");
    if (!epsilon || !reduce.valid()) continue;
    const ValueId squared = OperandOfSquare(graph, graph.node(reduce).inputs[0]);
    if (squared.valid()) return InverseRoot{mean, squared, *epsilon};
  }
  return std::nullopt;
}

std::optional<InverseRoot> MatchRoot(const Graph& graph, ValueId value) {
  const NodeId sqrt = ProducerOf(graph, value, "Sqrt");
  if (sqrt.valid()) return MatchSum(graph, graph.node(sqrt).inputs[0]);
  const NodeId pow = ProducerOf(graph, value, "Pow");
  if (!pow.valid() || !IsScalar(graph, graph.node(pow).inputs[1], 0.5)) return std::nullopt;
  return MatchSum(graph, graph.node(pow).inputs[0]);
}

}  // namespace

std::optional<int64_t> FirstAxisOfMean(const Graph& graph, ValueId value) {
  const NodeId mean = ProducerOf(graph, value, "ReduceMean");
  if (!mean.valid()) return std::nullopt;
  const Node& node = graph.node(mean);
  const SymbolicShape* shape = ShapeOf(graph, node.inputs[0]);
  const auto axes = ConstantInts(graph, InputOf(node, 1));
  if (shape == nullptr || !axes || axes->empty()) return std::nullopt;
  if (AttributeReader(node).Int("keepdims", 1) == 0) return std::nullopt;
  const auto rank = static_cast<int64_t>(shape->size());
  std::vector<int64_t> sorted;
  for (int64_t axis : *axes) sorted.push_back(axis < 0 ? axis + rank : axis);
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != rank - static_cast<int64_t>(sorted.size() - i)) return std::nullopt;
  }
  return sorted[0];
}

ValueId OperandOfSquare(const Graph& graph, ValueId value) {
  const NodeId pow = ProducerOf(graph, value, "Pow");
  if (pow.valid() && IsScalar(graph, graph.node(pow).inputs[1], 2)) {
    return graph.node(pow).inputs[0];
  }
  const NodeId mul = ProducerOf(graph, value, "Mul");
  const bool square = mul.valid() && graph.node(mul).inputs[0] == graph.node(mul).inputs[1];
  return square ? graph.node(mul).inputs[0] : ValueId();
}

std::optional<InverseRoot> MatchInverseRoot(const Graph& graph, ValueId value) {
  if (const NodeId node = ProducerOf(graph, value, "Reciprocal"); node.valid()) {
    return MatchRoot(graph, graph.node(node).inputs[0]);
  }
  if (const NodeId div = ProducerOf(graph, value, "Div"); div.valid()) {
    if (!IsScalar(graph, graph.node(div).inputs[0], 1)) return std::nullopt;
    return MatchRoot(graph, graph.node(div).inputs[1]);
  }
  const NodeId pow = ProducerOf(graph, value, "Pow");
  if (!pow.valid() || !IsScalar(graph, graph.node(pow).inputs[1], -0.5)) return std::nullopt;
  return MatchSum(graph, graph.node(pow).inputs[0]);
}

std::optional<Quotient> MatchQuotient(const Graph& graph, const Node& node) {
  if (IsOp(node, "Div")) {
    const auto root = MatchRoot(graph, node.inputs[1]);
    return root ? std::optional(Quotient{node.inputs[0], *root}) : std::nullopt;
  }
  if (!IsOp(node, "Mul")) return std::nullopt;
  for (size_t i = 0; i < 2; ++i) {
    if (const auto root = MatchInverseRoot(graph, node.inputs[i])) {
      return Quotient{node.inputs[1 - i], *root};
    }
  }
  return std::nullopt;
}

std::optional<Affine> MatchAffine(const Graph& graph, ValueId value, const char* op,
                                  const SymbolicShape& normalized) {
  const std::optional<Use> use = SoleUse(graph, value);
  if (!use || !IsOp(graph.node(use->node), op)) return std::nullopt;
  const ValueId other = OtherInput(graph.node(use->node), value);
  if (graph.Constant(other) == nullptr || !SameShape(*ShapeOf(graph, other), normalized)) {
    return std::nullopt;
  }
  return Affine{use->node, other};
}

}  // namespace kheya
