#include "base/hash.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <memory>
#include <new>

namespace kheya {

std::string Hash128::ToHex() const { return fmt::format("{:016x}{:016x}", high, low); }

Hash128 HashBytes(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

Hash128 HashPieces(std::span<const std::string_view> pieces) {
  struct Deleter {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  const std::unique_ptr<XXH3_state_t, Deleter> state(XXH3_createState());
  if (state == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(state.get());
  for (std::string_view piece : pieces)
    XXH3_128bits_update(state.get(), piece.data(), piece.size());
  const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  return {hash.high64, hash.low64};
}

Hash128 HashString(std::string_view text) {
  return HashBytes(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace kheya
