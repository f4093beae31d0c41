#include "kernels/reference/decode_image.h"

#include <utility>

#include "codec/picture.h"

namespace kheya::kernels {

Result<Tensor> DecodeImage(std::span<const std::byte> file, PixelFormat format,
                           const std::shared_ptr<MemoryBudget>& budget) {
  const int channels = format == PixelFormat::kGrayscale ? 1 : 3;
  KHEYA_ASSIGN_OR_RETURN(Tensor picture,
                         DecodePicture(file, channels, PictureLimits(), budget, false));
  if (format != PixelFormat::kBgr) return picture;
  const std::span<uint8_t> bytes = picture.mutable_data<uint8_t>();
  for (size_t i = 0; i + 2 < bytes.size(); i += 3) std::swap(bytes[i], bytes[i + 2]);
  return picture;
}

}  // namespace kheya::kernels
