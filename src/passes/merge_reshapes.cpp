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
  return context.Replace(graph, patch, node.outputs[0],
                         {.op = "Reshape", .name = node.name, .inputs = {first.inputs[0], shape}});
}

}  // namespace

Status MergeReshapes(Graph& graph, PassContext& context) {
  return VisitNodesInOrder(graph, context, Visit);
}

}  // namespace kheya
