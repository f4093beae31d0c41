// Windows and OS/2 bitmaps: 1 to 32 bits a pixel, palettes, bit masks, run lengths.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <utility>

#include "codec/byte_reader.h"
#include "codec/picture_decoder.h"

namespace kheya {
namespace {

using Bytes = std::span<const std::byte>;

constexpr size_t kFileHeader = 14;
enum Compression : uint32_t { kNone = 0, kRle8 = 1, kRle4 = 2, kMasks = 3, kAlphaMasks = 6 };

Status CutOff() { return InvalidArgumentError("the file is cut off"); }

// One colour of a pixel of 16 or 32 bits, scaled to 8.
struct Channel {
  uint32_t mask = 0;

  uint8_t Of(uint32_t pixel) const {
    if (mask == 0) return 0;
    const int shift = std::countr_zero(mask);
    const uint64_t most = mask >> shift;
    return static_cast<uint8_t>(uint64_t{(pixel & mask) >> shift} * 255 / most);
  }
};

class BmpDecoder : public PictureDecoder {
 public:
  explicit BmpDecoder(Bytes bytes) : bytes_(bytes) {}

  Status Open() {
    if (bytes_.size() < kFileHeader + 12) return CutOff();
    data_at_ = LoadLittle<uint32_t>(bytes_, 10);
    header_size_ = LoadLittle<uint32_t>(bytes_, kFileHeader);
    const bool core = header_size_ == 12;
    if (!core && (header_size_ < 40 || header_size_ > 124)) {
      return InvalidArgumentError("found a header of {} bytes, expected 12 or 40 to 124",
                                  header_size_);
    }
    if (bytes_.size() < kFileHeader + header_size_) return CutOff();
    KHEYA_RETURN_IF_ERROR(core ? ReadCoreHeader() : ReadInfoHeader());
    KHEYA_RETURN_IF_ERROR(CheckForm());
    return ReadPalette(core ? 3 : 4);
  }

  Status Decode(uint8_t* out) override {
    if (compression_ == kRle8 || compression_ == kRle4) return DecodeRuns(out);
    const uint64_t row_bytes = (static_cast<uint64_t>(width_) * bits_ + 31) / 32 * 4;
    for (int64_t y = 0; y < height_; ++y) {
      const uint64_t at = data_at_ + row_bytes * static_cast<uint64_t>(y);
      // The last row may lack its padding.
      const uint64_t needed = (static_cast<uint64_t>(width_) * bits_ + 7) / 8;
      if (at > bytes_.size() || needed > bytes_.size() - at) return CutOff();
      uint8_t* row = RowOf(out, y);
      for (int64_t x = 0; x < width_; ++x) {
        KHEYA_RETURN_IF_ERROR(PutPixel(bytes_.subspan(at, needed), x, row + 3 * x));
      }
    }
    return OkStatus();
  }

 private:
  Status ReadCoreHeader() {
    width_ = LoadLittle<uint16_t>(bytes_, kFileHeader + 4);
    height_ = LoadLittle<uint16_t>(bytes_, kFileHeader + 6);
    bits_ = LoadLittle<uint16_t>(bytes_, kFileHeader + 10);
    return OkStatus();
  }

  Status ReadInfoHeader() {
    width_ = LoadLittle<int32_t>(bytes_, kFileHeader + 4);
    const int64_t height = LoadLittle<int32_t>(bytes_, kFileHeader + 8);
    top_down_ = height < 0;
    height_ = std::abs(height);
    bits_ = LoadLittle<uint16_t>(bytes_, kFileHeader + 14);
    compression_ = LoadLittle<uint32_t>(bytes_, kFileHeader + 16);
    num_colors_ = LoadLittle<uint32_t>(bytes_, kFileHeader + 32);
    if (compression_ != kMasks && compression_ != kAlphaMasks) return OkStatus();
    // In the larger headers, or just behind the small one: the same place.
    const size_t at = kFileHeader + 40;
    if (bytes_.size() < at + 12) return CutOff();
    for (size_t i = 0; i < 3; ++i) masks_[i].mask = LoadLittle<uint32_t>(bytes_, at + 4 * i);
    if (header_size_ == 40) palette_gap_ = compression_ == kMasks ? 12 : 16;
    compression_ = kMasks;
    return OkStatus();
  }

  Status CheckForm() {
    const bool masks = compression_ == kMasks;
    const bool plain = compression_ == kNone;
    bool known = false;
    if (bits_ == 1 || bits_ == 24) known = plain;
    if (bits_ == 4) known = plain || compression_ == kRle4;
    if (bits_ == 8) known = plain || compression_ == kRle8;
    if (bits_ == 16 || bits_ == 32) known = plain || masks;
    if (!known) {
      return UnimplementedError("{} bits a pixel with compression {} are not supported", bits_,
                                compression_);
    }
    if (plain && bits_ == 16) masks_ = {Channel{0x7c00}, Channel{0x3e0}, Channel{0x1f}};
    if (plain && bits_ == 32) masks_ = {Channel{0xff0000}, Channel{0xff00}, Channel{0xff}};
    return OkStatus();
  }

  Status ReadPalette(size_t entry_bytes) {
    if (bits_ > 8) return OkStatus();
    const uint32_t most = 1u << bits_;
    const uint32_t count = num_colors_ == 0 ? most : std::min(num_colors_, most);
    const size_t at = kFileHeader + header_size_ + palette_gap_;
    // OS/2 writes as many as there are before the pixels.
    for (uint32_t i = 0; i < count && at + (i + 1) * entry_bytes <= bytes_.size(); ++i) {
      if (num_colors_ == 0 && at + (i + 1) * entry_bytes > data_at_) break;
      for (size_t c = 0; c < 3; ++c) {
        palette_[i][c] = std::to_integer<uint8_t>(bytes_[at + i * entry_bytes + 2 - c]);
      }
      palette_size_ = i + 1;
    }
    return OkStatus();
  }

  uint8_t* RowOf(uint8_t* out, int64_t y) const {
    return out + (top_down_ ? y : height_ - 1 - y) * width_ * 3;
  }

  Status PutColor(uint32_t index, uint8_t* pixel) const {
    if (index >= palette_size_) {
      return InvalidArgumentError("found colour {}, the palette has {}", index, palette_size_);
    }
    std::copy_n(palette_[index].begin(), 3, pixel);
    return OkStatus();
  }

  Status PutPixel(Bytes row, int64_t x, uint8_t* pixel) const {
    if (bits_ <= 8) {
      const auto byte = std::to_integer<uint32_t>(row[x * bits_ / 8]);
      const auto shift = static_cast<uint32_t>(8 - bits_ - x * bits_ % 8);
      return PutColor(byte >> shift & ((1u << bits_) - 1), pixel);
    }
    if (bits_ == 24) {
      for (int c = 0; c < 3; ++c) pixel[c] = std::to_integer<uint8_t>(row[3 * x + 2 - c]);
      return OkStatus();
    }
    const uint32_t value =
        bits_ == 16 ? LoadLittle<uint16_t>(row, 2 * x) : LoadLittle<uint32_t>(row, 4 * x);
    for (size_t c = 0; c < 3; ++c) pixel[c] = masks_[c].Of(value);
    return OkStatus();
  }

  // Pairs of a count and what to repeat; a count of 0 starts the end of a row (0), the end (1), a
  // move (2) or that many single pixels, padded to 16 bits. What is not written has colour 0.
  Status DecodeRuns(uint8_t* out) {
    for (int64_t i = 0; i < width_ * height_; ++i) {
      KHEYA_RETURN_IF_ERROR(PutColor(0, out + 3 * i));
    }
    uint64_t at = data_at_;
    int64_t x = 0;
    int64_t y = 0;
    while (true) {
      if (at + 2 > bytes_.size()) return CutOff();
      const auto count = std::to_integer<uint32_t>(bytes_[at]);
      const auto code = std::to_integer<uint32_t>(bytes_[at + 1]);
      at += 2;
      if (count == 0 && code == 1) return OkStatus();
      if (count == 0 && code == 0) {
        x = 0;
        ++y;
      } else if (count == 0 && code == 2) {
        if (at + 2 > bytes_.size()) return CutOff();
        x += std::to_integer<int64_t>(bytes_[at]);
        y += std::to_integer<int64_t>(bytes_[at + 1]);
        at += 2;
      } else {
        const uint32_t pixels = count == 0 ? code : count;
        const uint64_t bytes = count == 0 ? (uint64_t{pixels} * bits_ + 7) / 8 : 0;
        if (at > bytes_.size() || bytes > bytes_.size() - at) return CutOff();
        if (y >= height_ || x + pixels > width_) {
          return InvalidArgumentError("found a run of {} pixels past the end of row {}", pixels, y);
        }
        for (uint32_t i = 0; i < pixels; ++i, ++x) {
          const uint32_t source = count == 0 ? Nibbles(at, i) : Repeated(code, i);
          KHEYA_RETURN_IF_ERROR(PutColor(source, RowOf(out, y) + 3 * x));
        }
        at += (bytes + 1) / 2 * 2;
      }
    }
  }

  uint32_t Repeated(uint32_t code, uint32_t i) const {
    if (bits_ == 8) return code;
    return i % 2 == 0 ? code >> 4 : code & 15;
  }
  uint32_t Nibbles(uint64_t at, uint32_t i) const {
    if (bits_ == 8) return std::to_integer<uint32_t>(bytes_[at + i]);
    return Repeated(std::to_integer<uint32_t>(bytes_[at + i / 2]), i);
  }

  Bytes bytes_;
  uint64_t data_at_ = 0;
  size_t header_size_ = 0;
  size_t palette_gap_ = 0;
  bool top_down_ = false;
  uint32_t bits_ = 0;
  uint32_t compression_ = kNone;
  uint32_t num_colors_ = 0;
  uint32_t palette_size_ = 0;
  std::array<std::array<uint8_t, 3>, 256> palette_{};
  std::array<Channel, 3> masks_{};
};

}  // namespace

DecoderResult OpenBmp(std::span<const std::byte> bytes) {
  auto decoder = std::make_unique<BmpDecoder>(bytes);
  KHEYA_RETURN_IF_ERROR(decoder->Open());
  return DecoderResult(std::move(decoder));
}

}  // namespace kheya
