// The adapter of OpenJPEG: JPEG 2000 files (JP2) and codestreams. It reads from memory; what a
// header asks for is checked before anything of that size is allocated.
#include <openjpeg.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/string_util.h"
#include "codec/byte_reader.h"
#include "codec/picture_decoder.h"

namespace kheya {
namespace {

// A header may ask for hundreds of megabytes of tables by its tiles and components alone.
constexpr uint64_t kMostTiles = 4096;
constexpr uint32_t kMostComponents = 4;

constexpr std::string_view kStart = "\xff\x4f\xff\x51";  // SOC and SIZ

// The codestream: the whole of a raw one, else what follows the header of the first box "jp2c".
// ISO/IEC 15444-1, annex I.
Result<std::span<const std::byte>> FindCodestream(std::span<const std::byte> bytes) {
  if (AsText(bytes).starts_with(kStart)) return bytes;
  while (bytes.size() >= 8) {
    uint64_t length = LoadBig<uint32_t>(bytes, 0);
    size_t header = 8;
    if (length == 1 && bytes.size() >= 16) {
      length = LoadBig<uint64_t>(bytes, 8);
      header = 16;
    }
    if (AsText(bytes).substr(4, 4) == "jp2c") return bytes.subspan(header);
    if (length < header || length > bytes.size()) break;
    bytes = bytes.subspan(length);
  }
  return InvalidArgumentError("found no codestream");
}

// Tiles and components, as the segment SIZ says them. Annex A.5.1.
Status CheckSize(std::span<const std::byte> codestream) {
  constexpr size_t kBytes = 42;
  if (!AsText(codestream).starts_with(kStart) || codestream.size() < kBytes) {
    return InvalidArgumentError("found no size at the start of the codestream");
  }
  uint64_t tiles = 1;
  for (size_t axis = 0; axis < 2; ++axis) {
    const uint64_t end = LoadBig<uint32_t>(codestream, 8 + 4 * axis);
    const uint64_t tile = LoadBig<uint32_t>(codestream, 24 + 4 * axis);
    const uint64_t first = LoadBig<uint32_t>(codestream, 32 + 4 * axis);
    if (tile == 0 || first > end) return InvalidArgumentError("found tiles of {} pixels", tile);
    tiles *= std::min<uint64_t>((end - first + tile - 1) / tile, kMostTiles + 1);
  }
  if (tiles > kMostTiles) {
    return ResourceExhaustedError("found over {} tiles, which is the limit", kMostTiles);
  }
  const uint32_t components = LoadBig<uint16_t>(codestream, 40);
  if (components <= kMostComponents) return OkStatus();
  return UnimplementedError("pictures of {} components are not supported", components);
}

// A coding style COD or COC (its marker segment from the length on): each precinct has tables of
// its own, so that tiny ones take kilobytes a pixel. Annexes A.6.1 and A.6.2.
Status CheckPrecincts(std::span<const std::byte> segment, bool of_component) {
  constexpr int kLeastExponent = 5;
  const size_t style_at = of_component ? 3 : 2;
  const size_t levels_at = of_component ? 4 : 7;
  if (segment.size() <= levels_at) return InvalidArgumentError("found a short coding style");
  if ((std::to_integer<int>(segment[style_at]) & 1) == 0) return OkStatus();
  for (size_t at = levels_at + 5; at < segment.size(); ++at) {
    const int exponents = std::to_integer<int>(segment[at]);
    if ((exponents & 15) >= kLeastExponent && exponents >> 4 >= kLeastExponent) continue;
    return UnimplementedError("precincts of under {} pixels are not supported",
                              1 << kLeastExponent);
  }
  return OkStatus();
}

// Every coding style of the main header and of the headers of tile-parts.
Status CheckCodingStyles(std::span<const std::byte> codestream) {
  constexpr uint16_t kCod = 0xff52, kCoc = 0xff53, kTilePart = 0xff90, kData = 0xff93;
  size_t at = 2;
  size_t tile_part = 0;
  while (at + 4 <= codestream.size()) {
    const uint16_t marker = LoadBig<uint16_t>(codestream, at);
    if (marker == kData) {
      // Behind the data of this tile-part comes the next; a length of 0 goes to the end.
      const uint64_t length = LoadBig<uint32_t>(codestream, tile_part + 6);
      if (length == 0 || length > codestream.size() - tile_part || length < at - tile_part) break;
      at = tile_part + length;
      continue;
    }
    const size_t length = LoadBig<uint16_t>(codestream, at + 2);
    if (length < 2 || length > codestream.size() - at - 2) break;
    const std::span<const std::byte> segment = codestream.subspan(at + 2, length);
    if (marker == kTilePart) {
      if (length < 10) break;
      tile_part = at;
    }
    if (marker == kCod || marker == kCoc) {
      KHEYA_RETURN_IF_ERROR(CheckPrecincts(segment, marker == kCoc));
    } else if ((marker & 0xff00) != 0xff00) {
      break;
    }
    at += 2 + length;
  }
  return OkStatus();
}

class Jpeg2000Decoder : public PictureDecoder {
 public:
  explicit Jpeg2000Decoder(std::span<const std::byte> bytes) : bytes_(bytes) {}
  ~Jpeg2000Decoder() override {
    if (image_ != nullptr) opj_image_destroy(image_);
    if (codec_ != nullptr) opj_destroy_codec(codec_);
    if (stream_ != nullptr) opj_stream_destroy(stream_);
  }

  Status Open() {
    KHEYA_ASSIGN_OR_RETURN(const std::span<const std::byte> codestream, FindCodestream(bytes_));
    KHEYA_RETURN_IF_ERROR(CheckSize(codestream));
    KHEYA_RETURN_IF_ERROR(CheckCodingStyles(codestream));
    const bool raw = AsText(bytes_).starts_with(kStart);
    codec_ = opj_create_decompress(raw ? OPJ_CODEC_J2K : OPJ_CODEC_JP2);
    stream_ = opj_stream_create(std::min<size_t>(bytes_.size(), 65536), OPJ_TRUE);
    if (codec_ == nullptr || stream_ == nullptr) {
      return ResourceExhaustedError("no memory to decode");
    }
    opj_set_error_handler(codec_, OnError, this);
    opj_stream_set_user_data(stream_, this, nullptr);
    opj_stream_set_user_data_length(stream_, bytes_.size());
    opj_stream_set_read_function(stream_, Read);
    opj_stream_set_skip_function(stream_, Skip);
    opj_stream_set_seek_function(stream_, Seek);
    opj_dparameters_t parameters;
    opj_set_default_decoder_parameters(&parameters);
    if (!opj_setup_decoder(codec_, &parameters) || !opj_read_header(stream_, codec_, &image_)) {
      return Refused();
    }
    width_ = int64_t{image_->x1} - image_->x0;
    height_ = int64_t{image_->y1} - image_->y0;
    return CheckComponents();
  }

  Status Decode(uint8_t* out) override {
    if (!opj_decode(codec_, stream_, image_) || !opj_end_decompress(codec_, stream_)) {
      return Refused();
    }
    // A palette may have made more components.
    KHEYA_RETURN_IF_ERROR(CheckComponents());
    if (image_->color_space == OPJ_CLRSPC_CMYK || image_->color_space == OPJ_CLRSPC_EYCC) {
      return UnimplementedError("pictures of this colour space are not supported");
    }
    const bool luma = image_->color_space == OPJ_CLRSPC_SYCC && image_->numcomps >= 3;
    const uint32_t count = image_->numcomps < 3 ? 1 : 3;
    for (uint32_t c = 0; c < count; ++c) {
      if (image_->comps[c].data == nullptr) return Refused();
    }
    for (int64_t y = 0; y < height_; ++y) {
      for (int64_t x = 0; x < width_; ++x, out += 3) {
        for (uint32_t c = 0; c < count; ++c) out[c] = Sample(image_->comps[c], x, y);
        if (count == 1) out[1] = out[2] = out[0];
        if (luma) ToRgb(out);
      }
    }
    return OkStatus();
  }

 private:
  Status CheckComponents() const {
    if (image_->numcomps < 1 || image_->numcomps > kMostComponents) {
      return UnimplementedError("pictures of {} components are not supported", image_->numcomps);
    }
    for (uint32_t c = 0; c < image_->numcomps; ++c) {
      const opj_image_comp_t& component = image_->comps[c];
      if (component.prec >= 1 && component.prec <= 31 && component.dx >= 1 && component.dy >= 1) {
        continue;
      }
      return UnimplementedError("components of {} bits are not supported", component.prec);
    }
    return OkStatus();
  }

  // Components may be sampled more coarsely than the picture.
  static uint8_t Sample(const opj_image_comp_t& component, int64_t x, int64_t y) {
    const int64_t column = std::min<int64_t>(x / component.dx, int64_t{component.w} - 1);
    const int64_t row = std::min<int64_t>(y / component.dy, int64_t{component.h} - 1);
    if (column < 0 || row < 0) return 0;
    const int64_t most = (int64_t{1} << component.prec) - 1;
    int64_t value = component.data[row * component.w + column];
    if (component.sgnd) value += int64_t{1} << (component.prec - 1);
    value = std::clamp<int64_t>(value, 0, most);
    return static_cast<uint8_t>(component.prec > 8 ? value >> (component.prec - 8)
                                                   : value * 255 / most);
  }

  // ITU-R 601, full range.
  static void ToRgb(uint8_t* pixel) {
    const double y = pixel[0];
    const double cb = pixel[1] - 128.0;
    const double cr = pixel[2] - 128.0;
    const double rgb[] = {y + 1.402 * cr, y - 0.344136 * cb - 0.714136 * cr, y + 1.772 * cb};
    for (int c = 0; c < 3; ++c) pixel[c] = static_cast<uint8_t>(std::clamp(rgb[c] + 0.5, 0., 255.));
  }

  Status Refused() const {
    if (error_.empty()) return InvalidArgumentError("the file is damaged");
    return InvalidArgumentError("{}", ToLower(EscapeControls(error_)));
  }

  static Jpeg2000Decoder& Self(void* user) { return *static_cast<Jpeg2000Decoder*>(user); }

  static void OnError(const char* message, void* user) {
    std::string text = message;
    while (!text.empty() && text.back() == '\n') text.pop_back();
    if (Self(user).error_.empty()) Self(user).error_ = std::move(text);
  }
  static OPJ_SIZE_T Read(void* out, OPJ_SIZE_T size, void* user) {
    Jpeg2000Decoder& self = Self(user);
    const size_t count = std::min<size_t>(size, self.bytes_.size() - self.at_);
    if (count == 0) return static_cast<OPJ_SIZE_T>(-1);
    std::memcpy(out, self.bytes_.data() + self.at_, count);
    self.at_ += count;
    return count;
  }
  static OPJ_OFF_T Skip(OPJ_OFF_T count, void* user) {
    Jpeg2000Decoder& self = Self(user);
    const auto left = static_cast<OPJ_OFF_T>(self.bytes_.size() - self.at_);
    if (count < 0 || left == 0) return -1;
    self.at_ += static_cast<size_t>(std::min(count, left));
    return std::min(count, left);
  }
  static OPJ_BOOL Seek(OPJ_OFF_T at, void* user) {
    Jpeg2000Decoder& self = Self(user);
    if (at < 0 || static_cast<uint64_t>(at) > self.bytes_.size()) return OPJ_FALSE;
    self.at_ = static_cast<size_t>(at);
    return OPJ_TRUE;
  }

  std::span<const std::byte> bytes_;
  size_t at_ = 0;
  opj_codec_t* codec_ = nullptr;
  opj_stream_t* stream_ = nullptr;
  opj_image_t* image_ = nullptr;
  std::string error_;
};

}  // namespace

DecoderResult OpenJpeg2000(std::span<const std::byte> bytes) {
  auto decoder = std::make_unique<Jpeg2000Decoder>(bytes);
  KHEYA_RETURN_IF_ERROR(decoder->Open());
  return DecoderResult(std::move(decoder));
}

}  // namespace kheya
