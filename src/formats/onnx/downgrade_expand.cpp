// Rules for operators that an older opset does not have, made up of those that it has.
#include <cmath>
#include <numbers>

#include "formats/onnx/downgrade_rules.h"
#include "ops/infer.h"
#include "tensor/tensor.h"

namespace kheya::onnx {
namespace {

// Adds the nodes that take the place of one, in their newest form: rules of their own follow. Its
// first output alone may be used.
class Replacement {
 public:
  static Result<Replacement> Of(Downgraded& node) {
    const Node& old = node.node();
    for (size_t i = 1; i < old.outputs.size(); ++i) {
      if (!old.outputs[i].valid()) continue;
      return UnimplementedError("more than one output of it is used, opset {} has no such operator",
                                node.opset);
    }
    const ValueType& type = node.graph.value(old.inputs[0]).type;
    if (type.dtype != DType::kFloat32 && type.dtype != DType::kFloat64) {
      return UnimplementedError("opset {} has no such operator, and rounding of {} would differ",
                                node.opset, type.ToString());
    }
    return Replacement(node, type.dtype);
  }

  ValueId Input(size_t index) const { return node_.node().inputs[index]; }

  ValueId Number(double value) {
    const Tensor tensor = dtype_ == DType::kFloat64 ? Tensor::Scalar(value)
                                                    : Tensor::Scalar(static_cast<float>(value));
    return node_.graph.AddConstant(node_.graph.UniqueName(name_ + "_number"), tensor);
  }

  ValueId MeanOver(ValueId x, const std::vector<int64_t>& axes) {
    const Shape shape{static_cast<int64_t>(axes.size())};
    const ValueId list = node_.graph.AddConstant(node_.graph.UniqueName(name_ + "_axes"),
                                                 Tensor::FromValues<int64_t>(shape, axes));
    return Call("ReduceMean", {x, list});
  }

  ValueId Call(const char* op, std::vector<ValueId> inputs,
               std::vector<Attribute> attributes = {}) {
    Graph& graph = node_.graph;
    const Result<NodeId> added = graph.AddNode({.op = op,
                                                .inputs = std::move(inputs),
                                                .outputs = {graph.UniqueName(name_)},
                                                .attributes = std::move(attributes)});
    (void)InferNode(graph, *added);  // its inputs are live: they were made here
    return graph.node(*added).outputs[0];
  }

  Status Finish(ValueId result) {
    node_.graph.ReplaceUses(node_.node().outputs[0], result);
    return node_.graph.RemoveNode(node_.id);
  }

 private:
  Replacement(Downgraded& node, DType dtype)
      : node_(node), name_(node.graph.value(node.node().outputs[0]).name), dtype_(dtype) {}

  Downgraded& node_;
  std::string name_;
  DType dtype_;
};

template <typename T>
T AttributeOf(const Downgraded& node, std::string_view name, T missing) {
  const Attribute* attribute = node.node().FindAttribute(name);
  const T* value = attribute == nullptr ? nullptr : std::get_if<T>(&attribute->value);
  return value == nullptr ? missing : *value;
}

// x / sqrt(mean(x^2) + epsilon) over the axes from `axis` on, times the scale.
ValueId Normalized(Replacement& r, const Downgraded& node, ValueId x,
                   const std::vector<int64_t>& axes) {
  const ValueId mean = r.MeanOver(r.Call("Mul", {x, x}), axes);
  const ValueId epsilon = r.Number(AttributeOf<float>(node, "epsilon", 1e-5f));
  const ValueId deviation = r.Call("Sqrt", {r.Call("Add", {mean, epsilon})});
  return r.Call("Mul", {r.Call("Div", {x, deviation}), r.Input(1)});
}

Result<std::vector<int64_t>> AxesFrom(const Downgraded& node) {
  const std::optional<int> rank = node.InputRank(0);
  const auto axis = AttributeOf<int64_t>(node, "axis", -1);
  if (!rank || axis < -*rank || axis >= *rank) {
    return UnimplementedError("the rank is not known, opset {} needs it for axis {}", node.opset,
                              axis);
  }
  std::vector<int64_t> axes;
  for (int64_t i = axis < 0 ? axis + *rank : axis; i < *rank; ++i) axes.push_back(i);
  return axes;
}

}  // namespace

Status ExpandGelu(Downgraded& node) {
  KHEYA_ASSIGN_OR_RETURN(Replacement r, Replacement::Of(node));
  const ValueId x = r.Input(0);
  ValueId curve;
  if (AttributeOf<std::string>(node, "approximate", "none") == "tanh") {
    // tanh(sqrt(2 / pi) (x + 0.044715 x^3))
    const ValueId cube = r.Call("Mul", {r.Call("Mul", {x, x}), x});
    const ValueId sum = r.Call("Add", {x, r.Call("Mul", {r.Number(0.044715), cube})});
    curve = r.Call("Tanh", {r.Call("Mul", {r.Number(std::sqrt(2 / std::numbers::pi)), sum})});
  } else {
    curve = r.Call("Erf", {r.Call("Div", {x, r.Number(std::numbers::sqrt2)})});
  }
  const ValueId gate = r.Call("Add", {curve, r.Number(1)});
  return r.Finish(r.Call("Mul", {r.Call("Mul", {x, gate}), r.Number(0.5)}));
}

Status ExpandHardSwish(Downgraded& node) {
  KHEYA_ASSIGN_OR_RETURN(Replacement r, Replacement::Of(node));
  const std::vector<Attribute> slope = {{"alpha", 1.0f / 6}, {"beta", 0.5f}};
  return r.Finish(r.Call("Mul", {r.Input(0), r.Call("HardSigmoid", {r.Input(0)}, slope)}));
}

Status ExpandLayerNormalization(Downgraded& node) {
  KHEYA_ASSIGN_OR_RETURN(Replacement r, Replacement::Of(node));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, AxesFrom(node));
  const ValueId mean = r.MeanOver(r.Input(0), axes);
  const ValueId centered = r.Call("Sub", {r.Input(0), mean});
  ValueId y = Normalized(r, node, centered, axes);
  if (node.HasInput(2)) y = r.Call("Add", {y, r.Input(2)});
  return r.Finish(y);
}

Status ExpandMish(Downgraded& node) {
  KHEYA_ASSIGN_OR_RETURN(Replacement r, Replacement::Of(node));
  const ValueId gate = r.Call("Tanh", {r.Call("Softplus", {r.Input(0)})});
  return r.Finish(r.Call("Mul", {r.Input(0), gate}));
}

Status ExpandRmsNormalization(Downgraded& node) {
  KHEYA_ASSIGN_OR_RETURN(Replacement r, Replacement::Of(node));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, AxesFrom(node));
  return r.Finish(Normalized(r, node, r.Input(0), axes));
}

Status ExpandSwiGlu(Downgraded& node) {
  KHEYA_ASSIGN_OR_RETURN(Replacement r, Replacement::Of(node));
  const std::vector<Attribute> alpha = {{"alpha", AttributeOf<float>(node, "alpha", 1.0f)}};
  return r.Finish(r.Call("Mul", {r.Call("Swish", {r.Input(0)}, alpha), r.Input(1)}));
}

Status ExpandSwish(Downgraded& node) {
  KHEYA_ASSIGN_OR_RETURN(Replacement r, Replacement::Of(node));
  const ValueId x = r.Input(0);
  const auto alpha = AttributeOf<float>(node, "alpha", 1.0f);
  const ValueId scaled = alpha == 1 ? x : r.Call("Mul", {r.Number(alpha), x});
  return r.Finish(r.Call("Mul", {x, r.Call("Sigmoid", {scaled})}));
}

}  // namespace kheya::onnx
