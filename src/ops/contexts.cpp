#include "ops/contexts.h"

#include <utility>

#include "base/random.h"

namespace kheya {
namespace {

// The attribute's value when it is there and of type T, else `missing`.
template <typename T>
T ValueOr(const Node& node, std::string_view name, T missing) {
  const Attribute* attribute = node.FindAttribute(name);
  const T* value = attribute == nullptr ? nullptr : std::get_if<T>(&attribute->value);
  return value == nullptr ? std::move(missing) : *value;
}

// What inference found, filled up with what was declared.
Result<SymbolicShape> MergeShapes(SymbolicShape found, const SymbolicShape& declared) {
  if (found.size() != declared.size()) {
    return InvalidArgumentError("found a shape of {}, declared is {}", ToString(found),
                                ToString(declared));
  }
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i].unknown()) found[i] = declared[i];
  }
  return found;
}

Status Contradiction(const ValueType& found, const ValueType& declared) {
  return InvalidArgumentError("found a value of type {}, declared is {}", found.ToString(),
                              declared.ToString());
}

Result<ValueType> MergeTypes(ValueType found, const ValueType& declared) {
  if (declared.kind == ValueType::Kind::kUnknown) return found;
  if (found.kind == ValueType::Kind::kUnknown) return declared;
  const bool optional = declared.kind == ValueType::Kind::kOptional;
  if (optional != (found.kind == ValueType::Kind::kOptional)) {
    // A value stands for the optional that holds it.
    return CommonType(found, declared) ? Result<ValueType>(found) : Contradiction(found, declared);
  }
  const bool known = found.dtype != DType::kUndefined && declared.dtype != DType::kUndefined;
  if (found.kind != declared.kind || (known && found.dtype != declared.dtype)) {
    return Contradiction(found, declared);
  }
  if (found.dtype == DType::kUndefined) found.dtype = declared.dtype;
  if (found.element && declared.element) {
    KHEYA_ASSIGN_OR_RETURN(ValueType element, MergeTypes(*found.element, *declared.element));
    found.element = std::make_shared<const ValueType>(std::move(element));
  }
  if (!found.is_tensor()) return found;
  if (!found.shape) {
    found.shape = declared.shape;
  } else if (declared.shape) {
    KHEYA_ASSIGN_OR_RETURN(found.shape, MergeShapes(std::move(*found.shape), *declared.shape));
  }
  return found;
}

bool HoldsElements(DType dtype) { return IsInteger(dtype) || dtype == DType::kBool; }

const ValueType& UnknownType() {
  static const ValueType unknown;
  return unknown;
}

// A list short enough to be propagated, as elements that may be unknown.
std::optional<std::vector<Dim>> UnknownElements(const ValueType& type) {
  if (!type.is_tensor() || !HoldsElements(type.dtype) || !type.shape) return std::nullopt;
  if (type.shape->size() > 1) return std::nullopt;
  const Dim count = type.shape->empty() ? Dim(1) : type.shape->front();
  if (!count.known() || count.value() < 0 || count.value() > kMaxPropagatedElements) {
    return std::nullopt;
  }
  return std::vector<Dim>(static_cast<size_t>(count.value()));
}

}  // namespace

std::optional<std::vector<Dim>> ElementsOf(const Tensor& tensor) {
  if (!HoldsElements(tensor.dtype()) || tensor.shape().rank() > 1 ||
      tensor.num_elements() > kMaxPropagatedElements) {
    return std::nullopt;
  }
  const Result<std::vector<int64_t>> values = ToInt64s(tensor);
  if (!values.ok()) return std::nullopt;
  return std::vector<Dim>(values->begin(), values->end());
}

uint64_t MixSeed(uint64_t seed, const Node& node, uint64_t count) {
  // The outputs tell the nodes of a graph apart.
  const int32_t output = node.outputs.empty() ? -1 : node.outputs[0].index;
  const uint64_t own = (static_cast<uint64_t>(static_cast<uint32_t>(output)) << 32) + count;
  return Random(seed ^ Random(own).Next()).Next() | 1;
}

int64_t AttributeReader::Int(std::string_view name, int64_t default_value) const {
  return ValueOr(node_, name, default_value);
}

float AttributeReader::Float(std::string_view name, float default_value) const {
  return ValueOr(node_, name, default_value);
}

std::string AttributeReader::String(std::string_view name, std::string_view default_value) const {
  return ValueOr(node_, name, std::string(default_value));
}

std::vector<int64_t> AttributeReader::Ints(std::string_view name) const {
  return ValueOr(node_, name, std::vector<int64_t>());
}

std::vector<float> AttributeReader::Floats(std::string_view name) const {
  return ValueOr(node_, name, std::vector<float>());
}

std::vector<std::string> AttributeReader::Strings(std::string_view name) const {
  return ValueOr(node_, name, std::vector<std::string>());
}

const Tensor* AttributeReader::TensorOrNull(std::string_view name) const {
  const Attribute* attribute = node_.FindAttribute(name);
  return attribute == nullptr ? nullptr : std::get_if<Tensor>(&attribute->value);
}

std::shared_ptr<Graph> AttributeReader::GraphOrNull(std::string_view name) const {
  return ValueOr(node_, name, std::shared_ptr<Graph>());
}

bool InferContext::has_input(int index) const {
  return index < num_inputs() && node().inputs[index].valid();
}

const ValueType& InferContext::input_type(int index) const {
  return has_input(index) ? graph_.value(node().inputs[index]).type : UnknownType();
}

const SymbolicShape* InferContext::input_shape(int index) const {
  const ValueType& type = input_type(index);
  return type.is_tensor() && type.shape ? &*type.shape : nullptr;
}

const Tensor* InferContext::input_constant(int index) const {
  return has_input(index) ? graph_.Constant(node().inputs[index]) : nullptr;
}

std::optional<std::vector<Dim>> InferContext::input_elements(int index) const {
  if (!has_input(index)) return std::nullopt;
  if (const Tensor* constant = input_constant(index)) return ElementsOf(*constant);
  const GraphValue& value = graph_.value(node().inputs[index]);
  return value.elements ? value.elements : UnknownElements(value.type);
}

Status InferContext::SetOutputType(int index, ValueType type) {
  if (index >= num_outputs() || !node().outputs[index].valid()) return OkStatus();
  const ValueId id = node().outputs[index];
  const GraphValue& value = graph_.value(id);
  Result<ValueType> merged =
      MergeTypes(std::move(type), value.type).WithContext("value '{}'", value.name);
  KHEYA_ASSIGN_OR_RETURN(ValueType better, std::move(merged));
  graph_.SetType(id, std::move(better));
  return OkStatus();
}

const ValueType& InferContext::output_type(int index) const {
  const bool there = index < num_outputs() && node().outputs[index].valid();
  return there ? graph_.value(node().outputs[index]).type : UnknownType();
}

void InferContext::SetOutputElements(int index, std::vector<Dim> elements) {
  if (index >= num_outputs() || !node().outputs[index].valid()) return;
  if (static_cast<int64_t>(elements.size()) > kMaxPropagatedElements) return;
  graph_.SetElements(node().outputs[index], std::move(elements));
}

}  // namespace kheya
