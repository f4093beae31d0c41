#include "passes/remove_dead_nodes.h"

#include <algorithm>

namespace kheya {
namespace {

// Marks the nodes that a graph output needs.
std::vector<bool> FindLive(const Graph& graph, const std::vector<NodeId>& order) {
  std::vector<bool> live(static_cast<size_t>(graph.node_index_bound()), false);
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    for (ValueId output : graph.node(*it).outputs) {
      if (!output.valid()) continue;
      const std::vector<Use>& uses = graph.value(output).uses;
      const bool needed = graph.IsOutput(output) ||
                          std::any_of(uses.begin(), uses.end(),
                                      [&](const Use& use) { return live[use.node.index]; });
      if (needed) live[it->index] = true;
    }
  }
  return live;
}

}  // namespace

Status RemoveDeadNodes(Graph& graph, PassContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const std::vector<NodeId> order, graph.TopologicalOrder());
  const std::vector<bool> live = FindLive(graph, order);
  Patch patch(graph);
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (!live[it->index]) patch.RemoveNode(*it);
  }
  for (ValueId id : graph.ValueIds()) {
    const GraphValue& value = graph.value(id);
    if (value.origin == ValueOrigin::kNode || value.origin == ValueOrigin::kInput) continue;
    const bool needed =
        graph.IsOutput(id) || std::any_of(value.uses.begin(), value.uses.end(),
                                          [&](const Use& use) { return live[use.node.index]; });
    if (!needed) patch.RemoveValue(id);
  }
  return patch.empty() ? OkStatus() : context.Apply(patch);
}

}  // namespace kheya
