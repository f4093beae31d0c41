// Fast content hashes (XXH3, 128 bits): for finding equal weights, not for security.
#ifndef KHEYA_BASE_HASH_H_
#define KHEYA_BASE_HASH_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kheya {

struct Hash128 {
  uint64_t high = 0;
  uint64_t low = 0;
  auto operator<=>(const Hash128&) const = default;
  std::string ToHex() const;
};

Hash128 HashBytes(std::span<const std::byte> bytes);
// Of several pieces as if they lay one after the other. Throws std::bad_alloc without memory.
Hash128 HashPieces(std::span<const std::string_view> pieces);
Hash128 HashString(std::string_view text);

}  // namespace kheya

#endif  // KHEYA_BASE_HASH_H_
