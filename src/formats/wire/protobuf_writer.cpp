#include "formats/wire/protobuf_writer.h"

#include <cstring>
#include <utility>

namespace kheya {

void ProtobufWriter::Varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) tail_.push_back(static_cast<char>(value | 0x80));
  tail_.push_back(static_cast<char>(value));
}

void ProtobufWriter::Flush() {
  if (tail_.empty()) return;
  flushed_bytes_ += tail_.size();
  flushed_.push_back({std::exchange(tail_, std::string()), {}});
}

void ProtobufWriter::Int64(uint32_t field, int64_t value) {
  Varint(uint64_t{field} << 3);
  Varint(static_cast<uint64_t>(value));
}

void ProtobufWriter::Float(uint32_t field, float value) {
  Varint(uint64_t{field} << 3 | 5);
  char raw[sizeof(value)];
  std::memcpy(raw, &value, sizeof(value));
  tail_.append(raw, sizeof(value));
}

void ProtobufWriter::Bytes(uint32_t field, std::string_view bytes) {
  Varint(uint64_t{field} << 3 | 2);
  Varint(bytes.size());
  tail_.append(bytes);
}

void ProtobufWriter::Message(uint32_t field, ProtobufWriter message) {
  Varint(uint64_t{field} << 3 | 2);
  Varint(message.size());
  if (message.flushed_.empty()) {
    tail_.append(message.tail_);
    return;
  }
  Flush();
  for (Piece& piece : message.flushed_) flushed_.push_back(std::move(piece));
  flushed_bytes_ += message.flushed_bytes_;
  tail_ = std::move(message.tail_);
}

void ProtobufWriter::Borrow(uint32_t field, std::string_view bytes) {
  Varint(uint64_t{field} << 3 | 2);
  Varint(bytes.size());
  Flush();
  flushed_.push_back({{}, bytes});
  flushed_bytes_ += bytes.size();
}

std::string ProtobufWriter::bytes() const {
  std::string all;
  all.reserve(size());
  for (std::string_view piece : pieces()) all.append(piece);
  return all;
}

std::vector<std::string_view> ProtobufWriter::pieces() const {
  std::vector<std::string_view> all;
  for (const Piece& piece : flushed_) all.push_back(piece.view());
  all.push_back(tail_);
  return all;
}

}  // namespace kheya
