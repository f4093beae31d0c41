#include "passes/merge_transposes.h"

#include <algorithm>

#include "ops/contexts.h"
#include "passes/match.h"

namespace kheya {
namespace {

// The permutation of a Transpose; empty when it reverses axes of unknown number.
std::vector<int64_t> PermOf(const Graph& graph, const Node& node) {
  std::vector<int64_t> perm = AttributeReader(node).Ints("perm");
  const SymbolicShape* shape = ShapeOf(graph, node.inputs[0]);
  if (perm.empty() && shape != nullptr) {
    for (size_t i = shape->size(); i > 0; --i) perm.push_back(static_cast<int64_t>(i) - 1);
  }
  const auto size = static_cast<int64_t>(perm.size());
  const bool sound =
      std::all_of(perm.begin(), perm.end(), [&](int64_t axis) { return axis >= 0 && axis < size; });
  return sound ? perm : std::vector<int64_t>();
}

Status Visit(Graph& graph, NodeId id, PassContext& context) {
  const Node& node = graph.node(id);
  if (!IsOp(node, "Transpose") || node.inputs.empty()) return OkStatus();
  const NodeId first = ProducerOf(graph, node.inputs[0], "Transpose");
  if (!first.valid()) return OkStatus();
  const std::vector<int64_t> outer = PermOf(graph, node);
  const std::vector<int64_t> inner = PermOf(graph, graph.node(first));
  if (outer.empty() || outer.size() != inner.size()) {
    context.Note(node, "the ranks of two Transposes in a row are not known");
    return OkStatus();
  }
  std::vector<int64_t> both;
  for (int64_t axis : outer) both.push_back(inner[axis]);
  Patch patch(graph);
  patch.SetInput(id, 0, graph.node(first).inputs[0]);
  patch.SetAttribute(id, {"perm", both});
  return context.Apply(patch);
}

}  // namespace

Status MergeTransposes(Graph& graph, PassContext& context) {
  return VisitNodesInOrder(graph, context, Visit);
}

}  // namespace kheya
