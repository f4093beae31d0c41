#include "formats/wire/protobuf_reader.h"

#include <bit>

#include "formats/limits.h"

namespace kheya {

bool ProtobufReader::Next(WireField& field) {
  if (!status_.ok() || position_ == message_.size()) return false;
  status_ = ReadField(field);
  return status_.ok();
}

Result<uint64_t> ProtobufReader::ReadVarint(ByteSpan bytes, size_t& position) const {
  constexpr size_t kMaxVarintBytes = 10;
  const size_t start = position;
  uint64_t value = 0;
  for (size_t i = 0; i < kMaxVarintBytes; ++i) {
    if (position == bytes.size()) {
      return InvalidArgumentError("varint at byte {} is cut off", OffsetOf(bytes.data() + start));
    }
    const auto byte = std::to_integer<uint64_t>(bytes[position++]);
    if (i == kMaxVarintBytes - 1 && byte > 1) break;  // over 64 bits, or an eleventh byte
    value |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) return value;
  }
  return InvalidArgumentError("varint at byte {} does not fit 64 bits",
                              OffsetOf(bytes.data() + start));
}

Status ProtobufReader::ReadField(WireField& field) {
  field.offset = OffsetOf(message_.data() + position_);
  KHEYA_ASSIGN_OR_RETURN(const uint64_t tag, ReadVarint(message_, position_));
  const uint64_t number = tag >> 3;
  constexpr uint64_t kMaxFieldNumber = (1u << 29) - 1;
  if (number == 0 || number > kMaxFieldNumber) {
    return InvalidArgumentError("found field number {} at byte {}, expected 1 to {}", number,
                                field.offset, kMaxFieldNumber);
  }
  field.number = static_cast<uint32_t>(number);
  field.bytes = {};
  field.scalar = 0;
  switch (tag & 7) {
    case 0: {
      field.type = WireType::kVarint;
      KHEYA_ASSIGN_OR_RETURN(field.scalar, ReadVarint(message_, position_));
      return OkStatus();
    }
    case 1:
      field.type = WireType::kFixed64;
      return ReadFixed(field, 8);
    case 2:
      field.type = WireType::kBytes;
      return ReadBytes(field);
    case 5:
      field.type = WireType::kFixed32;
      return ReadFixed(field, 4);
    default:
      return InvalidArgumentError(
          "found wire type {} in field {} at byte {}, expected 0, 1, 2 or 5", tag & 7, number,
          field.offset);
  }
}

Status ProtobufReader::ReadFixed(WireField& field, size_t width) {
  if (message_.size() - position_ < width) {
    return InvalidArgumentError("field {} at byte {} is cut off: found {} bytes, expected {}",
                                field.number, field.offset, message_.size() - position_, width);
  }
  static_assert(std::endian::native == std::endian::little);
  std::memcpy(&field.scalar, message_.data() + position_, width);
  position_ += width;
  return OkStatus();
}

Status ProtobufReader::ReadBytes(WireField& field) {
  KHEYA_ASSIGN_OR_RETURN(const uint64_t length, ReadVarint(message_, position_));
  const uint64_t left = message_.size() - position_;
  if (length > left) {
    return InvalidArgumentError("field {} at byte {} is cut off: found {} bytes, expected {}",
                                field.number, field.offset, left, length);
  }
  field.bytes = message_.subspan(position_, length);
  position_ += length;
  return OkStatus();
}

Status ProtobufReader::TypeError(const WireField& field, const char* expected) const {
  return InvalidArgumentError("found wire type {} in field {} at byte {}, expected {}",
                              static_cast<int>(field.type), field.number, field.offset, expected);
}

Result<int64_t> ProtobufReader::Int64(const WireField& field) const {
  if (field.type != WireType::kVarint) return TypeError(field, "a varint");
  return static_cast<int64_t>(field.scalar);
}

Result<float> ProtobufReader::Float(const WireField& field) const {
  if (field.type != WireType::kFixed32) return TypeError(field, "a 32-bit value");
  return std::bit_cast<float>(static_cast<uint32_t>(field.scalar));
}

Result<ByteSpan> ProtobufReader::Bytes(const WireField& field) const {
  if (field.type != WireType::kBytes) return TypeError(field, "bytes");
  return field.bytes;
}

Result<std::string_view> ProtobufReader::String(const WireField& field) const {
  if (field.type != WireType::kBytes) return TypeError(field, "a string");
  return std::string_view(reinterpret_cast<const char*>(field.bytes.data()), field.bytes.size());
}

Result<ProtobufReader> ProtobufReader::Message(const WireField& field) const {
  if (field.type != WireType::kBytes) return TypeError(field, "a message");
  if (depth_ >= limits::kMessageDepth) {
    return ResourceExhaustedError("messages at byte {} are nested more than {} deep", field.offset,
                                  limits::kMessageDepth);
  }
  return ProtobufReader(field.bytes, origin_, depth_ + 1);
}

}  // namespace kheya
