#include "ops/expansion.h"

#include <utility>

#include "ops/axes.h"
#include "ops/infer.h"
#include "ops/op.h"

namespace kheya {
namespace {

bool IsHalf(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kBFloat16; }

}  // namespace

ValueId Expansion::In(int input) const {
  return input < num_inputs() ? inputs_[static_cast<size_t>(input)] : ValueId();
}

DType Expansion::TypeOf(int input) const {
  return Has(input) ? graph_.value(In(input)).type.dtype : DType::kUndefined;
}

const SymbolicShape* Expansion::ShapeOf(int input) const {
  if (!Has(input)) return nullptr;
  const ValueType& type = graph_.value(In(input)).type;
  return type.is_tensor() && type.shape ? &*type.shape : nullptr;
}

std::optional<int> Expansion::RankOf(int input) const {
  const SymbolicShape* shape = ShapeOf(input);
  return shape == nullptr ? std::nullopt : std::optional(static_cast<int>(shape->size()));
}

Dim Expansion::DimOf(int input, int axis) const {
  const SymbolicShape* shape = ShapeOf(input);
  if (shape == nullptr) return Dim();
  const int rank = static_cast<int>(shape->size());
  const int at = axis < 0 ? axis + rank : axis;
  return at >= 0 && at < rank ? (*shape)[static_cast<size_t>(at)] : Dim();
}

std::optional<std::vector<int64_t>> Expansion::KnownInts(int input) const {
  return Has(input) ? known_[static_cast<size_t>(input)] : std::nullopt;
}

ValueId Expansion::Wide(int input) {
  return IsHalf(TypeOf(input)) ? Cast(In(input), TypeOf(input), DType::kFloat32) : In(input);
}

ValueId Expansion::Constant(Tensor tensor) { return graph_.AddConstant("c", std::move(tensor)); }

ValueId Expansion::Ints(std::vector<int64_t> values) {
  const Shape shape{static_cast<int64_t>(values.size())};
  return Constant(Tensor::FromValues<int64_t>(shape, std::span<const int64_t>(values)));
}

ValueId Expansion::Number(double value, DType dtype) {
  if (dtype == DType::kInt64) return Constant(Tensor::Scalar(static_cast<int64_t>(value)));
  if (dtype == DType::kInt32) return Constant(Tensor::Scalar(static_cast<int32_t>(value)));
  if (dtype == DType::kFloat64) return Constant(Tensor::Scalar(value));
  return Constant(Tensor::Scalar(static_cast<float>(value)));
}

ValueId Expansion::Call(const char* op, std::vector<ValueId> inputs, Attributes attributes) {
  return CallMany(op, std::move(inputs), 1, std::move(attributes)).front();
}

std::vector<ValueId> Expansion::CallMany(const char* op, std::vector<ValueId> inputs,
                                         int num_outputs, Attributes attributes,
                                         const char* domain) {
  const auto count = static_cast<size_t>(num_outputs);
  while (!inputs.empty() && !inputs.back().valid()) inputs.pop_back();
  Result<NodeId> node = graph_.AddNode({.op = op,
                                        .domain = domain,
                                        .inputs = std::move(inputs),
                                        .outputs = std::vector<std::string>(count, "v"),
                                        .attributes = std::move(attributes)});
  if (node.ok()) return graph_.node(*node).outputs;
  if (status_.ok()) status_ = node.status();
  return std::vector<ValueId>(count);
}

ValueId Expansion::Cast(ValueId value, DType from, DType to) {
  if (from == to) return value;
  return Call("Cast", {value}, {{"to", static_cast<int64_t>(to)}});
}

ValueId Expansion::Transpose(ValueId value, std::vector<int64_t> perm) {
  return Call("Transpose", {value}, {{"perm", std::move(perm)}});
}

ValueId Expansion::ToChannelsFirst(ValueId value, int rank) {
  std::vector<int64_t> perm = {0, rank - 1};
  for (int64_t axis = 1; axis < rank - 1; ++axis) perm.push_back(axis);
  return Transpose(value, std::move(perm));
}

ValueId Expansion::ToChannelsLast(ValueId value, int rank) {
  std::vector<int64_t> perm = {0};
  for (int64_t axis = 2; axis < rank; ++axis) perm.push_back(axis);
  perm.push_back(1);
  return Transpose(value, std::move(perm));
}

bool Expansion::Wants(int output) const {
  const auto at = static_cast<size_t>(output);
  return at < node_.outputs.size() && node_.outputs[at].valid();
}

void Expansion::Give(int output, ValueId value) {
  if (Wants(output)) given_[static_cast<size_t>(output)] = value;
}

void Expansion::Round(int output, ValueId value, DType dtype) {
  if (!Wants(output)) return;
  Give(output, IsHalf(dtype) ? Cast(value, DType::kFloat32, dtype) : value);
}

void Expansion::GiveType(int output, DType dtype, std::optional<SymbolicShape> shape) {
  if (!Wants(output)) return;
  Give(output, graph_.AddInput("unknown", ValueType::OfTensor(dtype, std::move(shape))));
}

Status Expansion::Build(Function expand) {
  KHEYA_RETURN_IF_ERROR(expand(*this));
  if (!status_.ok()) return status_;
  for (size_t i = 0; i < given_.size(); ++i) {
    if (!Wants(static_cast<int>(i))) continue;
    if (!given_[i].valid()) return UnimplementedError("output {} is not supported", i);
    graph_.AddOutput("y" + std::to_string(i), given_[i]);
  }
  return OkStatus();
}

Status InferExpansion(Expansion::Function expand, InferContext& context) {
  Expansion expansion(context.node(), false);
  for (int i = 0; i < context.num_inputs(); ++i) {
    if (!context.has_input(i)) {
      expansion.inputs_.emplace_back();
    } else if (context.input_dtype(i) == DType::kUndefined) {
      return OkStatus();
    } else if (const Tensor* constant = context.input_constant(i)) {
      expansion.inputs_.push_back(expansion.graph_.AddConstant("x", *constant));
      expansion.graph_.SetType(expansion.inputs_.back(), ValueType::OfTensor(*constant));
    } else {
      expansion.inputs_.push_back(expansion.graph_.AddInput("x", context.input_type(i)));
      expansion.graph_.SetElements(expansion.inputs_.back(), context.input_elements(i));
    }
    expansion.known_.push_back(KnownElements(context, i));
  }
  KHEYA_RETURN_IF_ERROR(expansion.Build(expand));
  KHEYA_RETURN_IF_ERROR(InferNested(expansion.graph_, context.depth() + 1));
  size_t at = 0;
  for (int i = 0; i < context.num_outputs(); ++i) {
    if (!expansion.Wants(i)) continue;
    const GraphValue& value = expansion.graph_.value(expansion.graph_.outputs()[at++].value);
    KHEYA_RETURN_IF_ERROR(context.SetOutputType(i, value.type));
    if (value.elements) context.SetOutputElements(i, *value.elements);
  }
  return OkStatus();
}

Status EvaluateExpansion(Expansion::Function expand, EvalContext& context) {
  Expansion expansion(context.node(), true);
  std::vector<Value> inputs;
  for (int i = 0; i < context.num_inputs(); ++i) {
    expansion.known_.emplace_back();
    if (!context.has_input(i)) {
      expansion.inputs_.emplace_back();
      continue;
    }
    const Tensor& input = context.input(i);
    expansion.inputs_.push_back(expansion.graph_.AddInput("x", ValueType::OfTensor(input)));
    inputs.emplace_back(input);
    if (IsInteger(input.dtype()) && input.shape().rank() <= 1 &&
        input.num_elements() <= kMaxPropagatedElements) {
      KHEYA_ASSIGN_OR_RETURN(expansion.known_.back(), ToInt64s(input));
    }
  }
  KHEYA_RETURN_IF_ERROR(expansion.Build(expand));
  const InterpretOptions options{context.budget(), {}, [&] { return context.CheckAlive(); }};
  KHEYA_ASSIGN_OR_RETURN(std::vector<Value> outputs, Interpret(expansion.graph_, inputs, options));
  size_t at = 0;
  for (int i = 0; i < context.num_outputs(); ++i) {
    if (!expansion.Wants(i)) continue;
    KHEYA_RETURN_IF_ERROR(context.SetOutput(i, std::move(outputs[at++])));
  }
  return OkStatus();
}

}  // namespace kheya
