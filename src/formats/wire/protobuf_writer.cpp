#include "formats/wire/protobuf_writer.h"

#include <cstring>

namespace kheya {

void ProtobufWriter::Varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
  bytes_.push_back(static_cast<char>(value));
}

void ProtobufWriter::Int64(uint32_t field, int64_t value) {
  Varint(uint64_t{field} << 3);
  Varint(static_cast<uint64_t>(value));
}

void ProtobufWriter::Float(uint32_t field, float value) {
  Varint(uint64_t{field} << 3 | 5);
  char raw[sizeof(value)];
  std::memcpy(raw, &value, sizeof(value));
  bytes_.append(raw, sizeof(value));
}

void ProtobufWriter::Bytes(uint32_t field, std::string_view bytes) {
  Varint(uint64_t{field} << 3 | 2);
  Varint(bytes.size());
  bytes_.append(bytes);
}

}  // namespace kheya
