// Pictures: JPEG, PNG, WebP, BMP, PNM, TIFF and JPEG 2000 files to arrays of bytes, and back to
// PNG. Which one it is is read from the content, never from a name.
//
//   KHEYA_ASSIGN_OR_RETURN(Tensor picture, DecodePicture(file.bytes(), 3, PictureLimits()));
//   // uint8 [height, width, 3], rows from the top, red first
#ifndef KHEYA_CODEC_PICTURE_H_
#define KHEYA_CODEC_PICTURE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/allocator.h"
#include "base/status.h"
#include "tensor/tensor.h"

namespace kheya {

enum class PictureFormat { kJpeg, kPng, kWebp, kBmp, kPnm, kTiff, kJpeg2000 };
const char* PictureFormatName(PictureFormat format);  // "JPEG", "PNG", ..., "JPEG 2000"

// Nothing larger is decoded. The memory of the decoding libraries is bounded by the pixels but not
// counted by the budget: up to 12 bytes a pixel for progressive JPEG, about 45 for JPEG 2000, and
// blocks of up to 512 MiB for TIFF.
struct PictureLimits {
  int64_t max_side = 16384;
  int64_t max_pixels = int64_t{1} << 26;
};

// What the header of a picture says.
struct PictureInfo {
  PictureFormat format = PictureFormat::kJpeg;
  int64_t width = 0;  // as stored, before the orientation is applied
  int64_t height = 0;
};

std::optional<PictureFormat> SniffPicture(std::span<const std::byte> bytes);
Result<PictureInfo> ReadPictureInfo(std::span<const std::byte> bytes);

// uint8 [height, width, channels]; `channels` 1 (gray) or 3 (red, green, blue).
// - JPEG: the EXIF orientation is applied if `upright`. CMYK becomes RGB without a colour profile.
// - PNG: palettes are looked up, 16 bits are scaled to 8, interlaced rows are put in order.
// - WebP: still pictures; animations are Unimplemented.
// - BMP: 1 to 32 bits, palettes, masks, run lengths. PNM: P1 to P7, samples scaled to 8 bits.
// - TIFF: the first picture of the file, its orientation applied if `upright`.
// - JPEG 2000: files and codestreams of 1 to 4 components; more than 8 bits are cut to 8.
// - Alpha is left out (not blended), profiles and gamma are not applied, and colour becomes gray
//   as (19595 R + 38470 G + 7471 B + 32768) >> 16 (ITU-R 601; all as Pillow's `convert`).
// InvalidArgument for damaged or truncated files, ResourceExhausted for a limit or memory.
Result<Tensor> DecodePicture(std::span<const std::byte> bytes, int channels,
                             const PictureLimits& limits = PictureLimits(),
                             const std::shared_ptr<MemoryBudget>& budget = nullptr,
                             bool upright = true);

// A PNG file of a uint8 [height, width, 1 or 3] array.
Result<std::string> EncodePng(const TensorView& picture);

}  // namespace kheya

#endif  // KHEYA_CODEC_PICTURE_H_
