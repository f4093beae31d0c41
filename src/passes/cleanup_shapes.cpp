#include "passes/cleanup_shapes.h"

#include <algorithm>

#include "ops/contexts.h"
#include "passes/match.h"
#include "passes/reshape_target.h"

namespace kheya {
namespace {

// The target from its propagated elements; a literal -1 or 0 among them stays what it is.
std::optional<std::vector<int64_t>> TargetFromElements(const SymbolicShape* input,
                                                       const std::vector<Dim>& elements) {
  std::vector<int64_t> target;
  bool keeps = false;
  bool computed_open = false;
  for (size_t i = 0; i < elements.size(); ++i) {
    if (elements[i].known()) {
      target.push_back(elements[i].value());
    } else if (input != nullptr && i < input->size() && (*input)[i] == elements[i]) {
      target.push_back(0);
      keeps = true;
    } else {
      target.push_back(-1);
      computed_open = true;
    }
  }
  if (std::count(target.begin(), target.end(), -1) > 1) return std::nullopt;
  // As in ReshapeTarget; but a -1 that the model itself asks for may stand beside a kept dimension.
  if (computed_open && (keeps || std::count(target.begin(), target.end(), 0) > 0)) {
    return std::nullopt;
  }
  return target;
}

Status Visit(Graph& graph, NodeId id, PassContext& context) {
  const Node& node = graph.node(id);
  if (!IsOp(node, "Reshape") || node.inputs.size() != 2 || !node.inputs[1].valid()) {
    return OkStatus();
  }
  const GraphValue& shape = graph.value(node.inputs[1]);
  if (shape.origin == ValueOrigin::kConstant || AttributeReader(node).Int("allowzero", 0) != 0) {
    return OkStatus();
  }
  const SymbolicShape* input = ShapeOf(graph, node.inputs[0]);
  std::optional<std::vector<int64_t>> target;
  if (shape.elements) target = TargetFromElements(input, *shape.elements);
  const SymbolicShape* output = ShapeOf(graph, node.outputs[0]);
  if (!target && output != nullptr) target = ReshapeTarget(input, *output);
  if (!target) {
    context.Note(node, "its target '{}' has more than one unknown dimension", shape.name);
    return OkStatus();
  }
  Patch patch(graph);
  patch.SetInput(id, 1, patch.AddConstant(shape.name + "_target", MakeInts(*target)));
  return context.Apply(patch);
}

}  // namespace

Status CleanupShapes(Graph& graph, PassContext& context) {
  return VisitNodes(graph, context, Visit);
}

}  // namespace kheya
