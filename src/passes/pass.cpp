#include "passes/pass.h"

#include <algorithm>

namespace kheya {

Status PassContext::Apply(Patch& patch) {
  KHEYA_RETURN_IF_ERROR(patch.Apply());
  ++changes;
  return OkStatus();
}

Status PassContext::Replace(const Graph& graph, Patch& patch, ValueId value, NodeSpec spec) {
  spec.outputs = {graph.value(value).name};
  KHEYA_ASSIGN_OR_RETURN(const NodeId added, patch.AddNode(std::move(spec)));
  patch.ReplaceValue(value, patch.Output(added, 0));
  return Apply(patch);
}

void PassContext::AddNote(const Node& node, const std::string& reason) {
  std::string note = fmt::format("{}: {}: {}", pass, node.Describe(), reason);
  std::vector<std::string>& notes = *options.notes;
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
}

namespace {

Status Visit(Graph& graph, const std::vector<NodeId>& ids, PassContext& context,
             NodeVisitor visit) {
  for (NodeId id : ids) {
    if (graph.IsLive(id)) KHEYA_RETURN_IF_ERROR(visit(graph, id, context));
  }
  return OkStatus();
}

}  // namespace

Status VisitNodes(Graph& graph, PassContext& context, NodeVisitor visit) {
  return Visit(graph, graph.NodeIds(), context, visit);
}

Status VisitNodesInOrder(Graph& graph, PassContext& context, NodeVisitor visit) {
  KHEYA_ASSIGN_OR_RETURN(const std::vector<NodeId> order, graph.TopologicalOrder());
  return Visit(graph, order, context, visit);
}

}  // namespace kheya
