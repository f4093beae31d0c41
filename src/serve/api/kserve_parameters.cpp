#include "serve/api/kserve_parameters.h"

#include "base/string_util.h"

namespace kheya {
namespace {

using Type = JsonReader::Type;

// Skips a parameter that nothing here uses: a scalar of any kind.
Status SkipCustom(JsonReader& reader, std::string_view key) {
  if (StartsWith(key, "triton_")) {
    return InvalidArgumentError("names that begin with 'triton_' are reserved");
  }
  const Type type = reader.Peek();
  if (type == Type::kArray || type == Type::kObject) {
    return InvalidArgumentError("expected a string, a number or a boolean");
  }
  return reader.Skip();
}

Status RefuseSharedMemory(std::string_view key) {
  if (!StartsWith(key, "shared_memory_")) return OkStatus();
  return UnimplementedError("shared memory is not supported");
}

// Only the values that mean "no sequence" pass.
Status RefuseSequence(JsonReader& reader) {
  if (reader.Peek() == Type::kBool) {
    KHEYA_ASSIGN_OR_RETURN(const bool value, reader.ReadBool());
    if (!value) return OkStatus();
  } else if (reader.Peek() == Type::kNumber) {
    KHEYA_ASSIGN_OR_RETURN(const uint64_t value, reader.ReadUint64());
    if (value == 0) return OkStatus();
  } else if (reader.Peek() == Type::kString) {
    KHEYA_ASSIGN_OR_RETURN(const std::string value, reader.ReadString());
    if (value.empty()) return OkStatus();
  } else {
    return InvalidArgumentError("expected a number, a string or a boolean");
  }
  return UnimplementedError("sequences are not supported");
}

Status ReadOne(JsonReader& reader, std::string_view key, RequestParameters* out) {
  if (key == "binary_data_output") {
    KHEYA_ASSIGN_OR_RETURN(out->binary_outputs, reader.ReadBool());
    return OkStatus();
  }
  if (key == "timeout") {
    KHEYA_ASSIGN_OR_RETURN(out->timeout_us, reader.ReadUint64());
    return OkStatus();
  }
  if (key == "priority") return reader.ReadUint64().status();  // all requests are equal so far
  if (StartsWith(key, "sequence_")) return RefuseSequence(reader);
  if (key == "headers") return InvalidArgumentError("the name is reserved");
  return SkipCustom(reader, key);
}

Status ReadOne(JsonReader& reader, std::string_view key, InputParameters* out) {
  if (key == "binary_data_size") {
    KHEYA_ASSIGN_OR_RETURN(out->binary_size, reader.ReadUint64());
    return OkStatus();
  }
  KHEYA_RETURN_IF_ERROR(RefuseSharedMemory(key));
  return SkipCustom(reader, key);
}

Status ReadOne(JsonReader& reader, std::string_view key, OutputParameters* out) {
  if (key == "binary_data") {
    KHEYA_ASSIGN_OR_RETURN(out->binary, reader.ReadBool());
    return OkStatus();
  }
  if (key == "classification") {
    KHEYA_ASSIGN_OR_RETURN(out->classes, reader.ReadInt64());
    if (out->classes >= 0) return OkStatus();
    return InvalidArgumentError("found {}, expected 0 or more", out->classes);
  }
  KHEYA_RETURN_IF_ERROR(RefuseSharedMemory(key));
  return SkipCustom(reader, key);
}

template <typename Parameters>
Status ReadAll(JsonReader& reader, Parameters* out) {
  return reader.ReadObject([&](std::string_view key) {
    return ReadOne(reader, key, out).WithContext("parameter '{}'", Abbreviate(key));
  });
}

}  // namespace

Status ReadParameters(JsonReader& reader, RequestParameters* out) { return ReadAll(reader, out); }
Status ReadParameters(JsonReader& reader, InputParameters* out) { return ReadAll(reader, out); }
Status ReadParameters(JsonReader& reader, OutputParameters* out) { return ReadAll(reader, out); }

}  // namespace kheya
