#include "passes/merge_transposes.h"

#include "passes/match.h"
#include "passes/permutation.h"

namespace kheya {
namespace {

Status Visit(Graph& graph, NodeId id, PassContext& context) {
  const Node& node = graph.node(id);
  if (!IsOp(node, "Transpose") || node.inputs.empty()) return OkStatus();
  const NodeId first = ProducerOf(graph, node.inputs[0], "Transpose");
  if (!first.valid()) return OkStatus();
  const Perm outer = PermOf(graph, node);
  const Perm inner = PermOf(graph, graph.node(first));
  if (outer.empty() || outer.size() != inner.size()) {
    context.Note(node, "the ranks of two Transposes in a row are not known");
    return OkStatus();
  }
  Patch patch(graph);
  patch.SetInput(id, 0, graph.node(first).inputs[0]);
  patch.SetAttribute(id, {"perm", Compose(inner, outer)});
  return context.Apply(patch);
}

}  // namespace

Status MergeTransposes(Graph& graph, PassContext& context) {
  return VisitNodesInOrder(graph, context, Visit);
}

}  // namespace kheya
