// ProtobufWriter: appends fields of the protobuf wire format to a string.
#ifndef KHEYA_FORMATS_WIRE_PROTOBUF_WRITER_H_
#define KHEYA_FORMATS_WIRE_PROTOBUF_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace kheya {

// A message is written by a writer of its own and added with Bytes. Thread safety: none.
class ProtobufWriter {
 public:
  void Int64(uint32_t field, int64_t value);
  void Float(uint32_t field, float value);
  void Bytes(uint32_t field, std::string_view bytes);
  void Message(uint32_t field, const ProtobufWriter& message) { Bytes(field, message.bytes_); }

  const std::string& bytes() const { return bytes_; }

 private:
  void Varint(uint64_t value);

  std::string bytes_;
};

}  // namespace kheya

#endif  // KHEYA_FORMATS_WIRE_PROTOBUF_WRITER_H_
