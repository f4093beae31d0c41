// Pictures of all formats.
#include <cstdint>
#include <span>

#include "codec/picture.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  for (const int channels : {1, 3}) {
    (void)kheya::DecodePicture(bytes, channels, {.max_pixels = 1 << 20});
  }
  return 0;
}
