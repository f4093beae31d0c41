#include "ops/testing/case_file.h"

#include <cmath>
#include <type_traits>
#include <utility>

#include "base/file.h"
#include "base/string_util.h"
#include "graph/text.h"
#include "kernels/reference/elementwise.h"
#include "tensor/small_types.h"

namespace kheya::test {
namespace {

Result<const Json*> Need(const Json& json, const char* key) {
  const Json* found = json.Find(key);
  if (found == nullptr) return InvalidArgumentError("found no '{}'", key);
  return found;
}

// Calls read(item) for each item and collects the results.
template <typename T, typename Read>
Result<std::vector<T>> ReadList(const Json& json, Read read) {
  std::vector<T> list;
  for (const Json& item : json.items()) {
    KHEYA_ASSIGN_OR_RETURN(T value, read(item));
    list.push_back(std::move(value));
  }
  return list;
}

template <typename T>
Status ReadNumber(const Json& json, T& out) {
  if constexpr (std::is_same_v<T, bool>) {
    KHEYA_ASSIGN_OR_RETURN(out, json.GetBool());
  } else if constexpr (std::is_integral_v<T>) {
    if (json.is_string()) {  // beyond int64
      KHEYA_ASSIGN_OR_RETURN(std::string text, json.GetString());
      KHEYA_ASSIGN_OR_RETURN(uint64_t value, ParseUint64(text));
      out = static_cast<T>(value);
    } else {
      KHEYA_ASSIGN_OR_RETURN(int64_t value, json.GetInt64());
      out = static_cast<T>(value);
    }
  } else if (json.is_string()) {
    KHEYA_ASSIGN_OR_RETURN(std::string text, json.GetString());
    KHEYA_ASSIGN_OR_RETURN(double value, ParseDouble(text));
    out = static_cast<T>(static_cast<kernels::ComputeType<T>>(value));
  } else {
    KHEYA_ASSIGN_OR_RETURN(double value, json.GetDouble());
    out = static_cast<T>(static_cast<kernels::ComputeType<T>>(value));
  }
  return OkStatus();
}

Status ReadSmallElements(const Json& data, Tensor& tensor) {
  for (size_t i = 0; i < data.items().size(); ++i) {
    double value = 0;
    KHEYA_RETURN_IF_ERROR(ReadNumber(data.items()[i], value));
    const SmallOptions exact = {false, SmallRounding::kNearest};
    const uint8_t code = IsSmallInteger(tensor.dtype())
                             ? IntegerToSmall(tensor.dtype(), static_cast<int64_t>(value))
                             : DoubleToSmall(tensor.dtype(), value, exact);
    const double read = SmallToDouble(tensor.dtype(), code);
    if (read != value && !std::isnan(value)) {
      return InvalidArgumentError("found {}, which {} does not hold", value,
                                  DTypeName(tensor.dtype()));
    }
    SetCode(tensor.dtype(), tensor.mutable_view().data, static_cast<int64_t>(i), code);
  }
  return OkStatus();
}

Status ReadElements(const Json& data, Tensor& tensor) {
  if (tensor.dtype() == DType::kString) {
    for (size_t i = 0; i < data.items().size(); ++i) {
      KHEYA_ASSIGN_OR_RETURN(tensor.mutable_data<std::string>()[i], data.items()[i].GetString());
    }
    return OkStatus();
  }
  if (IsSmall(tensor.dtype())) return ReadSmallElements(data, tensor);
  Status status;
  KHEYA_RETURN_IF_ERROR(kernels::CallWithNumericType(tensor.dtype(), [&]<typename T>(const T&) {
    const auto to = tensor.mutable_data<T>();
    for (size_t i = 0; i < to.size() && status.ok(); ++i) {
      status = ReadNumber(data.items()[i], to[i]);
    }
  }));
  return status;
}

template <typename T>
Json NumberToJson(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value;
  } else if constexpr (std::is_integral_v<T>) {
    if (!std::in_range<int64_t>(value)) return std::to_string(value);
    return value;
  } else {
    const double wide = static_cast<double>(value);
    if (std::isnan(wide)) return "nan";
    if (std::isinf(wide)) return wide < 0 ? "-inf" : "inf";
    // Nine digits tell a float.
    if constexpr (std::is_same_v<T, float>) return std::stod(fmt::format("{:.9g}", wide));
    return wide;
  }
}

Result<AttributeValue> ReadAttribute(const Json& json, AttributeKind kind) {
  const auto to_int = [](const Json& item) { return item.GetInt64(); };
  const auto to_text = [](const Json& item) { return item.GetString(); };
  const auto to_float = [](const Json& item) -> Result<float> {
    KHEYA_ASSIGN_OR_RETURN(double value, item.GetDouble());
    return static_cast<float>(value);
  };
  const auto wrap = [](auto result) -> Result<AttributeValue> {
    if (!result.ok()) return std::move(result).status();
    return AttributeValue(std::move(result).value());
  };
  switch (kind) {
    case AttributeKind::kInt:
      return wrap(to_int(json));
    case AttributeKind::kFloat:
      return wrap(to_float(json));
    case AttributeKind::kString:
      return wrap(to_text(json));
    case AttributeKind::kTensor:
      return wrap(TensorFromJson(json));
    case AttributeKind::kInts:
      return wrap(ReadList<int64_t>(json, to_int));
    case AttributeKind::kFloats:
      return wrap(ReadList<float>(json, to_float));
    case AttributeKind::kStrings:
      return wrap(ReadList<std::string>(json, to_text));
    case AttributeKind::kGraph: {
      KHEYA_ASSIGN_OR_RETURN(std::string text, json.GetString());
      KHEYA_ASSIGN_OR_RETURN(Graph graph, ParseGraph(text));
      return AttributeValue(std::make_shared<Graph>(std::move(graph)));
    }
    case AttributeKind::kType: {
      KHEYA_ASSIGN_OR_RETURN(std::string text, json.GetString());
      return wrap(ValueType::Parse(text));
    }
    default:
      return UnimplementedError("attributes of kind {} cannot be written in a case",
                                AttributeKindName(kind));
  }
}

// The kind that the operator gives the attribute; for others, which a case may try, what the JSON
// looks like.
AttributeKind KindOf(const OpDef& op, const std::string& name, const Json& json) {
  for (const AttributeDef& def : op.attributes) {
    if (def.name == name) return def.kind;
  }
  if (json.is_string()) return AttributeKind::kString;
  return json.is_array() ? AttributeKind::kInts : AttributeKind::kInt;
}

Result<Value> ReadValue(const Json& json);

template <typename Map, typename Key>
Value MapOf(std::span<const Key> keys, std::vector<Value> values) {
  Map map;
  for (size_t i = 0; i < keys.size(); ++i) map.emplace(keys[i], std::move(values[i]));
  return Value(std::move(map));
}

Result<Value> ReadMap(const Json& json) {
  KHEYA_ASSIGN_OR_RETURN(const Json* names, Need(json, "keys"));
  KHEYA_ASSIGN_OR_RETURN(const Json* items, Need(json, "values"));
  KHEYA_ASSIGN_OR_RETURN(const Tensor keys, TensorFromJson(*names));
  KHEYA_ASSIGN_OR_RETURN(std::vector<Value> values, ReadList<Value>(*items, ReadValue));
  if (static_cast<int64_t>(values.size()) != keys.num_elements()) {
    return InvalidArgumentError("found {} values, expected {}", values.size(), keys.num_elements());
  }
  if (keys.dtype() == DType::kString) {
    return MapOf<StringMap>(keys.data<std::string>(), std::move(values));
  }
  if (keys.dtype() == DType::kInt64) {
    return MapOf<Int64Map>(keys.data<int64_t>(), std::move(values));
  }
  return InvalidArgumentError("found keys {}, expected int64 or string", keys.TypeString());
}

Result<Value> ReadValue(const Json& json) {
  if (const Json* optional = json.Find("optional")) {
    return optional->is_null() ? Result<Value>(Value()) : ReadValue(*optional);
  }
  if (const Json* items = json.Find("sequence")) {
    KHEYA_ASSIGN_OR_RETURN(Sequence sequence, ReadList<Value>(*items, ReadValue));
    return Value(std::move(sequence));
  }
  if (const Json* map = json.Find("map")) return ReadMap(*map);
  KHEYA_ASSIGN_OR_RETURN(Tensor tensor, TensorFromJson(json));
  return Value(std::move(tensor));
}

Result<std::optional<CaseValue>> ReadCaseValue(const Json& json) {
  if (json.is_null()) return std::optional<CaseValue>();
  CaseValue operand;
  KHEYA_ASSIGN_OR_RETURN(operand.value, ReadValue(json));
  operand.type = TypeOf(operand.value);
  if (const Json* type = json.Find("type")) {
    KHEYA_ASSIGN_OR_RETURN(const std::string text, type->GetString());
    KHEYA_ASSIGN_OR_RETURN(operand.type, ValueType::Parse(text));
  }
  return std::optional(std::move(operand));
}

template <typename Map>
Json MapToJson(const Map& map) {
  using Key = typename Map::key_type;
  std::vector<Key> keys;
  Json values = Json::Array();
  for (const auto& [key, value] : map) {
    keys.push_back(key);
    values.Append(ValueToJson(value));
  }
  Json json = Json::Object();
  json["map"]["keys"] = ValueToJson(
      Tensor::FromValues<Key>(Shape{static_cast<int64_t>(keys.size())}, std::span(keys)));
  json["map"]["values"] = values;
  return json;
}

Json TensorToJson(const Tensor& tensor) {
  Json json = Json::Object();
  json["dtype"] = DTypeName(tensor.dtype());
  json["shape"] = std::vector<int64_t>(tensor.shape().begin(), tensor.shape().end());
  Json& data = json["data"];
  data = Json::Array();
  if (tensor.dtype() == DType::kString) {
    for (const std::string& text : tensor.data<std::string>()) data.Append(text);
    return json;
  }
  for (int64_t i = 0; IsSmall(tensor.dtype()) && i < tensor.num_elements(); ++i) {
    data.Append(NumberToJson(
        SmallToDouble(tensor.dtype(), CodeAt(tensor.dtype(), tensor.bytes().data(), i))));
  }
  if (IsSmall(tensor.dtype())) return json;
  const Status status = kernels::CallWithNumericType(tensor.dtype(), [&]<typename T>(const T&) {
    for (const T& value : tensor.data<T>()) data.Append(NumberToJson(value));
  });
  if (!status.ok()) data = Json();
  return json;
}

Result<Dim> ReadDim(const Json& json) {
  KHEYA_ASSIGN_OR_RETURN(std::string text, json.GetString());
  const std::optional<Dim> dim = Dim::Parse(text);
  if (!dim) return InvalidArgumentError("found '{}', expected a dimension", text);
  return *dim;
}

Result<TypedOperand> ReadTyped(const Json& json) {
  TypedOperand operand;
  operand.left_out = json.is_null();
  if (operand.left_out) return operand;
  if (json.Find("data") != nullptr) {
    KHEYA_ASSIGN_OR_RETURN(Tensor tensor, TensorFromJson(json));
    operand.type = ValueType::OfTensor(tensor);
    operand.constant = std::move(tensor);
    return operand;
  }
  const Json* type = json.is_string() ? &json : json.Find("type");
  if (type == nullptr) return InvalidArgumentError("found no 'type'");
  KHEYA_ASSIGN_OR_RETURN(std::string text, type->GetString());
  KHEYA_ASSIGN_OR_RETURN(operand.type, ValueType::Parse(text));
  if (const Json* elements = json.Find("elements")) {
    KHEYA_ASSIGN_OR_RETURN(operand.elements, ReadList<Dim>(*elements, ReadDim));
  }
  return operand;
}

Result<std::vector<Attribute>> ReadAttributes(const Json& json, const OpDef& op) {
  std::vector<Attribute> attributes;
  for (const auto& [name, value] : json.members()) {
    KHEYA_ASSIGN_OR_RETURN(AttributeValue read, ReadAttribute(value, KindOf(op, name, value)));
    attributes.push_back({name, std::move(read)});
  }
  return attributes;
}

Result<OpCase> ReadCase(const Json& json, const OpDef& op) {
  OpCase one;
  KHEYA_ASSIGN_OR_RETURN(const Json* name, Need(json, "name"));
  KHEYA_ASSIGN_OR_RETURN(one.name, name->GetString());
  for (const auto& [key, value] : json.members()) {
    if (key == "attributes") {
      KHEYA_ASSIGN_OR_RETURN(one.attributes, ReadAttributes(value, op));
    } else if (key == "inputs") {
      KHEYA_ASSIGN_OR_RETURN(one.inputs, ReadList<std::optional<CaseValue>>(value, ReadCaseValue));
    } else if (key == "outputs") {
      KHEYA_ASSIGN_OR_RETURN(one.outputs, ReadList<std::optional<CaseValue>>(value, ReadCaseValue));
    } else if (key == "tolerance") {
      KHEYA_ASSIGN_OR_RETURN(one.tolerance, value.GetDouble());
    } else if (key == "num_outputs") {
      KHEYA_ASSIGN_OR_RETURN(one.num_outputs, value.GetInt64());
    } else if (key == "error") {
      KHEYA_ASSIGN_OR_RETURN(one.error, value.GetString());
    } else if (key == "infer") {
      KHEYA_ASSIGN_OR_RETURN(const Json* inputs, Need(value, "inputs"));
      KHEYA_ASSIGN_OR_RETURN(one.infer_inputs, ReadList<TypedOperand>(*inputs, ReadTyped));
      KHEYA_ASSIGN_OR_RETURN(const Json* outputs, Need(value, "outputs"));
      KHEYA_ASSIGN_OR_RETURN(one.infer_outputs, ReadList<TypedOperand>(*outputs, ReadTyped));
    } else if (key != "name") {
      return InvalidArgumentError("case '{}': found key '{}'", one.name, key);
    }
  }
  return one;
}

std::string OneLine(const Json& json) {
  std::string text;
  const char* separator = "";
  if (json.is_array()) {
    for (const Json& item : json.items()) {
      text += std::exchange(separator, ", ") + OneLine(item);
    }
    return "[" + text + "]";
  }
  if (!json.is_object()) return json.Dump();
  for (const auto& [key, value] : json.members()) {
    text += std::exchange(separator, ", ") + Json(key).Dump() + ": " + OneLine(value);
  }
  return "{" + text + "}";
}

// Inputs and outputs one to a line.
std::string MemberText(const std::string& key, const Json& value) {
  if (key != "inputs" && key != "outputs") return OneLine(value);
  std::string text = "[";
  const char* separator = "\n      ";
  for (const Json& item : value.items()) {
    text += std::exchange(separator, ",\n      ") + OneLine(item);
  }
  return text + "]";
}

}  // namespace

Result<Tensor> TensorFromJson(const Json& json) {
  KHEYA_ASSIGN_OR_RETURN(const Json* type, Need(json, "dtype"));
  KHEYA_ASSIGN_OR_RETURN(const Json* dims, Need(json, "shape"));
  KHEYA_ASSIGN_OR_RETURN(const Json* data, Need(json, "data"));
  KHEYA_ASSIGN_OR_RETURN(std::string name, type->GetString());
  const std::optional<DType> dtype = DTypeFromName(name);
  if (!dtype) return InvalidArgumentError("found element type '{}'", name);
  KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> sizes, ReadList<int64_t>(*dims, [](const Json& item) {
                           return item.GetInt64();
                         }));
  KHEYA_ASSIGN_OR_RETURN(Shape shape, Shape::Create(sizes));
  if (static_cast<int64_t>(data->items().size()) != shape.num_elements()) {
    return InvalidArgumentError("found {} elements, expected {} for {}", data->items().size(),
                                shape.num_elements(), shape.ToString());
  }
  KHEYA_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Zeros(*dtype, shape));
  KHEYA_RETURN_IF_ERROR(ReadElements(*data, tensor));
  return tensor;
}

Json ValueToJson(const Value& value) {
  if (value.is_tensor()) return TensorToJson(value.tensor());
  Json json = Json::Object();
  if (const Sequence* sequence = value.sequence()) {
    json["sequence"] = Json::Array();
    for (const Value& item : *sequence) json["sequence"].Append(ValueToJson(item));
    return json;
  }
  if (const Int64Map* map = value.int64_map()) return MapToJson(*map);
  if (const StringMap* map = value.string_map()) return MapToJson(*map);
  json["optional"] = Json();
  return json;
}

Result<OpCaseFile> ReadCaseFile(const std::string& path, const OpDef& op) {
  OpCaseFile file = {path, {}, {}};
  KHEYA_ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  KHEYA_ASSIGN_OR_RETURN(file.json, Json::Parse(text));
  Result<std::vector<OpCase>> cases =
      ReadList<OpCase>(file.json, [&](const Json& item) { return ReadCase(item, op); });
  KHEYA_ASSIGN_OR_RETURN(file.cases, std::move(cases).WithContext("file '{}'", path));
  return file;
}

Status WriteCaseFile(const std::string& path, const Json& json) {
  std::string text = "[";
  const char* separator = "\n  {\n";
  for (const Json& one : json.items()) {
    text += std::exchange(separator, ",\n  {\n");
    const char* comma = "";
    for (const auto& [key, value] : one.members()) {
      text += std::exchange(comma, ",\n") + ("    \"" + key + "\": " + MemberText(key, value));
    }
    text += "\n  }";
  }
  return WriteFileAtomic(path, text + "\n]\n");
}

}  // namespace kheya::test
