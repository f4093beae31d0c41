#include "kernels/reference/hash.h"

#include <algorithm>
#include <bit>

namespace kheya::kernels {
namespace {

// Up to four bytes, the first one lowest.
uint32_t Load(std::span<const std::byte> bytes) {
  uint32_t word = 0;
  for (size_t i = bytes.size(); i-- > 0;) word = word << 8 | std::to_integer<uint32_t>(bytes[i]);
  return word;
}

uint32_t Mix(uint32_t word) { return std::rotl(word * 0xcc9e2d51u, 15) * 0x1b873593u; }

}  // namespace

uint32_t MurmurHash3(std::span<const std::byte> bytes, uint32_t seed) {
  uint32_t hash = seed;
  size_t at = 0;
  for (; at + 4 <= bytes.size(); at += 4) {
    hash = std::rotl(hash ^ Mix(Load(bytes.subspan(at, 4))), 13) * 5 + 0xe6546b64u;
  }
  if (at < bytes.size()) hash ^= Mix(Load(bytes.subspan(at)));
  hash ^= static_cast<uint32_t>(bytes.size());
  hash = (hash ^ hash >> 16) * 0x85ebca6bu;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
  return hash ^ hash >> 16;
}

}  // namespace kheya::kernels
