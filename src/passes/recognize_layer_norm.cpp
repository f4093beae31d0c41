#include "passes/recognize_layer_norm.h"

#include <algorithm>

#include "ops/contexts.h"
#include "passes/match.h"

namespace kheya {
namespace {

struct LayerNorm {
  ValueId x;
  int64_t axis = 0;  // the first of the normalized ones
  double epsilon = 0;
};

// The first reduced axis when `mean` is a ReduceMean over the last axes that keeps them.
std::optional<int64_t> FirstAxisOfMean(const Graph& graph, NodeId mean) {
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

// For Pow(d, 2) and Mul(d, d): d.
ValueId OperandOfSquare(const Graph& graph, ValueId value) {
  const NodeId pow = ProducerOf(graph, value, "Pow");
  if (pow.valid() && IsScalar(graph, graph.node(pow).inputs[1], 2)) {
    return graph.node(pow).inputs[0];
  }
  const NodeId mul = ProducerOf(graph, value, "Mul");
  const bool square = mul.valid() && graph.node(mul).inputs[0] == graph.node(mul).inputs[1];
  return square ? graph.node(mul).inputs[0] : ValueId();
}

// Matches Div(d, Sqrt(ReduceMean(d^2) + epsilon)) with d = Sub(x, ReduceMean(x)).
std::optional<LayerNorm> Match(const Graph& graph, const Node& div, PassContext& context) {
  const NodeId sub = ProducerOf(graph, div.inputs[0], "Sub");
  const NodeId sqrt = ProducerOf(graph, div.inputs[1], "Sqrt");
  if (!sub.valid() || !sqrt.valid()) return std::nullopt;
  const NodeId add = ProducerOf(graph, graph.node(sqrt).inputs[0], "Add");
  const NodeId mean = ProducerOf(graph, graph.node(sub).inputs[1], "ReduceMean");
  if (!add.valid() || !mean.valid()) return std::nullopt;
  LayerNorm found{.x = graph.node(sub).inputs[0]};
  NodeId variance;
  for (ValueId operand : graph.node(add).inputs) {
    if (const auto epsilon = ConstantScalar(graph, operand)) {
      found.epsilon = *epsilon;
      variance = ProducerOf(graph, OtherInput(graph.node(add), operand), "ReduceMean");
    }
  }
  if (!variance.valid()) return std::nullopt;
  if (graph.node(mean).inputs[0] != found.x ||
      OperandOfSquare(graph, graph.node(variance).inputs[0]) != div.inputs[0]) {
    context.Note(div, "the variance is not that of the numerator");
    return std::nullopt;
  }
  const auto axis = FirstAxisOfMean(graph, mean);
  if (!axis || axis != FirstAxisOfMean(graph, variance)) {
    context.Note(div, "the means are not both over the same last axes");
    return std::nullopt;
  }
  found.axis = *axis;
  return found;
}

// The constant operand of the only user of `value` when that is `op` and the constant has the shape
// of the normalized axes.
struct Affine {
  NodeId node;
  ValueId constant;
};
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

Status Visit(Graph& graph, NodeId id, PassContext& context) {
  const Node& div = graph.node(id);
  if (!IsOp(div, "Div")) return OkStatus();
  const std::optional<LayerNorm> found = Match(graph, div, context);
  if (!found) return OkStatus();
  if (DTypeOfValue(graph, found->x) != DType::kFloat32) {
    context.Note(div, "it computes in {}, expected float32",
                 DTypeName(DTypeOfValue(graph, found->x)));
    return OkStatus();
  }
  const SymbolicShape& shape = *ShapeOf(graph, found->x);
  const SymbolicShape normalized(shape.begin() + found->axis, shape.end());
  const auto scale = MatchAffine(graph, div.outputs[0], "Mul", normalized);
  if (!scale) {
    context.Note(div, "no Mul by a constant of shape {} is its only user", ToString(normalized));
    return OkStatus();
  }
  ValueId last = graph.node(scale->node).outputs[0];
  NodeSpec spec{.op = "LayerNormalization",
                .name = div.name,
                .inputs = {found->x, scale->constant},
                .attributes = {{"axis", found->axis - static_cast<int64_t>(shape.size())},
                               {"epsilon", static_cast<float>(found->epsilon)}}};
  if (const auto bias = MatchAffine(graph, last, "Add", normalized)) {
    spec.inputs.push_back(bias->constant);
    last = graph.node(bias->node).outputs[0];
  }
  Patch patch(graph);
  return context.Replace(graph, patch, last, std::move(spec));
}

}  // namespace

Status RecognizeLayerNorm(Graph& graph, PassContext& context) {
  return VisitNodes(graph, context, Visit);
}

}  // namespace kheya
