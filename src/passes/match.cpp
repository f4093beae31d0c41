#include "passes/match.h"

#include <algorithm>

#include "ops/check_inputs.h"
#include "ops/op.h"

namespace kheya {
namespace {

template <typename T>
std::vector<double> AsDoubles(const Tensor& tensor) {
  std::vector<double> values(static_cast<size_t>(tensor.num_elements()));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(tensor.At<T>(static_cast<int64_t>(i)));
  }
  return values;
}

}  // namespace

bool IsOp(const Node& node, std::string_view op) {
  if (node.op != op || !node.domain.empty()) return false;
  if (node.outputs.empty() || !node.outputs[0].valid()) return false;
  const OpDef* def = FindOp("", op);
  return def != nullptr && CheckNode(*def, node).ok();
}

NodeId ProducerOf(const Graph& graph, ValueId value, std::string_view op) {
  if (!value.valid()) return NodeId();
  const GraphValue& made = graph.value(value);
  if (made.origin != ValueOrigin::kNode || made.output_index != 0) return NodeId();
  return IsOp(graph.node(made.producer), op) ? made.producer : NodeId();
}

std::optional<Use> SoleUse(const Graph& graph, ValueId value) {
  const std::vector<Use>& uses = graph.value(value).uses;
  if (uses.size() != 1 || uses[0].index == Use::kCaptured || graph.IsOutput(value)) {
    return std::nullopt;
  }
  return uses[0];
}

std::string WhyNotSole(const Graph& graph, ValueId value) {
  const GraphValue& used = graph.value(value);
  if (used.uses.empty()) return "";
  if (graph.IsOutput(value)) return fmt::format("'{}' is a graph output", used.name);
  if (used.uses.size() == 1) return fmt::format("a subgraph captures '{}'", used.name);
  return fmt::format("'{}' has {} uses", used.name, used.uses.size());
}

ValueId InputOf(const Node& node, size_t index) {
  return index < node.inputs.size() ? node.inputs[index] : ValueId();
}

ValueId OtherInput(const Node& node, ValueId value) {
  if (node.inputs.size() != 2) return ValueId();
  return node.inputs[0] == value ? node.inputs[1] : node.inputs[0];
}

std::optional<std::vector<double>> ConstantFloats(const Graph& graph, ValueId value) {
  const Tensor* tensor = graph.Constant(value);
  if (tensor == nullptr) return std::nullopt;
  switch (tensor->dtype()) {
    case DType::kFloat32:
      return AsDoubles<float>(*tensor);
    case DType::kFloat64:
      return AsDoubles<double>(*tensor);
    case DType::kFloat16:
      return AsDoubles<Float16>(*tensor);
    case DType::kBFloat16:
      return AsDoubles<BFloat16>(*tensor);
    default:
      return std::nullopt;
  }
}

std::optional<std::vector<int64_t>> ConstantInts(const Graph& graph, ValueId value) {
  const Tensor* tensor = graph.Constant(value);
  if (tensor == nullptr || !IsInteger(tensor->dtype())) return std::nullopt;
  Result<std::vector<int64_t>> values = ToInt64s(*tensor);
  return values.ok() ? std::optional(std::move(values).value()) : std::nullopt;
}

std::optional<double> ConstantScalar(const Graph& graph, ValueId value, int max_rank) {
  const Tensor* tensor = graph.Constant(value);
  if (tensor == nullptr || tensor->num_elements() != 1 || tensor->shape().rank() > max_rank) {
    return std::nullopt;
  }
  const std::optional<std::vector<double>> values = ConstantFloats(graph, value);
  return values ? std::optional((*values)[0]) : std::nullopt;
}

bool IsScalar(const Graph& graph, ValueId value, double expected) {
  const std::optional<double> found = ConstantScalar(graph, value);
  return found && static_cast<float>(*found) == static_cast<float>(expected);
}

std::optional<ValueId> OperandBesideScalar(const Graph& graph, const Node& node, double expected) {
  if (node.inputs.size() != 2) return std::nullopt;
  if (IsScalar(graph, node.inputs[1], expected)) return node.inputs[0];
  if (IsScalar(graph, node.inputs[0], expected)) return node.inputs[1];
  return std::nullopt;
}

const SymbolicShape* ShapeOf(const Graph& graph, ValueId value) {
  if (!value.valid()) return nullptr;
  const ValueType& type = graph.value(value).type;
  return type.is_tensor() && type.shape ? &*type.shape : nullptr;
}

DType DTypeOfValue(const Graph& graph, ValueId value) {
  if (!value.valid()) return DType::kUndefined;
  const ValueType& type = graph.value(value).type;
  return type.is_tensor() ? type.dtype : DType::kUndefined;
}

bool SameShape(const SymbolicShape& a, const SymbolicShape& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

bool SameShape(const Graph& graph, ValueId a, ValueId b) {
  const SymbolicShape* shape_a = ShapeOf(graph, a);
  const SymbolicShape* shape_b = ShapeOf(graph, b);
  return shape_a != nullptr && shape_b != nullptr && SameShape(*shape_a, *shape_b);
}

Result<Tensor> MakeFloats(const Shape& shape, const std::vector<double>& values) {
  KHEYA_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(DType::kFloat32, shape));
  std::transform(values.begin(), values.end(), tensor.mutable_data<float>().begin(),
                 [](double value) { return static_cast<float>(value); });
  return tensor;
}

Tensor MakeInts(const std::vector<int64_t>& values) {
  return Tensor::FromValues<int64_t>(Shape{static_cast<int64_t>(values.size())}, values);
}

}  // namespace kheya
