#include "passes/gather_to_slice.h"

#include <algorithm>
#include <limits>

#include "ops/contexts.h"
#include "passes/match.h"

namespace kheya {
namespace {

constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
constexpr int64_t kFront = std::numeric_limits<int64_t>::min();
// The most outputs of a Split that is made.
constexpr int64_t kMostParts = 64;

// A Gather of constant places.
struct Taken {
  int64_t axis = 0;
  std::optional<int64_t> size;  // of the axis
  bool scalar = false;          // the axis goes
  std::vector<int64_t> places;  // from 0 on where the size is known
};

bool IsShapeArithmetic(const Graph& graph, ValueId value) {
  const SymbolicShape* shape = ShapeOf(graph, value);
  return IsInteger(DTypeOfValue(graph, value)) && (shape == nullptr || shape->size() < 2);
}

std::optional<Taken> ReadGather(const Graph& graph, const Node& node) {
  if (!IsOp(node, "Gather") || IsShapeArithmetic(graph, node.inputs[0])) return std::nullopt;
  const SymbolicShape* shape = ShapeOf(graph, node.inputs[0]);
  const Tensor* indices = graph.Constant(node.inputs[1]);
  if (shape == nullptr || indices == nullptr || indices->shape().rank() > 1) return std::nullopt;
  std::optional<std::vector<int64_t>> places = ConstantInts(graph, node.inputs[1]);
  const auto rank = static_cast<int64_t>(shape->size());
  int64_t axis = AttributeReader(node).Int("axis", 0);
  if (!places || places->empty() || axis < -rank || axis >= rank) return std::nullopt;
  if (axis < 0) axis += rank;
  Taken taken{axis, (*shape)[axis].maybe(), indices->shape().rank() == 0, *std::move(places)};
  for (int64_t& place : taken.places) {
    if (taken.size && place < 0) place += *taken.size;
  }
  return taken;
}

// Why there is no Slice for it; empty where there is.
std::string WhyNot(const Taken& taken) {
  const std::vector<int64_t>& places = taken.places;
  if (!taken.size) return taken.scalar ? "" : "the size of its axis is not known";
  for (int64_t place : places) {
    if (place < 0 || place >= *taken.size) return "a place is outside of its axis";
  }
  for (size_t i = 1; i < places.size(); ++i) {
    if (places[i] == places[i - 1]) return "a place is taken again";
    if (places[i] - places[i - 1] != places[1] - places[0]) {
      return "the distances of its places differ";
    }
  }
  return "";
}

// Where a Slice with this step ends behind the last place.
int64_t EndOf(int64_t last, int64_t step) {
  if (step > 0) return last == -1 ? kEnd : last + 1;
  return last == 0 ? kFront : last - 1;
}

Result<ValueId> AddSlice(Patch& patch, const Graph& graph, const Node& node, const Taken& taken) {
  const int64_t step = taken.places.size() > 1 ? taken.places[1] - taken.places[0] : 1;
  const std::string& name = graph.value(node.outputs[0]).name;
  const auto ints = [&](const char* what, int64_t value) {
    return patch.AddConstant(name + what, MakeInts({value}));
  };
  NodeSpec spec{.op = "Slice", .name = node.name, .outputs = {name}};
  spec.inputs = {node.inputs[0], ints("_start", taken.places.front()),
                 ints("_end", EndOf(taken.places.back(), step)), ints("_axis", taken.axis)};
  if (step != 1) spec.inputs.push_back(ints("_step", step));
  KHEYA_ASSIGN_OR_RETURN(const NodeId slice, patch.AddNode(std::move(spec)));
  return patch.Output(slice, 0);
}

// In place of the Gather's output: `part`, whose axis of one place goes.
Status Squeeze(Patch& patch, const Graph& graph, const Node& node, int64_t axis, ValueId part) {
  const std::string& name = graph.value(node.outputs[0]).name;
  const ValueId axes = patch.AddConstant(name + "_axis", MakeInts({axis}));
  KHEYA_ASSIGN_OR_RETURN(
      const NodeId squeeze,
      patch.AddNode(
          {.op = "Squeeze", .name = node.name, .inputs = {part, axes}, .outputs = {name}}));
  patch.ReplaceValue(node.outputs[0], patch.Output(squeeze, 0));
  return OkStatus();
}

// The Gathers of one place each that together take every place of the axis once, by place; empty
// where there are none.
std::vector<NodeId> FindParts(const Graph& graph, ValueId data, const Taken& taken) {
  if (!taken.scalar || !taken.size || *taken.size < 2 || *taken.size > kMostParts) return {};
  std::vector<NodeId> parts(static_cast<size_t>(*taken.size));
  size_t found = 0;
  for (const Use& use : graph.value(data).uses) {
    if (use.index != 0) continue;
    const std::optional<Taken> other = ReadGather(graph, graph.node(use.node));
    if (!other || !other->scalar || other->axis != taken.axis || !WhyNot(*other).empty()) continue;
    NodeId& part = parts[static_cast<size_t>(other->places[0])];
    if (part.valid()) return {};
    part = use.node;
    ++found;
  }
  return found == parts.size() ? parts : std::vector<NodeId>();
}

Status ToSplit(Graph& graph, const std::vector<NodeId>& parts, const Taken& taken,
               PassContext& context) {
  const Node& first = graph.node(parts[0]);
  NodeSpec spec{.op = "Split", .name = first.name, .inputs = {first.inputs[0]}};
  for (NodeId part : parts) spec.outputs.push_back(graph.value(graph.node(part).outputs[0]).name);
  spec.attributes = {{"axis", taken.axis}, {"num_outputs", *taken.size}};
  Patch patch(graph);
  KHEYA_ASSIGN_OR_RETURN(const NodeId split, patch.AddNode(std::move(spec)));
  for (size_t i = 0; i < parts.size(); ++i) {
    const ValueId part = patch.Output(split, static_cast<int>(i));
    KHEYA_RETURN_IF_ERROR(Squeeze(patch, graph, graph.node(parts[i]), taken.axis, part));
  }
  return context.Apply(patch);
}

Status Visit(Graph& graph, NodeId id, PassContext& context) {
  const Node& node = graph.node(id);
  const std::optional<Taken> taken = ReadGather(graph, node);
  if (!taken) return OkStatus();
  if (const std::string reason = WhyNot(*taken); !reason.empty()) {
    context.Note(node, "{}", reason);
    return OkStatus();
  }
  const std::vector<NodeId> parts = FindParts(graph, node.inputs[0], *taken);
  if (!parts.empty()) return ToSplit(graph, parts, *taken, context);
  Patch patch(graph);
  KHEYA_ASSIGN_OR_RETURN(const ValueId slice, AddSlice(patch, graph, node, *taken));
  if (taken->scalar) {
    KHEYA_RETURN_IF_ERROR(Squeeze(patch, graph, node, taken->axis, slice));
  } else {
    patch.ReplaceValue(node.outputs[0], slice);
  }
  return context.Apply(patch);
}

}  // namespace

Status GatherToSlice(Graph& graph, PassContext& context) {
  return VisitNodes(graph, context, Visit);
}

}  // namespace kheya
