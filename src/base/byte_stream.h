// ByteWriter and ByteReader: numbers and text as bytes, little-endian, for files of our own.
//
//   ByteWriter writer;
//   writer.Put<uint32_t>(7);
//   writer.PutText("conv1");
//   ByteReader reader(bytes);
//   const auto number = reader.Get<uint32_t>();
//   const std::string_view text = reader.GetText();
//   KHEYA_RETURN_IF_ERROR(reader.Finish());
#ifndef KHEYA_BASE_BYTE_STREAM_H_
#define KHEYA_BASE_BYTE_STREAM_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/hash.h"
#include "base/status.h"

namespace kheya {

static_assert(std::endian::native == std::endian::little, "bytes are written as they lie");

class ByteWriter {
 public:
  template <typename T>
  requires std::is_arithmetic_v<T>
  void Put(T value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value)); }
  void PutText(std::string_view text) {
    Put<uint64_t>(text.size());
    bytes_.append(text);
  }
  void PutHash(const Hash128& hash) {
    Put(hash.high);
    Put(hash.low);
  }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Reads what may be damaged: past the end, or after Fail, everything is 0 or empty and ok() false.
// The bytes must outlive it and the texts that it gives.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename T>
  requires std::is_arithmetic_v<T> T Get() {
    T value = 0;
    const std::span<const std::byte> from = Take(sizeof(T));
    if (!from.empty()) std::memcpy(&value, from.data(), sizeof(T));
    return value;
  }
  std::string_view GetText() {
    const std::span<const std::byte> from = Take(Get<uint64_t>());
    return {reinterpret_cast<const char*>(from.data()), from.size()};
  }
  Hash128 GetHash() {
    const auto high = Get<uint64_t>();
    return {high, Get<uint64_t>()};
  }
  // How many of something follow, each at least `least_bytes` long, so that a damaged number asks
  // for no memory that the bytes do not justify.
  size_t GetCount(size_t least_bytes) {
    const auto count = Get<uint64_t>();
    if (count > bytes_.size() / (least_bytes == 0 ? 1 : least_bytes)) Fail();
    return ok_ ? static_cast<size_t>(count) : 0;
  }

  void Fail() {
    ok_ = false;
    bytes_ = {};
  }
  bool ok() const { return ok_; }
  // InvalidArgument unless everything was read and nothing failed.
  Status Finish() const {
    if (ok_ && bytes_.empty()) return OkStatus();
    return InvalidArgumentError("found {}, expected the end", ok_ ? "more bytes" : "too few bytes");
  }

 private:
  std::span<const std::byte> Take(uint64_t size) {
    if (size > bytes_.size()) Fail();
    if (!ok_) return {};
    const std::span<const std::byte> taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
  }

  std::span<const std::byte> bytes_;
  bool ok_ = true;
};

}  // namespace kheya

#endif  // KHEYA_BASE_BYTE_STREAM_H_
