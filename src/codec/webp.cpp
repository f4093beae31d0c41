// The adapter of libwebp.
#include <webp/decode.h>

#include <utility>

#include "codec/picture_decoder.h"

namespace kheya {
namespace {

class WebpDecoder : public PictureDecoder {
 public:
  explicit WebpDecoder(std::span<const std::byte> bytes) : bytes_(bytes) {}

  Status Open() {
    WebPBitstreamFeatures features;
    const VP8StatusCode code = WebPGetFeatures(data(), bytes_.size(), &features);
    if (code != VP8_STATUS_OK) return Refused(code);
    if (features.has_animation) return UnimplementedError("animations are not supported");
    width_ = features.width;
    height_ = features.height;
    return OkStatus();
  }

  Status Decode(uint8_t* out) override {
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config)) return InternalError("libwebp has another version");
    config.output.colorspace = MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = out;
    config.output.u.RGBA.stride = static_cast<int>(width_ * 3);
    config.output.u.RGBA.size = static_cast<size_t>(width_) * height_ * 3;
    const VP8StatusCode code = WebPDecode(data(), bytes_.size(), &config);
    WebPFreeDecBuffer(&config.output);
    return code == VP8_STATUS_OK ? OkStatus() : Refused(code);
  }

 private:
  const uint8_t* data() const { return reinterpret_cast<const uint8_t*>(bytes_.data()); }

  static Status Refused(VP8StatusCode code) {
    switch (code) {
      case VP8_STATUS_OUT_OF_MEMORY:
        return ResourceExhaustedError("no memory to decode");
      case VP8_STATUS_NOT_ENOUGH_DATA:
      case VP8_STATUS_SUSPENDED:
        return InvalidArgumentError("the file is cut off");
      case VP8_STATUS_UNSUPPORTED_FEATURE:
        return UnimplementedError("the file uses a feature that libwebp does not have");
      default:
        return InvalidArgumentError("the file is damaged");
    }
  }

  std::span<const std::byte> bytes_;
};

}  // namespace

DecoderResult OpenWebp(std::span<const std::byte> bytes) {
  auto decoder = std::make_unique<WebpDecoder>(bytes);
  KHEYA_RETURN_IF_ERROR(decoder->Open());
  return DecoderResult(std::move(decoder));
}

}  // namespace kheya
