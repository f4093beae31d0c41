#include "formats/onnx/downgrade_rules.h"

#include <algorithm>

#include "tensor/tensor.h"

namespace kheya::onnx {
namespace {

const std::string* StringOf(const Downgraded& node, std::string_view name) {
  const Attribute* attribute = node.node().FindAttribute(name);
  return attribute == nullptr ? nullptr : std::get_if<std::string>(&attribute->value);
}

std::optional<int64_t> IntOf(const Node& node, std::string_view name) {
  const Attribute* attribute = node.FindAttribute(name);
  const auto* value = attribute == nullptr ? nullptr : std::get_if<int64_t>(&attribute->value);
  return value == nullptr ? std::nullopt : std::optional(*value);
}
std::optional<int64_t> IntOf(const Downgraded& node, std::string_view name) {
  return IntOf(node.node(), name);
}

// What an import makes of a softmax of an older opset over several axes: Reshape(Softmax(
// Flatten(x, axis)), Shape(x)). Nothing else may use the nodes between.
struct FlatSoftmax {
  ValueId x;
  int64_t axis = 0;
  NodeId flatten;
  NodeId reshape;
};
std::optional<FlatSoftmax> FindFlatSoftmax(const Downgraded& node) {
  const Graph& graph = node.graph;
  const auto sole_use = [&](ValueId id) {
    return graph.value(id).uses.size() == 1 && !graph.IsOutput(id);
  };
  const auto producer = [&](ValueId id, std::string_view op) -> const Node* {
    if (!id.valid() || graph.value(id).origin != ValueOrigin::kNode) return nullptr;
    const Node& found = graph.node(graph.value(id).producer);
    return found.op == op && found.domain.empty() ? &found : nullptr;
  };
  const ValueId rows = node.node().inputs[0];
  const ValueId result = node.node().outputs[0];
  const Node* flatten = producer(rows, "Flatten");
  if (flatten == nullptr || !sole_use(rows) || !sole_use(result)) return std::nullopt;
  const Use use = graph.value(result).uses[0];
  const int64_t last = IntOf(node.node(), "axis").value_or(-1);
  if (use.index != 0 || (last != -1 && last != 1)) return std::nullopt;
  const Node& reshape = graph.node(use.node);
  if (reshape.op != "Reshape" || !reshape.domain.empty()) return std::nullopt;
  const Node* shape = producer(reshape.inputs[1], "Shape");
  if (shape == nullptr || !shape->attributes.empty() || shape->inputs != flatten->inputs) {
    return std::nullopt;
  }
  return FlatSoftmax{flatten->inputs[0], IntOf(*flatten, "axis").value_or(1),
                     graph.value(rows).producer, use.node};
}

}  // namespace

std::optional<int> Downgraded::InputRank(size_t index) const {
  if (!HasInput(index)) return std::nullopt;
  const std::optional<SymbolicShape>& shape = graph.value(node().inputs[index]).type.shape;
  return shape ? std::optional(static_cast<int>(shape->size())) : std::nullopt;
}

Result<std::optional<std::vector<int64_t>>> Downgraded::TakeInts(size_t index, const char* name) {
  if (!HasInput(index)) return std::optional<std::vector<int64_t>>();
  const Tensor* constant = graph.Constant(node().inputs[index]);
  if (constant == nullptr) {
    return UnimplementedError("'{}' is computed, opset {} needs it constant", name, opset);
  }
  KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> values, ToInt64s(*constant));
  graph.SetInput(id, static_cast<int>(index), ValueId());
  return std::optional(std::move(values));
}

Status Downgraded::InputToInts(size_t index, const char* attribute) {
  KHEYA_ASSIGN_OR_RETURN(std::optional<std::vector<int64_t>> values, TakeInts(index, attribute));
  if (values) graph.SetAttribute(id, {attribute, *std::move(values)});
  return OkStatus();
}

// Without axes a reduction goes over all, or with noop_with_empty_axes over none, which the older
// form cannot say; an empty list would mean all there.
Status DowngradeAxes(Downgraded& node) {
  const bool reduction = node.node().op.starts_with("Reduce");
  const bool noop = IntOf(node, "noop_with_empty_axes").value_or(0) != 0;
  KHEYA_ASSIGN_OR_RETURN(std::optional<std::vector<int64_t>> axes, node.TakeInts(1, "axes"));
  const bool empty = !axes || axes->empty();
  if (noop && empty) {
    return UnimplementedError("a reduction over no axis cannot be written at opset {}", node.opset);
  }
  if (reduction) node.graph.RemoveAttribute(node.id, "noop_with_empty_axes");
  if (axes && (!empty || !reduction)) {
    node.graph.SetAttribute(node.id, {"axes", *std::move(axes)});
  }
  return OkStatus();
}

Status DowngradeDft(Downgraded& node) {
  KHEYA_ASSIGN_OR_RETURN(std::optional<std::vector<int64_t>> axis, node.TakeInts(2, "axis"));
  int64_t value = axis && axis->size() == 1 ? (*axis)[0] : -2;
  const std::optional<int> rank = node.InputRank(0);
  if (value < 0 && !rank) {
    return UnimplementedError("the rank is not known, opset {} needs it for axis {}", node.opset,
                              value);
  }
  if (value < 0) value += *rank;
  node.graph.SetAttribute(node.id, {"axis", value});
  return OkStatus();
}

// Dilations of 1 are none.
Status DowngradeDilations(Downgraded& node) {
  const Attribute* attribute = node.node().FindAttribute("dilations");
  if (attribute == nullptr) return OkStatus();
  const auto* dilations = std::get_if<std::vector<int64_t>>(&attribute->value);
  const bool all_one =
      dilations != nullptr && std::ranges::count(*dilations, 1) == std::ssize(*dilations);
  if (all_one) node.graph.RemoveAttribute(node.id, "dilations");
  return OkStatus();
}

Status DowngradeDropout(Downgraded& node) {
  if (node.HasInput(2)) {
    return UnimplementedError("dropout while training cannot be written at opset {}", node.opset);
  }
  if (!node.HasInput(1)) return OkStatus();
  const Tensor* ratio = node.graph.Constant(node.node().inputs[1]);
  if (ratio == nullptr || ratio->dtype() != DType::kFloat32 || ratio->num_elements() != 1) {
    return UnimplementedError("'ratio' is not a constant float32, which opset {} needs",
                              node.opset);
  }
  node.graph.SetAttribute(node.id, {"ratio", ratio->At<float>(0)});
  node.graph.SetInput(node.id, 1, ValueId());
  return OkStatus();
}

Status DowngradeGridSample(Downgraded& node) {
  const std::string* mode = StringOf(node, "mode");
  const std::string name = mode == nullptr ? "linear" : *mode;
  if (name == "linear") node.graph.SetAttribute(node.id, {"mode", std::string("bilinear")});
  if (name == "cubic") node.graph.SetAttribute(node.id, {"mode", std::string("bicubic")});
  if (node.InputRank(0) == 4) return OkStatus();
  return UnimplementedError("opset {} samples tensors of rank 4 alone", node.opset);
}

// a >= b as a > b or a = b.
Status DowngradeOrEqual(Downgraded& node) {
  const Node old = node.node();
  Graph& graph = node.graph;
  const ValueId replaced = old.outputs[0];
  const std::string name = graph.value(replaced).name;
  auto add = [&](const char* op, std::vector<ValueId> inputs) -> Result<ValueId> {
    KHEYA_ASSIGN_OR_RETURN(
        const NodeId added,
        graph.AddNode(
            {.op = op, .inputs = std::move(inputs), .outputs = {graph.UniqueName(name)}}));
    const ValueId output = graph.node(added).outputs[0];
    graph.SetType(output, graph.value(replaced).type);
    return output;
  };
  KHEYA_ASSIGN_OR_RETURN(const ValueId strict,
                         add(old.op == "GreaterOrEqual" ? "Greater" : "Less", old.inputs));
  KHEYA_ASSIGN_OR_RETURN(const ValueId equal, add("Equal", old.inputs));
  KHEYA_ASSIGN_OR_RETURN(const ValueId either, add("Or", {strict, equal}));
  graph.ReplaceUses(replaced, either);
  return graph.RemoveNode(node.id);
}

Status DowngradePad(Downgraded& node) {
  if (!node.HasInput(3)) return OkStatus();
  const std::optional<int> rank = node.InputRank(0);
  KHEYA_ASSIGN_OR_RETURN(const std::optional<std::vector<int64_t>> axes, node.TakeInts(3, "axes"));
  KHEYA_ASSIGN_OR_RETURN(const std::optional<std::vector<int64_t>> pads, node.TakeInts(1, "pads"));
  if (!rank || !pads || pads->size() != 2 * axes->size()) {
    return UnimplementedError("the rank is not known, opset {} needs it for pads of all axes",
                              node.opset);
  }
  std::vector<int64_t> all(2 * static_cast<size_t>(*rank), 0);
  for (size_t i = 0; i < axes->size(); ++i) {
    const int64_t axis = (*axes)[i] < 0 ? (*axes)[i] + *rank : (*axes)[i];
    if (axis < 0 || axis >= *rank) return InvalidArgumentError("found axis {}", (*axes)[i]);
    all[axis] = (*pads)[i];
    all[*rank + axis] = (*pads)[axes->size() + i];
  }
  const ValueId constant =
      node.graph.AddConstant(node.graph.UniqueName("pads"),
                             Tensor::FromValues<int64_t>(Shape{static_cast<int64_t>(all.size())},
                                                         std::span(std::as_const(all))));
  node.graph.SetInput(node.id, 1, constant);
  return OkStatus();
}

Status DowngradeQuantize(Downgraded& node) {
  node.graph.RemoveAttribute(node.id, "axis");
  if (node.InputRank(1) == 0) return OkStatus();
  return UnimplementedError("opset {} has one scale for the whole tensor alone", node.opset);
}

// Opset 11 has no way to leave the region and the scales out.
Status DowngradeResize(Downgraded& node) {
  for (int input : {1, 2}) {
    if (node.HasInput(static_cast<size_t>(input))) continue;
    const ValueId empty =
        node.graph.AddConstant(node.graph.UniqueName(input == 1 ? "roi" : "scales"),
                               Tensor::FromValues<float>(Shape{0}, {}));
    node.graph.SetInput(node.id, input, empty);
  }
  return OkStatus();
}

Status DowngradeRoiAlign(Downgraded& node) {
  const std::string* mode = StringOf(node, "coordinate_transformation_mode");
  if (mode != nullptr && *mode == "output_half_pixel") {
    node.graph.RemoveAttribute(node.id, "coordinate_transformation_mode");
    return OkStatus();
  }
  return UnimplementedError("opset {} has no coordinates of half pixels", node.opset);
}

// A shape that holds no 0 means the same with allowzero and without.
Status DowngradeReshape(Downgraded& node) {
  if (IntOf(node, "allowzero").value_or(0) == 0 || !node.HasInput(1)) return OkStatus();
  const GraphValue& shape = node.graph.value(node.node().inputs[1]);
  bool zero = true;
  if (const Tensor* constant = node.graph.Constant(node.node().inputs[1])) {
    KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, ToInt64s(*constant));
    zero = std::ranges::count(dims, 0) > 0;
  } else if (shape.elements) {
    zero = !std::ranges::all_of(*shape.elements,
                                [](const Dim& dim) { return dim.known() && dim.value() != 0; });
  }
  if (!zero) node.graph.RemoveAttribute(node.id, "allowzero");
  return OkStatus();
}

// Before opset 13 the axes from `axis` on were one: the same for the last axis alone.
Status DowngradeSoftmax(Downgraded& node) {
  if (const std::optional<FlatSoftmax> flat = FindFlatSoftmax(node)) {
    const ValueId shape = node.graph.node(flat->reshape).inputs[1];
    const ValueId result = node.graph.node(flat->reshape).outputs[0];
    const ValueId rows = node.node().outputs[0];
    node.graph.SetInput(node.id, 0, flat->x);
    node.graph.SetAttribute(node.id, {"axis", flat->axis});
    node.graph.SetType(rows, node.graph.value(result).type);
    node.graph.ReplaceUses(result, rows);
    KHEYA_RETURN_IF_ERROR(node.graph.RemoveNode(flat->reshape));
    KHEYA_RETURN_IF_ERROR(node.graph.RemoveNode(flat->flatten));
    if (!node.graph.value(shape).uses.empty() || node.graph.IsOutput(shape)) return OkStatus();
    return node.graph.RemoveNode(node.graph.value(shape).producer);
  }
  const int64_t axis = IntOf(node, "axis").value_or(-1);
  const std::optional<int> rank = node.InputRank(0);
  if (axis == -1 || (rank && axis == *rank - 1)) {
    node.graph.SetAttribute(node.id, {"axis", axis});
    return OkStatus();
  }
  return UnimplementedError("axis {} is not the last, as opset {} needs", axis, node.opset);
}

Status DowngradeSplit(Downgraded& node) {
  node.graph.RemoveAttribute(node.id, "num_outputs");
  if (!node.HasInput(1)) {
    // Equal parts went without saying, unequal ones must be said.
    const int64_t axis = IntOf(node, "axis").value_or(0);
    const std::optional<int> rank = node.InputRank(0);
    const auto parts = static_cast<int64_t>(node.node().outputs.size());
    const int64_t place = rank && axis < 0 ? axis + *rank : axis;
    const bool known = rank && place >= 0 && place < *rank;
    const Dim dim = known ? (*node.graph.value(node.node().inputs[0]).type.shape)[place] : Dim();
    if (dim.known() && dim.value() % parts == 0) return OkStatus();
    return UnimplementedError("parts of unequal or unknown size need opset 18");
  }
  return node.opset < 13 ? node.InputToInts(1, "split") : OkStatus();
}

// fmod 0 was for integers alone.
Status DowngradeMod(Downgraded& node) {
  if (IntOf(node, "fmod").value_or(0) != 0) return OkStatus();
  const ValueType& type = node.graph.value(node.node().inputs[0]).type;
  if (!IsFloatingPoint(type.dtype)) return OkStatus();
  return UnimplementedError("found fmod 0 with {}, opset {} has it for integers alone",
                            type.ToString(), node.opset);
}

}  // namespace kheya::onnx
