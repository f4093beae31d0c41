// One decoder for each picture format; codec/picture.h is what others call.
#ifndef KHEYA_CODEC_PICTURE_DECODER_H_
#define KHEYA_CODEC_PICTURE_DECODER_H_

#include <cstddef>
#include <memory>
#include <span>

#include "base/status.h"
#include "codec/picture.h"

namespace kheya {

// Open reads the header alone; limits are checked between it and Decode. Thread safety: none.
class PictureDecoder {
 public:
  virtual ~PictureDecoder() = default;
  int64_t width() const { return width_; }
  int64_t height() const { return height_; }
  int channels() const { return channels_; }        // 1 or 3, that Decode gives
  int orientation() const { return orientation_; }  // EXIF's, 1 to 8; 1: as stored

  // Writes height * width * channels bytes, rows from the top, no padding. Called once.
  virtual Status Decode(uint8_t* out) = 0;

 protected:
  int64_t width_ = 0;
  int64_t height_ = 0;
  int channels_ = 3;
  int orientation_ = 1;
};

// The bytes must outlive the decoder.
using DecoderResult = Result<std::unique_ptr<PictureDecoder>>;
DecoderResult OpenBmp(std::span<const std::byte> bytes);
DecoderResult OpenJpeg(std::span<const std::byte> bytes);
DecoderResult OpenJpeg2000(std::span<const std::byte> bytes);
DecoderResult OpenPng(std::span<const std::byte> bytes);
DecoderResult OpenPnm(std::span<const std::byte> bytes);
DecoderResult OpenTiff(std::span<const std::byte> bytes);
DecoderResult OpenWebp(std::span<const std::byte> bytes);

// The orientation in the payload of a JPEG's APP1 segment; 1 when there is none.
// CIPA DC-008 (Exif 2.3), tag 0x0112.
int ReadExifOrientation(std::span<const std::byte> app1);

}  // namespace kheya

#endif  // KHEYA_CODEC_PICTURE_DECODER_H_
