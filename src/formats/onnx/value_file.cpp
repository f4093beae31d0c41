#include "formats/onnx/value_file.h"

#include "base/file.h"
#include "formats/limits.h"
#include "formats/onnx/proto.h"
#include "formats/onnx/tensor_reader.h"
#include "formats/onnx/type_writer.h"

namespace kheya {
namespace {

using onnx::TensorReader;
using Kind = ValueType::Kind;

// Fields of SequenceProto and OptionalProto by the kind of the elements. They are the same in both,
// OptionalProto's being single.
uint32_t ElementField(Kind kind) {
  switch (kind) {
    case Kind::kSequence:
      return 5;
    case Kind::kMap:
      return 6;
    case Kind::kOptional:
      return 7;
    default:
      return 3;
  }
}

Result<Value> ReadValue(ByteSpan bytes, const ValueType& type, const TensorReader& tensors,
                        int depth);

// Calls visit(value) for each element of a sequence or optional.
template <typename Visit>
Status VisitElements(ByteSpan bytes, const ValueType& element, const TensorReader& tensors,
                     int depth, Visit visit) {
  ProtobufReader reader(bytes);
  for (WireField field; reader.Next(field);) {
    if (field.number != ElementField(element.kind)) continue;
    KHEYA_ASSIGN_OR_RETURN(const ByteSpan message, reader.Bytes(field));
    KHEYA_ASSIGN_OR_RETURN(Value value, ReadValue(message, element, tensors, depth + 1));
    visit(std::move(value));
  }
  return reader.status();
}

Result<Value> ReadMap(ByteSpan bytes, const ValueType& element, const TensorReader& tensors,
                      int depth) {
  std::vector<int64_t> int_keys;
  std::vector<std::string> string_keys;
  Sequence values;
  ProtobufReader reader(bytes);
  for (WireField field; reader.Next(field);) {
    if (field.number == 3) {
      KHEYA_RETURN_IF_ERROR(reader.VisitVarints(
          field, [&](uint64_t key) { int_keys.push_back(static_cast<int64_t>(key)); }));
    } else if (field.number == 4) {
      KHEYA_ASSIGN_OR_RETURN(const std::string_view key, reader.String(field));
      string_keys.emplace_back(key);
    } else if (field.number == 5) {
      KHEYA_ASSIGN_OR_RETURN(const ByteSpan message, reader.Bytes(field));
      KHEYA_RETURN_IF_ERROR(VisitElements(message, element, tensors, depth, [&](Value value) {
        values.push_back(std::move(value));
      }));
    }
  }
  KHEYA_RETURN_IF_ERROR(reader.status());
  if (int_keys.size() + string_keys.size() != values.size() ||
      (!int_keys.empty() && !string_keys.empty())) {
    return InvalidArgumentError("found {} keys in a map of {} values",
                                int_keys.size() + string_keys.size(), values.size());
  }
  Int64Map by_int;
  StringMap by_string;
  for (size_t i = 0; i < int_keys.size(); ++i) by_int[int_keys[i]] = values[i];
  for (size_t i = 0; i < string_keys.size(); ++i) by_string[string_keys[i]] = values[i];
  return string_keys.empty() ? Value(std::move(by_int)) : Value(std::move(by_string));
}

Result<Value> ReadValue(ByteSpan bytes, const ValueType& type, const TensorReader& tensors,
                        int depth) {
  if (depth > limits::kTypeDepth) {
    return ResourceExhaustedError("values are nested more than {} deep", limits::kTypeDepth);
  }
  const ValueType element = type.element ? *type.element : ValueType();
  switch (type.kind) {
    case Kind::kSequence: {
      Sequence values;
      KHEYA_RETURN_IF_ERROR(VisitElements(bytes, element, tensors, depth, [&](Value value) {
        values.push_back(std::move(value));
      }));
      return Value(std::move(values));
    }
    case Kind::kOptional: {
      Value content;
      KHEYA_RETURN_IF_ERROR(VisitElements(bytes, element, tensors, depth,
                                          [&](Value value) { content = std::move(value); }));
      return content;
    }
    case Kind::kMap:
      return ReadMap(bytes, element, tensors, depth);
    case Kind::kSparseTensor:
      return UnimplementedError("sparse tensors as values are not supported");
    case Kind::kTensor:
    case Kind::kUnknown:
      break;
  }
  KHEYA_ASSIGN_OR_RETURN(const onnx::TensorProto proto, onnx::ParseTensor(bytes));
  KHEYA_ASSIGN_OR_RETURN(Tensor tensor, tensors.Read(proto));
  return Value(std::move(tensor));
}

}  // namespace

Result<Value> ReadValueProto(std::span<const std::byte> bytes, const ValueType& type) {
  return ReadValue(bytes, type, TensorReader(nullptr), 0);
}

Result<Value> ReadValueFile(const std::string& path, const ValueType& type) {
  KHEYA_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  return ReadValue(file.bytes(), type, TensorReader(file.owner()), 0)
      .WithContext("file '{}'", path);
}

Result<Tensor> ReadTensorFile(const std::string& path, std::string* name) {
  KHEYA_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  Result<onnx::TensorProto> proto = onnx::ParseTensor(file.bytes());
  if (!proto.ok()) return std::move(proto).status().WithContext("file '{}'", path);
  if (name != nullptr) *name = proto->name;
  return TensorReader(file.owner()).Read(*proto).WithContext("file '{}'", path);
}

std::string WriteTensorProto(const Tensor& tensor, std::string_view name) {
  return onnx::TensorMessage(tensor, name).bytes();
}

}  // namespace kheya
