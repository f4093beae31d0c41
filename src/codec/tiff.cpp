// The adapter of libtiff. It reads from memory, reports through this object alone (no handlers of
// the process), and allocates at most kMostBytes at once.
#include <tiffio.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/allocator.h"
#include "base/string_util.h"
#include "codec/picture_decoder.h"

namespace kheya {
namespace {

constexpr tmsize_t kMostBytes = tmsize_t{512} << 20;

class TiffDecoder : public PictureDecoder {
 public:
  explicit TiffDecoder(std::span<const std::byte> bytes) : bytes_(bytes) {}
  ~TiffDecoder() override {
    if (tiff_ != nullptr) TIFFClose(tiff_);
  }

  Status Open() {
    TIFFOpenOptions* options = TIFFOpenOptionsAlloc();
    if (options == nullptr) return ResourceExhaustedError("no memory to decode");
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, kMostBytes);
    TIFFOpenOptionsSetErrorHandlerExtR(options, OnError, this);
    TIFFOpenOptionsSetWarningHandlerExtR(options, OnWarning, this);
    // "m": no mapping; the reads below are copies already.
    tiff_ = TIFFClientOpenExt("memory", "rm", this, Read, Write, Seek, Close, Size, nullptr,
                              nullptr, options);
    TIFFOpenOptionsFree(options);
    if (tiff_ == nullptr) return Refused();
    uint32_t width = 0;
    uint32_t height = 0;
    TIFFGetField(tiff_, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(tiff_, TIFFTAG_IMAGELENGTH, &height);
    width_ = width;
    height_ = height;
    uint16_t orientation = ORIENTATION_TOPLEFT;
    TIFFGetFieldDefaulted(tiff_, TIFFTAG_ORIENTATION, &orientation);
    if (orientation >= ORIENTATION_TOPLEFT && orientation <= ORIENTATION_LEFTBOT) {
      orientation_ = orientation;
    }
    // The rows as they are stored: libtiff would turn some orientations and not others.
    TIFFSetField(tiff_, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
    return OkStatus();
  }

  Status Decode(uint8_t* out) override {
    char reason[1024] = "";
    if (!TIFFRGBAImageOK(tiff_, reason))
      return UnimplementedError("{}", ToLower(EscapeControls(reason)));
    KeepColoursUnderAlpha();
    const auto pixels = static_cast<size_t>(width_ * height_);
    KHEYA_ASSIGN_OR_RETURN(Buffer buffer, Buffer::Allocate(pixels * sizeof(uint32_t)));
    auto* raster = reinterpret_cast<uint32_t*>(buffer.data());
    if (!TIFFReadRGBAImageOriented(tiff_, static_cast<uint32_t>(width_),
                                   static_cast<uint32_t>(height_), raster, ORIENTATION_TOPLEFT,
                                   1)) {
      return Refused();
    }
    for (size_t i = 0; i < pixels; ++i, out += 3) {
      out[0] = static_cast<uint8_t>(TIFFGetR(raster[i]));
      out[1] = static_cast<uint8_t>(TIFFGetG(raster[i]));
      out[2] = static_cast<uint8_t>(TIFFGetB(raster[i]));
    }
    return OkStatus();
  }

 private:
  // Alpha that is not multiplied in is told as one that is: libtiff would multiply it.
  void KeepColoursUnderAlpha() {
    uint16_t count = 0;
    uint16_t* kinds = nullptr;
    if (!TIFFGetFieldDefaulted(tiff_, TIFFTAG_EXTRASAMPLES, &count, &kinds) || count == 0) return;
    if (kinds[0] != EXTRASAMPLE_UNASSALPHA) return;
    std::vector<uint16_t> told(kinds, kinds + count);
    told[0] = EXTRASAMPLE_ASSOCALPHA;
    TIFFSetField(tiff_, TIFFTAG_EXTRASAMPLES, count, told.data());
  }

  Status Refused() const {
    if (error_.empty()) return InvalidArgumentError("the file is damaged");
    return InvalidArgumentError("{}", ToLower(EscapeControls(error_)));
  }

  static TiffDecoder& Self(void* handle) { return *static_cast<TiffDecoder*>(handle); }

  static int OnError(TIFF* /*tiff*/, void* self, const char* /*module*/, const char* format,
                     va_list arguments) {
    char text[256];
    vsnprintf(text, sizeof(text), format, arguments);
    if (Self(self).error_.empty()) Self(self).error_ = text;
    return 1;
  }
  static int OnWarning(TIFF* /*tiff*/, void* /*self*/, const char* /*module*/,
                       const char* /*format*/, va_list /*arguments*/) {
    return 1;
  }

  static tmsize_t Read(thandle_t handle, void* out, tmsize_t size) {
    TiffDecoder& self = Self(handle);
    const uint64_t left = self.bytes_.size() - std::min<uint64_t>(self.at_, self.bytes_.size());
    const auto count = std::min(static_cast<uint64_t>(std::max<tmsize_t>(size, 0)), left);
    if (count > 0) std::memcpy(out, self.bytes_.data() + self.at_, count);
    self.at_ += count;
    return static_cast<tmsize_t>(count);
  }
  static tmsize_t Write(thandle_t /*handle*/, void* /*data*/, tmsize_t /*size*/) { return -1; }
  static toff_t Seek(thandle_t handle, toff_t offset, int whence) {
    TiffDecoder& self = Self(handle);
    if (whence == SEEK_CUR) offset += self.at_;
    if (whence == SEEK_END) offset += self.bytes_.size();
    self.at_ = offset;
    return offset;
  }
  static int Close(thandle_t /*handle*/) { return 0; }
  static toff_t Size(thandle_t handle) { return Self(handle).bytes_.size(); }

  std::span<const std::byte> bytes_;
  uint64_t at_ = 0;
  TIFF* tiff_ = nullptr;
  std::string error_;
};

}  // namespace

DecoderResult OpenTiff(std::span<const std::byte> bytes) {
  auto decoder = std::make_unique<TiffDecoder>(bytes);
  KHEYA_RETURN_IF_ERROR(decoder->Open());
  return DecoderResult(std::move(decoder));
}

}  // namespace kheya
