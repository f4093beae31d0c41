// Little- and big-endian integers at any offset. The caller has checked that they lie inside.
#ifndef KHEYA_CODEC_BYTE_READER_H_
#define KHEYA_CODEC_BYTE_READER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kheya {

template <typename T>
T LoadLittle(std::span<const std::byte> bytes, size_t at) {
  T value = 0;
  for (size_t i = sizeof(T); i-- > 0;) {
    value = static_cast<T>(static_cast<uint64_t>(value) << 8 |
                           std::to_integer<uint64_t>(bytes[at + i]));
  }
  return value;
}

template <typename T>
T LoadBig(std::span<const std::byte> bytes, size_t at) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>(static_cast<uint64_t>(value) << 8 |
                           std::to_integer<uint64_t>(bytes[at + i]));
  }
  return value;
}

template <typename T>
void AppendLittle(std::string* out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) {
    out->push_back(static_cast<char>(static_cast<uint64_t>(value) >> (8 * i) & 0xff));
  }
}

inline std::string_view AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline std::span<const std::byte> AsBytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace kheya

#endif  // KHEYA_CODEC_BYTE_READER_H_
