#include "passes/recognize_rms_norm.h"

#include "passes/match.h"
#include "passes/norm_parts.h"

namespace kheya {
namespace {

Status Visit(Graph& graph, NodeId id, PassContext& context) {
  const Node& node = graph.node(id);
  const std::optional<Quotient> quotient = MatchQuotient(graph, node);
  if (!quotient || quotient->root.squared != quotient->numerator) return OkStatus();
  const ValueId x = quotient->numerator;
  const auto axis = FirstAxisOfMean(graph, quotient->root.mean);
  if (!axis) {
    context.Note(node, "the mean is not over the last axes");
    return OkStatus();
  }
  if (DTypeOfValue(graph, x) != DType::kFloat32) {
    context.Note(node, "it computes in {}, expected float32", DTypeName(DTypeOfValue(graph, x)));
    return OkStatus();
  }
  const SymbolicShape& shape = *ShapeOf(graph, x);
  const SymbolicShape normalized(shape.begin() + *axis, shape.end());
  const auto scale = MatchAffine(graph, node.outputs[0], "Mul", normalized);
  if (!scale) {
    context.Note(node, "no Mul by a constant of shape {} is its only user", ToString(normalized));
    return OkStatus();
  }
  Patch patch(graph);
  return context.Replace(graph, patch, graph.node(scale->node).outputs[0],
                         {.op = "RMSNormalization",
                          .name = node.name,
                          .inputs = {x, scale->constant},
                          .attributes = {{"axis", *axis - static_cast<int64_t>(shape.size())},
                                         {"epsilon", static_cast<float>(quotient->root.epsilon)}}});
}

}  // namespace

Status RecognizeRmsNorm(Graph& graph, PassContext& context) {
  return VisitNodes(graph, context, Visit);
}

}  // namespace kheya
