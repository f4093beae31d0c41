// Reference kernel of ONNX's ImageDecoder.
#ifndef KHEYA_KERNELS_REFERENCE_DECODE_IMAGE_H_
#define KHEYA_KERNELS_REFERENCE_DECODE_IMAGE_H_

#include <cstdint>
#include <memory>
#include <span>

#include "base/allocator.h"
#include "base/status.h"
#include "tensor/tensor.h"

namespace kheya::kernels {

enum class PixelFormat : uint8_t { kRgb, kBgr, kGrayscale };

// uint8 [height, width, 3], or 1 for kGrayscale, of a file that codec/picture.h reads, within its
// limits. The orientation of EXIF is not applied. InvalidArgument, Unimplemented or
// ResourceExhausted as DecodePicture says.
Result<Tensor> DecodeImage(std::span<const std::byte> file, PixelFormat format,
                           const std::shared_ptr<MemoryBudget>& budget);

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_DECODE_IMAGE_H_
