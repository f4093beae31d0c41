#include "passes/activation.h"

#include <limits>

#include "ops/contexts.h"
#include "ops/fused_activation.h"
#include "passes/match.h"

namespace kheya {
namespace {

// A bound of Clip; nullopt when it is there but not constant.
std::optional<float> Bound(const Graph& graph, ValueId value, float absent) {
  if (!value.valid()) return absent;
  const std::optional<double> bound = ConstantScalar(graph, value);
  return bound ? std::optional(static_cast<float>(*bound)) : std::nullopt;
}

std::optional<Activation> ReadActivation(const Graph& graph, const Node& node,
                                         std::string* reason) {
  const ValueId output = node.outputs[0];
  for (const char* plain : {"Relu", "HardSwish", "Sigmoid", "Tanh", "Mish"}) {
    if (IsOp(node, plain)) return Activation{plain, {}, output};
  }
  const AttributeReader attributes(node);
  if (IsOp(node, "LeakyRelu")) {
    return Activation{"LeakyRelu", {attributes.Float("alpha", 0.01f)}, output};
  }
  if (IsOp(node, "Swish")) {
    if (attributes.Float("alpha", 1.0f) == 1.0f) return Activation{"SiLU", {}, output};
    *reason = "the Swish behind it has another alpha than 1";
  }
  if (IsOp(node, "Gelu")) {
    const bool exact = attributes.String("approximate", "none") == "none";
    return Activation{exact ? "Gelu" : "GeluTanh", {}, output};
  }
  if (IsOp(node, "Clip")) {
    constexpr float kLimit = std::numeric_limits<float>::infinity();
    const std::optional<float> low = Bound(graph, InputOf(node, 1), -kLimit);
    const std::optional<float> high = Bound(graph, InputOf(node, 2), kLimit);
    if (low && high) return Activation{"Clip", {*low, *high}, output};
    *reason = "the bounds of the Clip behind it are not constant";
  }
  return std::nullopt;
}

}  // namespace

std::optional<Activation> ActivationBehind(const Graph& graph, ValueId value, std::string* reason) {
  const std::optional<Use> use = SoleUse(graph, value);
  if (!use) {
    *reason = WhyNotSole(graph, value);
    return std::nullopt;
  }
  const Node& node = graph.node(use->node);
  if (use->index != 0 || node.outputs.empty() || !node.outputs[0].valid()) return std::nullopt;
  return ReadActivation(graph, node, reason);
}

std::vector<Attribute> ActivationAttributes(const Activation& activation) {
  if (activation.name.empty()) return {};
  std::vector<Attribute> attributes = {{"activation", activation.name}};
  if (!activation.params.empty()) attributes.push_back({"activation_params", activation.params});
  return attributes;
}

Result<ValueId> AddActivation(Patch& patch, const Node& fused, ValueId value) {
  const AttributeReader attributes(fused);
  const std::string name = attributes.String("activation", "");
  const std::vector<float> params = attributes.Floats("activation_params");
  KHEYA_RETURN_IF_ERROR(CheckActivation(name, params));
  if (name.empty()) return value;
  NodeSpec spec{.op = name == "SiLU" ? "Swish" : name, .inputs = {value}, .outputs = {"activated"}};
  if (name == "GeluTanh") {
    spec.op = "Gelu";
    spec.attributes = {{"approximate", std::string("tanh")}};
  }
  if (name == "LeakyRelu") spec.attributes = {{"alpha", params[0]}};
  if (name == "Clip") {
    for (float bound : params)
      spec.inputs.push_back(patch.AddConstant("bound", Tensor::Scalar(bound)));
  }
  KHEYA_ASSIGN_OR_RETURN(const NodeId node, patch.AddNode(std::move(spec)));
  return patch.Output(node, 0);
}

}  // namespace kheya
