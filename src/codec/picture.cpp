#include "codec/picture.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "codec/byte_reader.h"
#include "codec/picture_decoder.h"

namespace kheya {
namespace {

using Bytes = std::span<const std::byte>;

struct FormatRow {
  PictureFormat format;
  const char* name;
  DecoderResult (*open)(Bytes);
};

// In the order of PictureFormat.
constexpr FormatRow kFormats[] = {{PictureFormat::kJpeg, "JPEG", OpenJpeg},
                                  {PictureFormat::kPng, "PNG", OpenPng},
                                  {PictureFormat::kWebp, "WebP", OpenWebp},
                                  {PictureFormat::kBmp, "BMP", OpenBmp},
                                  {PictureFormat::kPnm, "PNM", OpenPnm},
                                  {PictureFormat::kTiff, "TIFF", OpenTiff},
                                  {PictureFormat::kJpeg2000, "JPEG 2000", OpenJpeg2000}};

const FormatRow& RowOf(PictureFormat format) { return kFormats[static_cast<int>(format)]; }

Result<const FormatRow*> FindRow(Bytes bytes) {
  const std::optional<PictureFormat> format = SniffPicture(bytes);
  if (!format) {
    return InvalidArgumentError(
        "found {} bytes of something else, expected a picture: JPEG, PNG, WebP, BMP, PNM, TIFF or "
        "JPEG 2000",
        bytes.size());
  }
  return &RowOf(*format);
}

Status CheckLimits(const PictureDecoder& decoder, const PictureLimits& limits) {
  const int64_t width = decoder.width(), height = decoder.height();
  if (width < 1 || height < 1) {
    return InvalidArgumentError("found an empty picture of {}x{} pixels", width, height);
  }
  if (width > limits.max_side || height > limits.max_side || width > limits.max_pixels / height) {
    return ResourceExhaustedError("found {}x{} pixels, the limit is {} on a side and {} in all",
                                  width, height, limits.max_side, limits.max_pixels);
  }
  return OkStatus();
}

void ConvertRow(const uint8_t* in, int in_channels, uint8_t* out, int out_channels, int64_t count) {
  if (in_channels == out_channels) {
    std::memcpy(out, in, count * in_channels);
  } else if (out_channels == 1) {
    for (int64_t i = 0; i < count; ++i, in += 3) {
      out[i] =
          static_cast<uint8_t>((19595u * in[0] + 38470u * in[1] + 7471u * in[2] + 32768u) >> 16);
    }
  } else {
    for (int64_t i = 0; i < count; ++i, out += 3) std::fill_n(out, 3, in[i]);
  }
}

// How the shown picture lies in the stored one.
struct Placement {
  bool swap;    // rows of the shown picture are columns of the stored one
  bool flip_x;  // of the stored picture
  bool flip_y;
};

Placement PlacementOf(int orientation) {
  static constexpr Placement kPlacements[8] = {
      {false, false, false}, {false, true, false}, {false, true, true}, {false, false, true},
      {true, false, false},  {true, false, true},  {true, true, true},  {true, true, false}};
  return kPlacements[orientation - 1];
}

// `in` is [height, width, channels]; `out` has the axes of the shown picture.
void Orient(const uint8_t* in, int64_t width, int64_t height, int channels,
            const Placement& placement, uint8_t* out) {
  const int64_t shown_width = placement.swap ? height : width;
  const int64_t shown_height = placement.swap ? width : height;
  for (int64_t y = 0; y < shown_height; ++y) {
    for (int64_t x = 0; x < shown_width; ++x, out += channels) {
      int64_t from_x = placement.swap ? y : x;
      int64_t from_y = placement.swap ? x : y;
      if (placement.flip_x) from_x = width - 1 - from_x;
      if (placement.flip_y) from_y = height - 1 - from_y;
      std::memcpy(out, in + (from_y * width + from_x) * channels, channels);
    }
  }
}

Result<Tensor> Decode(PictureDecoder* decoder, int channels, const PictureLimits& limits,
                      const std::shared_ptr<MemoryBudget>& budget, bool upright) {
  KHEYA_RETURN_IF_ERROR(CheckLimits(*decoder, limits));
  const int64_t width = decoder->width(), height = decoder->height();
  KHEYA_ASSIGN_OR_RETURN(
      Tensor stored,
      Tensor::Allocate(DType::kUint8, Shape{height, width, decoder->channels()}, budget));
  KHEYA_RETURN_IF_ERROR(decoder->Decode(stored.mutable_data<uint8_t>().data()));
  if (decoder->channels() != channels) {
    KHEYA_ASSIGN_OR_RETURN(Tensor converted,
                           Tensor::Allocate(DType::kUint8, Shape{height, width, channels}, budget));
    ConvertRow(stored.data<uint8_t>().data(), decoder->channels(),
               converted.mutable_data<uint8_t>().data(), channels, height * width);
    stored = std::move(converted);
  }
  if (!upright || decoder->orientation() == 1) return stored;
  const Placement placement = PlacementOf(decoder->orientation());
  const Shape shape = placement.swap ? Shape{width, height, channels} : stored.shape();
  KHEYA_ASSIGN_OR_RETURN(Tensor shown, Tensor::Allocate(DType::kUint8, shape, budget));
  Orient(stored.data<uint8_t>().data(), width, height, channels, placement,
         shown.mutable_data<uint8_t>().data());
  return shown;
}

}  // namespace

const char* PictureFormatName(PictureFormat format) { return RowOf(format).name; }

std::optional<PictureFormat> SniffPicture(Bytes bytes) {
  const std::string_view text = AsText(bytes);
  if (text.starts_with("\xff\xd8\xff")) return PictureFormat::kJpeg;
  if (text.starts_with("\x89PNG\r\n\x1a\n")) return PictureFormat::kPng;
  if (text.starts_with("RIFF") && text.size() >= 12 && text.substr(8, 4) == "WEBP") {
    return PictureFormat::kWebp;
  }
  if (text.starts_with("BM") && text.size() >= 26) return PictureFormat::kBmp;
  if (text.size() >= 3 && text[0] == 'P' && text[1] >= '1' && text[1] <= '7' &&
      (text[2] == '#' || text[2] == ' ' || (text[2] >= '\t' && text[2] <= '\r'))) {
    return PictureFormat::kPnm;
  }
  using namespace std::string_view_literals;
  for (std::string_view magic : {"II*\0"sv, "MM\0*"sv, "II+\0"sv, "MM\0+"sv}) {
    if (text.starts_with(magic)) return PictureFormat::kTiff;
  }
  if (text.starts_with("\0\0\0\x0cjP  \r\n\x87\n"sv) || text.starts_with("\xff\x4f\xff\x51")) {
    return PictureFormat::kJpeg2000;
  }
  return std::nullopt;
}

Result<PictureInfo> ReadPictureInfo(Bytes bytes) {
  KHEYA_ASSIGN_OR_RETURN(const FormatRow* row, FindRow(bytes));
  DecoderResult decoder = row->open(bytes);
  if (!decoder.ok()) return std::move(decoder).status().WithContext("{} picture", row->name);
  return PictureInfo{row->format, (*decoder)->width(), (*decoder)->height()};
}

Result<Tensor> DecodePicture(Bytes bytes, int channels, const PictureLimits& limits,
                             const std::shared_ptr<MemoryBudget>& budget, bool upright) {
  if (channels != 1 && channels != 3) {
    return InvalidArgumentError("found {} channels, expected 1 or 3", channels);
  }
  KHEYA_ASSIGN_OR_RETURN(const FormatRow* row, FindRow(bytes));
  DecoderResult decoder = row->open(bytes);
  if (!decoder.ok()) return std::move(decoder).status().WithContext("{} picture", row->name);
  return Decode(decoder->get(), channels, limits, budget, upright)
      .WithContext("{} picture", row->name);
}

}  // namespace kheya
