#include "formats/conformance/randomness.h"

#include <algorithm>

#include "ops/op.h"

namespace kheya::conformance {
namespace {

// Dropout draws nothing unless it is told that the model trains.
bool IsInferenceDropout(const Node& node) {
  return node.op == "Dropout" && (node.inputs.size() < 3 || !node.inputs[2].valid());
}

// What a node draws itself, or in its subgraphs.
Randomness DrawnBy(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const OpDef* op = FindOp(node.domain, node.op);
  auto drawn = Randomness::kNone;
  if (op != nullptr && !op->deterministic && !IsInferenceDropout(node)) {
    const bool seeded = node.FindAttribute("seed") != nullptr;
    drawn = seeded ? Randomness::kSeeded : Randomness::kUnseeded;
  }
  for (const Graph* subgraph : graph.Subgraphs(id)) {
    for (NodeId inner : subgraph->NodeIds()) drawn = std::max(drawn, DrawnBy(*subgraph, inner));
  }
  return drawn;
}

}  // namespace

Result<std::vector<Randomness>> RandomnessOfOutputs(const Graph& graph) {
  KHEYA_ASSIGN_OR_RETURN(const std::vector<NodeId> order, graph.TopologicalOrder());
  std::vector<Randomness> of_value(graph.value_index_bound(), Randomness::kNone);
  for (NodeId id : order) {
    const Node& node = graph.node(id);
    auto most = DrawnBy(graph, id);
    const auto depend = [&](ValueId value) {
      if (value.valid()) most = std::max(most, of_value[value.index]);
    };
    for (ValueId input : node.inputs) depend(input);
    for (const Graph* subgraph : graph.Subgraphs(id)) {
      for (ValueId capture : subgraph->captures()) depend(subgraph->value(capture).outer);
    }
    for (ValueId output : node.outputs) {
      if (output.valid()) of_value[output.index] = most;
    }
  }
  std::vector<Randomness> of_output;
  for (const GraphOutput& output : graph.outputs()) {
    of_output.push_back(of_value[output.value.index]);
  }
  return of_output;
}

}  // namespace kheya::conformance
