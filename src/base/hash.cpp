#include "base/hash.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace kheya {

std::string Hash128::ToHex() const { return fmt::format("{:016x}{:016x}", high, low); }

Hash128 HashBytes(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

Hash128 HashString(std::string_view text) {
  return HashBytes(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace kheya
