#include "ops/testing/op_fuzz.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <limits>

#include "graph/text.h"
#include "ops/infer.h"
#include "ops/verify_model.h"

namespace kheya::test {
namespace {

constexpr uint64_t kBudgetBytes = uint64_t{64} << 20;
// Inputs stay small: what is large comes from attributes and elements.
constexpr int64_t kMostElements = 4096;

template <typename T, size_t count>
T OneOf(const T (&values)[count], const Choose& choose) {
  return values[choose(count)];
}

int64_t AnyInt(const Choose& choose) {
  constexpr int64_t kInts[] = {0,
                               1,
                               -1,
                               2,
                               -2,
                               3,
                               4,
                               5,
                               7,
                               8,
                               16,
                               17,
                               64,
                               255,
                               256,
                               1 << 20,
                               int64_t{1} << 31,
                               int64_t{1} << 40,
                               std::numeric_limits<int64_t>::max(),
                               std::numeric_limits<int64_t>::min()};
  return OneOf(kInts, choose);
}

float AnyFloat(const Choose& choose) {
  constexpr float kFloats[] = {0,
                               1,
                               -1,
                               0.5f,
                               2,
                               1e-30f,
                               1e30f,
                               -1e30f,
                               3.5f,
                               std::numeric_limits<float>::infinity(),
                               std::numeric_limits<float>::quiet_NaN()};
  return OneOf(kFloats, choose);
}

std::string AnyString(const Choose& choose) {
  static const std::string kStrings[] = {"",         "a",     "b",           "linear",  "SUM",
                                         "\xff\xfe", "none",  "[",           "abc abc", "tanh",
                                         "reflect",  "floor", "..., ij -> k"};
  return kStrings[choose(std::size(kStrings))];
}

DType AnyDType(const Choose& choose) {
  constexpr DType kTypes[] = {
      DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16,     DType::kInt8,
      DType::kUint8,   DType::kInt32,   DType::kInt64,   DType::kBool,         DType::kString,
      DType::kInt4,    DType::kUint2,   DType::kUint64,  DType::kFloat8E4M3FN, DType::kComplex64};
  return OneOf(kTypes, choose);
}

// Elements of `from` over and over, where the type is the same; else zeros.
Tensor Refilled(const Tensor& from, DType dtype, const Shape& shape) {
  Result<Tensor> made = Tensor::Zeros(dtype, shape);
  if (!made.ok()) return from;
  if (dtype != from.dtype() || from.num_elements() == 0) return *made;
  if (dtype == DType::kString) {
    for (int64_t i = 0; i < made->num_elements(); ++i) {
      made->mutable_data<std::string>()[i] = from.data<std::string>()[i % from.num_elements()];
    }
    return *made;
  }
  auto* out = static_cast<std::byte*>(made->mutable_view().data);
  for (size_t i = 0; i < made->num_bytes(); ++i) out[i] = from.bytes()[i % from.num_bytes()];
  return *made;
}

Shape Reshaped(const Shape& shape, const Choose& choose) {
  std::vector<int64_t> dims(shape.begin(), shape.end());
  const uint32_t kind = choose(4);
  if (dims.empty() || (kind == 0 && dims.size() < 6)) {
    dims.insert(dims.begin() + choose(static_cast<uint32_t>(dims.size() + 1)), choose(3));
  } else if (kind == 1) {
    dims.erase(dims.begin() + choose(static_cast<uint32_t>(dims.size())));
  } else {
    constexpr int64_t kSizes[] = {0, 1, 2, 3, 5, 8, 17};
    dims[choose(static_cast<uint32_t>(dims.size()))] = OneOf(kSizes, choose);
  }
  const Result<Shape> made = Shape::Create(dims);
  return made.ok() && made->num_elements() <= kMostElements ? *made : shape;
}

void SetElement(Tensor& tensor, const Choose& choose) {
  if (tensor.num_elements() == 0) return;
  // Tensors share memory: this one must not write into another's.
  tensor = Refilled(tensor, tensor.dtype(), tensor.shape());
  const auto at = choose(static_cast<uint32_t>(tensor.num_elements()));
  switch (tensor.dtype()) {
    case DType::kString:
      tensor.mutable_data<std::string>()[at] = AnyString(choose);
      return;
    case DType::kFloat32:
      tensor.mutable_data<float>()[at] = AnyFloat(choose);
      return;
    case DType::kFloat64:
      tensor.mutable_data<double>()[at] = AnyFloat(choose);
      return;
    case DType::kInt64:
      tensor.mutable_data<int64_t>()[at] = AnyInt(choose);
      return;
    case DType::kInt32:
      tensor.mutable_data<int32_t>()[at] = static_cast<int32_t>(AnyInt(choose));
      return;
    case DType::kBool:
      tensor.mutable_data<bool>()[at] = choose(2) == 1;
      return;
    default:
      static_cast<std::byte*>(
          tensor.mutable_view().data)[choose(static_cast<uint32_t>(tensor.num_bytes()))] =
          static_cast<std::byte>(choose(256));
  }
}

void MutateTensor(Tensor& tensor, const Choose& choose) {
  switch (choose(4)) {
    case 0:
      tensor = Refilled(tensor, AnyDType(choose), tensor.shape());
      return;
    case 1:
      tensor = Refilled(tensor, tensor.dtype(), Reshaped(tensor.shape(), choose));
      return;
    default:
      SetElement(tensor, choose);
  }
}

void MutateValue(Value& value, const Choose& choose) {
  if (value.is_tensor()) {
    MutateTensor(value.tensor(), choose);
  } else if (value.sequence() != nullptr) {
    Sequence changed = *value.sequence();
    const auto size = static_cast<uint32_t>(changed.size());
    if (size == 0 || choose(4) == 0) {
      changed.push_back(size == 0 ? Value(Tensor::Scalar(1.0f)) : changed[0]);
    } else if (choose(3) == 0) {
      changed.pop_back();
    } else {
      MutateValue(changed[choose(size)], choose);
    }
    value = Value(std::move(changed));
  } else if (value.empty()) {
    value = Tensor::Scalar(AnyInt(choose));
  }
}

template <typename T>
void MutateList(std::vector<T>& list, const T& any, const Choose& choose) {
  const uint32_t kind = choose(3);
  if (list.empty() || (kind == 0 && list.size() < 64)) {
    list.insert(list.begin() + choose(static_cast<uint32_t>(list.size() + 1)), any);
  } else if (kind == 1) {
    list.pop_back();
  } else {
    list[choose(static_cast<uint32_t>(list.size()))] = any;
  }
}

void MutateAttribute(AttributeValue& value, const Choose& choose) {
  if (auto* number = std::get_if<int64_t>(&value)) {
    *number = AnyInt(choose);
  } else if (auto* real = std::get_if<float>(&value)) {
    *real = AnyFloat(choose);
  } else if (auto* text = std::get_if<std::string>(&value)) {
    *text = AnyString(choose);
  } else if (auto* tensor = std::get_if<Tensor>(&value)) {
    MutateTensor(*tensor, choose);
  } else if (auto* ints = std::get_if<std::vector<int64_t>>(&value)) {
    MutateList(*ints, AnyInt(choose), choose);
  } else if (auto* floats = std::get_if<std::vector<float>>(&value)) {
    MutateList(*floats, AnyFloat(choose), choose);
  } else if (auto* strings = std::get_if<std::vector<std::string>>(&value)) {
    MutateList(*strings, AnyString(choose), choose);
  }
}

// An attribute that the case does not have.
void AddAttribute(const OpDef& op, OpCase& one, const Choose& choose) {
  if (op.attributes.empty()) return;
  const AttributeDef& def = op.attributes[choose(static_cast<uint32_t>(op.attributes.size()))];
  for (const Attribute& attribute : one.attributes) {
    if (attribute.name == def.name) return;
  }
  switch (def.kind) {
    case AttributeKind::kInt:
      one.attributes.push_back({def.name, AnyInt(choose)});
      return;
    case AttributeKind::kFloat:
      one.attributes.push_back({def.name, AnyFloat(choose)});
      return;
    case AttributeKind::kString:
      one.attributes.push_back({def.name, AnyString(choose)});
      return;
    case AttributeKind::kInts:
      one.attributes.push_back({def.name, std::vector<int64_t>{AnyInt(choose), AnyInt(choose)}});
      return;
    case AttributeKind::kFloats:
      one.attributes.push_back({def.name, std::vector<float>{AnyFloat(choose)}});
      return;
    default:
      return;
  }
}

// As it is, with a dimension or all of them not known.
ValueType Weakened(ValueType type, const std::string& name, const Choose& choose) {
  if (!type.is_tensor() || !type.shape || choose(3) == 0) return type;
  if (choose(3) == 0) {
    type.shape.reset();
  } else if (!type.shape->empty()) {
    const auto axis = choose(static_cast<uint32_t>(type.shape->size()));
    (*type.shape)[axis] = choose(2) == 0 ? Dim() : Dim::Symbol(name + std::to_string(axis));
  }
  return type;
}

struct Prepared {
  Graph graph{"hostile"};
  std::vector<Value> inputs;
};

Result<Prepared> Prepare(const OpDef& op, const OpCase& one, const Choose& choose) {
  Prepared prepared;
  NodeSpec spec = {.op = op.name, .domain = op.domain, .attributes = one.attributes};
  for (Attribute& attribute : spec.attributes) {
    auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute.value);
    if (body == nullptr) continue;
    // What a body declares of its values need not hold for other inputs.
    *body = std::make_shared<Graph>((*body)->Clone());
    ForgetTypes(**body);
  }
  for (const std::optional<CaseValue>& input : one.inputs) {
    const std::string name = "x" + std::to_string(spec.inputs.size());
    if (!input) {
      spec.inputs.emplace_back();
    } else if (input->value.is_tensor() && choose(3) == 0) {
      spec.inputs.push_back(prepared.graph.AddConstant(name, input->value.tensor()));
    } else {
      const ValueType type =
          input->value.is_tensor() ? ValueType::OfTensor(input->value.tensor()) : input->type;
      spec.inputs.push_back(prepared.graph.AddInput(name, Weakened(type, name + "_", choose)));
      prepared.inputs.push_back(input->value);
    }
  }
  const size_t outputs =
      std::max<size_t>(1, one.outputs.empty() ? static_cast<size_t>(one.num_outputs.value_or(1))
                                              : one.outputs.size());
  for (size_t i = 0; i < outputs; ++i) spec.outputs.push_back("y" + std::to_string(i));
  KHEYA_ASSIGN_OR_RETURN(const NodeId node, prepared.graph.AddNode(std::move(spec)));
  const std::vector<ValueId> made = prepared.graph.node(node).outputs;
  for (size_t i = 0; i < made.size(); ++i) {
    prepared.graph.AddOutput("y" + std::to_string(i), made[i]);
  }
  return prepared;
}

Status CheckOutput(const GraphValue& inferred, const Value& computed) {
  KHEYA_RETURN_IF_ERROR(CheckType(computed, inferred.type));
  if (!inferred.elements || !computed.is_tensor()) return OkStatus();
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> values, ToInt64s(computed.tensor()));
  if (values.size() != inferred.elements->size()) {
    return InvalidArgumentError("found {} elements, inferred {}", values.size(),
                                inferred.elements->size());
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const Dim& element = (*inferred.elements)[i];
    if (!element.known() || element.value() == values[i]) continue;
    return InvalidArgumentError("element {} is {}, inferred {}", i, values[i], element.value());
  }
  return OkStatus();
}

std::string CheckRun(Prepared& prepared, int patience_ms) {
  if (!VerifyModel(prepared.graph).ok() || !InferTypes(prepared.graph).ok()) return "";
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const std::chrono::milliseconds patience(patience_ms);
  InterpretOptions options;
  options.seed = 1;
  options.budget = std::make_shared<MemoryBudget>("hostile", kBudgetBytes);
  options.check_alive = [&] {
    return Clock::now() - start < patience / 4 ? OkStatus() : DeadlineExceededError("too slow");
  };
  const Result<std::vector<Value>> computed = Interpret(prepared.graph, prepared.inputs, options);
  if (Clock::now() - start > patience) return "does not stop when it is told to";
  if (!computed.ok()) {
    const bool internal = computed.status().code() == StatusCode::kInternal;
    return internal ? "an internal error: " + computed.status().message() : "";
  }
  for (size_t i = 0; i < computed->size(); ++i) {
    const GraphValue& inferred = prepared.graph.value(prepared.graph.outputs()[i].value);
    const Status fits = CheckOutput(inferred, (*computed)[i]);
    if (!fits.ok()) {
      return fmt::format("output {} was inferred as {}: {}", i, inferred.type.ToString(),
                         fits.message());
    }
  }
  return "";
}

}  // namespace

std::string CaseFileOf(const OpDef& op) {
  const std::string domain = op.domain;
  const char* folder = domain == "ai.onnx.ml"                 ? "ml/"
                       : domain == "com.microsoft"            ? "microsoft/"
                       : domain == "ai.onnx.preview.training" ? "training/"
                                                              : "";
  return folder + std::string(op.name) + ".json";
}

void Mutate(const OpDef& op, OpCase& one, const Choose& choose) {
  const auto inputs = static_cast<uint32_t>(one.inputs.size());
  const auto attributes = static_cast<uint32_t>(one.attributes.size());
  switch (choose(8)) {
    case 0:
      if (inputs > 0 && choose(2) == 0) one.inputs[choose(inputs)].reset();
      if (inputs > 0 && choose(2) == 0) one.inputs.push_back(one.inputs[choose(inputs)]);
      return;
    case 1:
      if (inputs > 1) std::swap(one.inputs[choose(inputs)], one.inputs[choose(inputs)]);
      return;
    case 2:
      AddAttribute(op, one, choose);
      return;
    case 3:
    case 4:
      if (attributes > 0) MutateAttribute(one.attributes[choose(attributes)].value, choose);
      return;
    case 5:
      if (attributes > 0 && choose(4) == 0) {
        one.attributes.erase(one.attributes.begin() + choose(attributes));
      }
      [[fallthrough]];
    default:
      if (inputs == 0) return;
      std::optional<CaseValue>& input = one.inputs[choose(inputs)];
      if (input) MutateValue(input->value, choose);
  }
}

std::string CheckHostile(const OpDef& op, const OpCase& one, const Choose& choose,
                         int patience_ms) {
  try {
    Result<Prepared> prepared = Prepare(op, one, choose);
    if (!prepared.ok()) return "";
    const std::string wrong = CheckRun(*prepared, patience_ms);
    return wrong.empty() ? "" : wrong + "\n" + PrintGraph(prepared->graph);
  } catch (const std::exception& thrown) {
    return std::string("an exception: ") + thrown.what();
  }
}

}  // namespace kheya::test
