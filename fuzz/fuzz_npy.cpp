// Arrays: .npy files and .npz archives of them.
#include <cstdint>
#include <memory>
#include <span>

#include "codec/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Small, so that a file that asks for much is refused and not granted.
  const auto budget = std::make_shared<kheya::MemoryBudget>("fuzz", 64 << 20);
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  (void)kheya::ReadNpy(bytes, budget);
  (void)kheya::ReadNpz(bytes, budget);
  return 0;
}
