// Portable bitmaps, graymaps, pixmaps and arbitrary maps (P1 to P7): https://netpbm.sourceforge.net
#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/string_util.h"
#include "codec/byte_reader.h"
#include "codec/picture_decoder.h"

namespace kheya {
namespace {

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

class PnmDecoder : public PictureDecoder {
 public:
  explicit PnmDecoder(std::span<const std::byte> bytes) : text_(AsText(bytes)) {}

  Status Open() {
    kind_ = text_[1] - '0';
    at_ = 2;
    KHEYA_RETURN_IF_ERROR(kind_ == 7 ? ReadMapHeader() : ReadHeader());
    if (depth_ < 1 || depth_ > 4) {
      return UnimplementedError("pictures of {} samples a pixel are not supported", depth_);
    }
    if (most_ < 1 || most_ > 65535) {
      return InvalidArgumentError("found a largest sample of {}, expected 1 to 65535", most_);
    }
    channels_ = depth_ < 3 ? 1 : 3;
    return OkStatus();
  }

  Status Decode(uint8_t* out) override {
    for (int64_t y = 0; y < height_; ++y) {
      for (int64_t x = 0; x < width_; ++x, out += channels_) {
        for (int64_t c = 0; c < depth_; ++c) {
          KHEYA_ASSIGN_OR_RETURN(const int64_t sample, kind_ == 4 ? Bit(x) : Sample());
          // A second or fourth sample is alpha, which is left out.
          if (c < channels_) out[c] = Scaled(sample);
        }
      }
      if (kind_ == 4) at_ += static_cast<size_t>((width_ + 7) / 8);
    }
    return OkStatus();
  }

 private:
  static Status CutOff() { return InvalidArgumentError("the file is cut off"); }

  void SkipSpace() {
    while (at_ < text_.size() && (IsSpace(text_[at_]) || text_[at_] == '#')) {
      if (text_[at_] == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else {
        ++at_;
      }
    }
  }

  std::string_view Word() {
    SkipSpace();
    const size_t begin = at_;
    while (at_ < text_.size() && !IsSpace(text_[at_]) && text_[at_] != '#') ++at_;
    return text_.substr(begin, at_ - begin);
  }

  Result<int64_t> Number() {
    const std::string_view word = Word();
    if (word.empty()) return CutOff();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error == std::errc() && end == word.data() + word.size() && value >= 0) return value;
    return InvalidArgumentError("found '{}', expected a number", EscapeControls(Abbreviate(word)));
  }

  Status ReadHeader() {
    KHEYA_ASSIGN_OR_RETURN(width_, Number());
    KHEYA_ASSIGN_OR_RETURN(height_, Number());
    if (kind_ != 1 && kind_ != 4) {
      KHEYA_ASSIGN_OR_RETURN(most_, Number());
    }
    depth_ = kind_ == 3 || kind_ == 6 ? 3 : 1;
    at_ = std::min(at_ + 1, text_.size());  // one white space, then samples
    return OkStatus();
  }

  Status ReadMapHeader() {
    depth_ = 0;
    while (true) {
      const std::string_view key = Word();
      if (key.empty()) return CutOff();
      if (key == "ENDHDR") break;
      if (key == "TUPLTYPE") {
        (void)Word();
        continue;
      }
      int64_t* place = key == "WIDTH"    ? &width_
                       : key == "HEIGHT" ? &height_
                       : key == "DEPTH"  ? &depth_
                       : key == "MAXVAL" ? &most_
                                         : nullptr;
      if (place == nullptr) {
        return InvalidArgumentError("found '{}' in the header", EscapeControls(Abbreviate(key)));
      }
      KHEYA_ASSIGN_OR_RETURN(*place, Number());
    }
    at_ = std::min(at_ + 1, text_.size());
    return OkStatus();
  }

  Result<int64_t> Bit(int64_t x) const {
    const size_t place = at_ + static_cast<size_t>(x / 8);
    if (place >= text_.size()) return CutOff();
    return int64_t{1} - (static_cast<uint8_t>(text_[place]) >> (7 - x % 8) & 1);  // 1 is black
  }

  Result<int64_t> Sample() {
    if (kind_ == 1) {
      SkipSpace();
      if (at_ >= text_.size()) return CutOff();
      const char c = text_[at_++];
      if (c == '0' || c == '1') return int64_t{c == '0'};
      return InvalidArgumentError("found '{}', expected 0 or 1",
                                  EscapeControls(std::string_view(&c, 1)));
    }
    if (kind_ < 4) return Number();
    const size_t width = most_ > 255 ? 2 : 1;
    if (at_ > text_.size() || width > text_.size() - at_) return CutOff();
    const auto bytes = AsBytes(text_);
    const int64_t sample =
        width == 2 ? LoadBig<uint16_t>(bytes, at_) : LoadBig<uint8_t>(bytes, at_);
    at_ += width;
    return sample;
  }

  uint8_t Scaled(int64_t sample) const {
    const int64_t clipped = std::min(sample, most_);
    return static_cast<uint8_t>((clipped * 255 + most_ / 2) / most_);
  }

  std::string_view text_;
  size_t at_ = 0;
  int kind_ = 0;
  int64_t depth_ = 1;
  int64_t most_ = 1;
};

}  // namespace

DecoderResult OpenPnm(std::span<const std::byte> bytes) {
  auto decoder = std::make_unique<PnmDecoder>(bytes);
  KHEYA_RETURN_IF_ERROR(decoder->Open());
  return DecoderResult(std::move(decoder));
}

}  // namespace kheya
