#include "passes/merge_reshapes.h"

#include "ops/contexts.h"
#include "passes/match.h"
#include "passes/reshape_target.h"

namespace kheya {
namespace {

bool IsReshaping(const Node& node) {
  return IsOp(node, "Reshape") || IsOp(node, "Flatten") || IsOp(node, "Squeeze") ||
         IsOp(node, "Unsqueeze");
}

Status Visit(Graph& graph, NodeId id, PassContext& context) {
  const Node& node = graph.node(id);
  if (!IsReshaping(node) || node.inputs.empty() || !node.inputs[0].valid()) return OkStatus();
  const GraphValue& between = graph.value(node.inputs[0]);
  if (between.origin != ValueOrigin::kNode || !IsReshaping(graph.node(between.producer))) {
    return OkStatus();
  }
  const Node& first = graph.node(between.producer);
  const SymbolicShape* output = ShapeOf(graph, node.outputs[0]);
  if (output == nullptr) return OkStatus();
  const auto target = ReshapeTarget(ShapeOf(graph, first.inputs[0]), *output);
  if (!target) {
    context.Note(node, "its shape {} has no constant target", ToString(*output));
    return OkStatus();
  }
  Patch patch(graph);
  const std::string& name = graph.value(node.outputs[0]).name;
  const ValueId shape = patch.AddConstant(name + "_target", MakeInts(*target));
  KHEYA_ASSIGN_OR_RETURN(const NodeId merged, patch.AddNode({.op = "Reshape",
                                                             .name = node.name,
                                                             .inputs = {first.inputs[0], shape},
                                                             .outputs = {name}}));
  patch.ReplaceValue(node.outputs[0], patch.Output(merged, 0));
  return context.Apply(patch);
}

}  // namespace

Status MergeReshapes(Graph& graph, PassContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const std::vector<NodeId> order, graph.TopologicalOrder());
  for (NodeId id : order) {
    if (graph.IsLive(id)) KHEYA_RETURN_IF_ERROR(Visit(graph, id, context));
  }
  return OkStatus();
}

}  // namespace kheya
