// ProtoParser's part for TypeProto: declared types of values.
#include "base/string_util.h"
#include "formats/onnx/proto_parser.h"

namespace kheya::onnx {
namespace {

Result<DType> ToDType(int64_t number) {
  if (number == 0) return DType::kUndefined;
  if (std::optional<DType> dtype = DTypeFromOnnx(number)) return *dtype;
  return UnimplementedError("element type {} is not supported", number);
}

}  // namespace

Status ProtoParser::Parse(ProtobufReader reader, ValueInfoProto& info) {
  info.message = reader.message();
  for (WireField field; reader.Next(field);) {
    if (field.number == 1) KHEYA_RETURN_IF_ERROR(ReadName(reader, field, info.name));
    if (field.number != 2) continue;
    Status status = ParseField(reader, field, info.type);
    if (!status.ok()) return std::move(status).WithContext("value {}", Quote(info.name));
  }
  return reader.status();
}

Status ProtoParser::Parse(ProtobufReader reader, ValueType& type) {
  if (type_depth_ >= limits::kTypeDepth) {
    return ResourceExhaustedError("types are nested more than {} deep", limits::kTypeDepth);
  }
  ++type_depth_;
  for (WireField field; reader.Next(field);) {
    if (field.number != 1 && field.number != 4 && field.number != 5 && field.number != 7 &&
        field.number != 8 && field.number != 9) {
      continue;
    }
    KHEYA_ASSIGN_OR_RETURN(ProtobufReader message, reader.Message(field));
    type = ValueType();
    int64_t key = 0;
    if (field.number == 1 || field.number == 8) {
      type.kind = field.number == 1 ? ValueType::Kind::kTensor : ValueType::Kind::kSparseTensor;
      KHEYA_RETURN_IF_ERROR(ParseTensorType(std::move(message), type));
    } else if (field.number == 7) {
      return UnimplementedError("opaque types are not supported");
    } else {
      const uint32_t element_field = field.number == 5 ? 2 : 1;
      KHEYA_ASSIGN_OR_RETURN(ValueType element,
                             ParseElementType(std::move(message), element_field, &key));
      KHEYA_ASSIGN_OR_RETURN(const DType key_type, ToDType(key));
      if (field.number == 4) {
        type = ValueType::OfSequence(std::move(element));
      } else if (field.number == 9) {
        type = ValueType::OfOptional(std::move(element));
      } else {
        type = ValueType::OfMap(key_type, std::move(element));
      }
    }
  }
  --type_depth_;
  return reader.status();
}

// `key` gets field 1 of a map.
Result<ValueType> ProtoParser::ParseElementType(ProtobufReader reader, uint32_t element_field,
                                                int64_t* key) {
  ValueType element;
  for (WireField field; reader.Next(field);) {
    if (field.number == element_field) {
      KHEYA_RETURN_IF_ERROR(ParseField(reader, field, element));
    } else if (field.number == 1) {
      KHEYA_RETURN_IF_ERROR(ReadInt(reader, field, *key));
    }
  }
  if (!reader.status().ok()) return reader.status();
  return element;
}

Status ProtoParser::ParseTensorType(ProtobufReader reader, ValueType& type) {
  for (WireField field; reader.Next(field);) {
    if (field.number == 1) {
      KHEYA_ASSIGN_OR_RETURN(const int64_t number, reader.Int64(field));
      KHEYA_ASSIGN_OR_RETURN(type.dtype, ToDType(number));
    } else if (field.number == 2) {
      KHEYA_ASSIGN_OR_RETURN(ProtobufReader message, reader.Message(field));
      KHEYA_RETURN_IF_ERROR(ParseShape(std::move(message), type.shape.emplace()));
    }
  }
  return reader.status();
}

Status ProtoParser::ParseShape(ProtobufReader reader, SymbolicShape& shape) {
  for (WireField field; reader.Next(field);) {
    if (field.number != 1) continue;
    if (shape.size() == kMaxRank) {
      return ResourceExhaustedError("found a shape of more than {} dimensions at byte {}", kMaxRank,
                                    field.offset);
    }
    KHEYA_ASSIGN_OR_RETURN(ProtobufReader message, reader.Message(field));
    KHEYA_ASSIGN_OR_RETURN(Dim dim, ParseDim(std::move(message)));
    shape.push_back(std::move(dim));
  }
  return reader.status();
}

// Negative sizes are how some writers say that they do not know.
Result<Dim> ProtoParser::ParseDim(ProtobufReader reader) {
  Dim dim;
  for (WireField field; reader.Next(field);) {
    if (field.number == 1) {
      KHEYA_ASSIGN_OR_RETURN(const int64_t size, reader.Int64(field));
      dim = size < 0 ? Dim::Unknown() : Dim(size);
    } else if (field.number == 2) {
      std::string_view name;
      KHEYA_RETURN_IF_ERROR(ReadName(reader, field, name));
      dim = name.empty() ? Dim::Unknown() : Dim::Symbol(name);
    }
  }
  if (!reader.status().ok()) return reader.status();
  return dim;
}

}  // namespace kheya::onnx
