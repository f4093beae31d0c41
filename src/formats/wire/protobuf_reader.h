// ProtobufReader: reads the protobuf wire format of one message where it lies. Nothing is copied:
// strings and messages are spans into the given bytes, which must outlive what is read.
//
//   ProtobufReader reader(file_bytes);
//   WireField field;
//   while (reader.Next(field)) {
//     if (field.number == 7) {
//       KHEYA_ASSIGN_OR_RETURN(ProtobufReader graph, reader.Message(field));
//       ...
//     }
//   }
//   KHEYA_RETURN_IF_ERROR(reader.status());
//
// The bytes are hostile: every length is checked, varints have at most ten bytes, groups and field
// number 0 are refused, and messages nest at most limits::kMessageDepth deep. Errors are
// InvalidArgument and name the byte offset from the start of the outermost message.
// Format: https://protobuf.dev/programming-guides/encoding/
#ifndef KHEYA_FORMATS_WIRE_PROTOBUF_READER_H_
#define KHEYA_FORMATS_WIRE_PROTOBUF_READER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "base/status.h"

namespace kheya {

using ByteSpan = std::span<const std::byte>;

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct WireField {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
  uint64_t scalar = 0;  // of kVarint, kFixed64, kFixed32
  ByteSpan bytes;       // of kBytes
  uint64_t offset = 0;  // of the field's tag
};

class ProtobufReader {
 public:
  explicit ProtobufReader(ByteSpan message) : ProtobufReader(message, message.data(), 0) {}

  // False at the end and after an error; status() says which.
  bool Next(WireField& field);
  const Status& status() const { return status_; }
  ByteSpan message() const { return message_; }

  // A field's value as its declared type; InvalidArgument when the wire type does not fit.
  Result<int64_t> Int64(const WireField& field) const;
  Result<float> Float(const WireField& field) const;
  Result<ByteSpan> Bytes(const WireField& field) const;
  Result<std::string_view> String(const WireField& field) const;
  // ResourceExhausted when the message would be nested too deep.
  Result<ProtobufReader> Message(const WireField& field) const;

  // Repeated scalars, packed or one at a time: calls visit(value) for each value of the field, with
  // uint64_t, uint32_t and uint64_t of raw bits.
  template <typename Visit>
  Status VisitVarints(const WireField& field, Visit visit) const;
  template <typename Visit>
  Status VisitFixed32(const WireField& field, Visit visit) const;
  template <typename Visit>
  Status VisitFixed64(const WireField& field, Visit visit) const;

 private:
  ProtobufReader(ByteSpan message, const std::byte* origin, int depth)
      : message_(message), origin_(origin), depth_(depth) {}

  uint64_t OffsetOf(const std::byte* at) const { return static_cast<uint64_t>(at - origin_); }
  // Advances `position` over a varint in `bytes`.
  Result<uint64_t> ReadVarint(ByteSpan bytes, size_t& position) const;
  Status ReadField(WireField& field);
  Status ReadFixed(WireField& field, size_t width);
  Status ReadBytes(WireField& field);
  Status TypeError(const WireField& field, const char* expected) const;
  template <typename T, typename Visit>
  Status VisitFixed(const WireField& field, WireType type, Visit visit) const;

  ByteSpan message_;
  const std::byte* origin_;
  int depth_;
  size_t position_ = 0;
  Status status_;
};

template <typename Visit>
Status ProtobufReader::VisitVarints(const WireField& field, Visit visit) const {
  if (field.type == WireType::kVarint) {
    visit(field.scalar);
    return OkStatus();
  }
  if (field.type != WireType::kBytes) return TypeError(field, "varints");
  for (size_t position = 0; position < field.bytes.size();) {
    KHEYA_ASSIGN_OR_RETURN(const uint64_t value, ReadVarint(field.bytes, position));
    visit(value);
  }
  return OkStatus();
}

template <typename T, typename Visit>
Status ProtobufReader::VisitFixed(const WireField& field, WireType type, Visit visit) const {
  if (field.type == type) {
    visit(static_cast<T>(field.scalar));
    return OkStatus();
  }
  if (field.type != WireType::kBytes || field.bytes.size() % sizeof(T) != 0) {
    return TypeError(field, sizeof(T) == 4 ? "32-bit values" : "64-bit values");
  }
  for (size_t i = 0; i < field.bytes.size(); i += sizeof(T)) {
    T value;
    std::memcpy(&value, field.bytes.data() + i, sizeof(T));
    visit(value);
  }
  return OkStatus();
}

template <typename Visit>
Status ProtobufReader::VisitFixed32(const WireField& field, Visit visit) const {
  return VisitFixed<uint32_t>(field, WireType::kFixed32, visit);
}

template <typename Visit>
Status ProtobufReader::VisitFixed64(const WireField& field, Visit visit) const {
  return VisitFixed<uint64_t>(field, WireType::kFixed64, visit);
}

}  // namespace kheya

#endif  // KHEYA_FORMATS_WIRE_PROTOBUF_READER_H_
