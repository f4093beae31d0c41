#include <limits>

#include "runtime/node_call_builders.h"

namespace kheya {
namespace {

TensorDesc DescOf(const Graph& graph, ValueId id, bool* known) {
  if (!id.valid()) return {};
  const ValueType& type = graph.value(id).type;
  const std::optional<Shape> shape = type.is_tensor() ? type.KnownShape() : std::nullopt;
  if (!shape || type.dtype == DType::kUndefined) {
    *known = false;
    return {};
  }
  return {type.dtype, *shape, Layout::kPlain};
}

}  // namespace

NodeShapes::NodeShapes(const Graph& graph, const Node& node) : graph_(graph), node_(node) {
  for (ValueId id : node.inputs) inputs_.push_back(DescOf(graph, id, &known_));
  for (ValueId id : node.outputs) outputs_.push_back(DescOf(graph, id, &known_));
  if (inputs_.empty() || outputs_.empty()) known_ = false;
}

const TensorDesc& NodeShapes::input(size_t index) const {
  static const TensorDesc none;
  return index < inputs_.size() ? inputs_[index] : none;
}

std::optional<float> NodeShapes::ConstantFloat(size_t index) const {
  if (!input(index).present()) return std::nullopt;
  const Tensor* constant = graph_.Constant(node_.inputs[index]);
  if (constant == nullptr || constant->dtype() != DType::kFloat32) return std::nullopt;
  if (constant->num_elements() != 1) return std::nullopt;
  return constant->At<float>(0);
}

NodeCall NodeShapes::Call(KernelParams params, LayoutRule rule, int count) const {
  NodeCall call;
  const size_t inputs = count < 0 ? inputs_.size() : count;
  call.call.params = std::move(params);
  for (size_t i = 0; i < inputs; ++i) {
    call.call.inputs.push_back(input(i));
    call.inputs.push_back(i < node_.inputs.size() ? node_.inputs[i] : ValueId());
  }
  call.call.outputs = outputs_;
  call.outputs = node_.outputs;
  call.rule = rule;
  call.follows.assign(inputs, false);
  if (inputs > 0) call.follows[0] = true;
  return call;
}

std::optional<Elementwise> ReadFusedActivation(const AttributeReader& attributes) {
  const std::string name = attributes.String("activation", "");
  const std::vector<float> params = attributes.Floats("activation_params");
  const auto param = [&](size_t i) { return i < params.size() ? params[i] : 0.0f; };
  if (name.empty()) return Elementwise{};
  if (name == "Relu") return Elementwise{ElementwiseOp::kRelu};
  if (name == "LeakyRelu") return Elementwise{ElementwiseOp::kLeakyRelu, param(0)};
  if (name == "Clip") return Elementwise{ElementwiseOp::kClip, param(0), param(1)};
  if (name == "HardSwish") return Elementwise{ElementwiseOp::kHardSwish};
  if (name == "Sigmoid") return Elementwise{ElementwiseOp::kSigmoid};
  if (name == "Tanh") return Elementwise{ElementwiseOp::kTanh};
  if (name == "SiLU") return Elementwise{ElementwiseOp::kSilu, 1.0f};
  if (name == "Gelu") return Elementwise{ElementwiseOp::kGelu};
  return std::nullopt;
}

}  // namespace kheya
