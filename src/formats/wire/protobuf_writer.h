// ProtobufWriter: appends fields of the protobuf wire format. Large contents can be borrowed, so
// that a message of gigabytes is never in memory as a whole.
#ifndef KHEYA_FORMATS_WIRE_PROTOBUF_WRITER_H_
#define KHEYA_FORMATS_WIRE_PROTOBUF_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kheya {

// A message is written by a writer of its own and added with Message. Thread safety: none.
class ProtobufWriter {
 public:
  void Int64(uint32_t field, int64_t value);
  void Float(uint32_t field, float value);
  void Bytes(uint32_t field, std::string_view bytes);
  void Message(uint32_t field, ProtobufWriter message);
  // Like Bytes, without a copy: the memory must outlive the writer and what it is added to.
  void Borrow(uint32_t field, std::string_view bytes);

  uint64_t size() const { return flushed_bytes_ + tail_.size(); }
  // The message, copied into one string.
  std::string bytes() const;
  // The message in parts that live as long as the writer is not changed.
  std::vector<std::string_view> pieces() const;

 private:
  struct Piece {
    std::string own;
    std::string_view borrowed;
    std::string_view view() const { return own.empty() ? borrowed : own; }
  };

  void Varint(uint64_t value);
  void Flush();

  std::vector<Piece> flushed_;
  uint64_t flushed_bytes_ = 0;
  std::string tail_;  // what comes after the pieces
};

}  // namespace kheya

#endif  // KHEYA_FORMATS_WIRE_PROTOBUF_WRITER_H_
