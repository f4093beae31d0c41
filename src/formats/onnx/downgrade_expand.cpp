// Rules for operators that an older opset does not have, made up of those that it has.
#include <cmath>
#include <numbers>

#include "formats/onnx/downgrade_rules.h"
#include "ops/infer.h"
#include "tensor/tensor.h"

namespace kheya::onnx {
namespace {

constexpr int64_t kMostGroups = 1 << 20;

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
  // For what computes in float32 where its own type is narrower.
  static Result<Replacement> InFloat(Downgraded& node) {
    const ValueType& type = node.graph.value(node.node().inputs[0]).type;
    const DType own = type.dtype;
    if (own == DType::kFloat32 || own == DType::kFloat64) return Replacement(node, own);
    if (own == DType::kFloat16 || own == DType::kBFloat16) {
      return Replacement(node, DType::kFloat32);
    }
    return UnimplementedError("found {}, expected a tensor of floating point", type.ToString());
  }

  ValueId Input(size_t index) const { return node_.node().inputs[index]; }

  ValueId Number(double value) {
    const Tensor tensor = dtype_ == DType::kFloat64 ? Tensor::Scalar(value)
                                                    : Tensor::Scalar(static_cast<float>(value));
    return node_.graph.AddConstant(node_.graph.UniqueName(name_ + "_number"), tensor);
  }

  ValueId Integers(const char* what, const std::vector<int64_t>& values) {
    const Shape shape{static_cast<int64_t>(values.size())};
    return node_.graph.AddConstant(node_.graph.UniqueName(name_ + what),
                                   Tensor::FromValues<int64_t>(shape, values));
  }

  ValueId Floats(int64_t count, float value) {
    const std::vector<float> values(static_cast<size_t>(count), value);
    return node_.graph.AddConstant(node_.graph.UniqueName(name_ + "_number"),
                                   Tensor::FromValues<float>(Shape{count}, values));
  }

  ValueId MeanOver(ValueId x, const std::vector<int64_t>& axes) {
    return Call("ReduceMean", {x, Integers("_axes", axes)});
  }

  ValueId CastTo(ValueId x, DType dtype) {
    if (node_.graph.value(x).type.dtype == dtype) return x;
    return Call("Cast", {x}, {{"to", static_cast<int64_t>(dtype)}});
  }
  // The type that it computes in.
  DType dtype() const { return dtype_; }

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

// x / sqrt(mean(x^2) + epsilon) over the axes.
ValueId Normalized(Replacement& r, const Downgraded& node, ValueId x,
                   const std::vector<int64_t>& axes) {
  const ValueId mean = r.MeanOver(r.Call("Mul", {x, x}), axes);
  const ValueId epsilon = r.Number(AttributeOf<float>(node, "epsilon", 1e-5f));
  return r.Call("Div", {x, r.Call("Sqrt", {r.Call("Add", {mean, epsilon})})});
}

ValueId Centered(Replacement& r, ValueId x, const std::vector<int64_t>& axes) {
  return r.Call("Sub", {x, r.MeanOver(x, axes)});
}

// The rows of a [batch, groups, elements]; runtimes have InstanceNormalization for float32 alone.
ValueId NormalizedRows(Replacement& r, const Downgraded& node, ValueId x, int64_t groups) {
  if (r.dtype() == DType::kFloat64) return Normalized(r, node, Centered(r, x, {2}), {2});
  const std::vector<Attribute> epsilon = {{"epsilon", AttributeOf<float>(node, "epsilon", 1e-5f)}};
  return r.Call("InstanceNormalization", {x, r.Floats(groups, 1), r.Floats(groups, 0)}, epsilon);
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

// One row for each group is normalized, then come scale and bias of channels. The operator of
// opsets 18 to 20, with scale and bias of groups, was withdrawn by the standard: it is not written.
Status ExpandGroupNormalization(Downgraded& node) {
  KHEYA_ASSIGN_OR_RETURN(Replacement r, Replacement::InFloat(node));
  const auto groups = AttributeOf<int64_t>(node, "num_groups", 0);
  if (groups < 1 || groups > kMostGroups) {
    return UnimplementedError("found {} groups, expected 1 to {}", groups, kMostGroups);
  }
  const int rank = node.InputRank(0).value_or(0);
  if (rank < 2) {
    return UnimplementedError("found {}, opset {} needs a known rank of 2 or more",
                              node.graph.value(r.Input(0)).type.ToString(), node.opset);
  }
  const ValueId x = r.Input(0);
  const ValueId rows =
      r.Call("Reshape", {r.CastTo(x, r.dtype()), r.Integers("_groups", {0, groups, -1})});
  const ValueId whole =
      r.Call("Reshape", {NormalizedRows(r, node, rows, groups), r.Call("Shape", {x})});
  std::vector<int64_t> column(static_cast<size_t>(rank - 1), 1);
  column[0] = -1;
  const ValueId channels = r.Integers("_channels", column);
  const ValueId scale = r.Call("Reshape", {r.Input(1), channels});
  const ValueId bias = r.Call("Reshape", {r.Input(2), channels});
  const ValueId normal = r.CastTo(whole, node.graph.value(x).type.dtype);
  return r.Finish(r.Call("Add", {r.Call("Mul", {normal, scale}), bias}));
}

Status ExpandHardSwish(Downgraded& node) {
  KHEYA_ASSIGN_OR_RETURN(Replacement r, Replacement::Of(node));
  const std::vector<Attribute> slope = {{"alpha", 1.0f / 6}, {"beta", 0.5f}};
  return r.Finish(r.Call("Mul", {r.Input(0), r.Call("HardSigmoid", {r.Input(0)}, slope)}));
}

Status ExpandLayerNormalization(Downgraded& node) {
  KHEYA_ASSIGN_OR_RETURN(Replacement r, Replacement::Of(node));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, AxesFrom(node));
  const ValueId normal = Normalized(r, node, Centered(r, r.Input(0), axes), axes);
  ValueId y = r.Call("Mul", {normal, r.Input(1)});
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
  return r.Finish(r.Call("Mul", {Normalized(r, node, r.Input(0), axes), r.Input(1)}));
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
