// The adapter of libpng. The library leaves through longjmp: functions that call setjmp hold no
// objects with destructors.
#include <png.h>

#include <cstdio>
#include <cstring>
#include <utility>

#include "base/string_util.h"
#include "codec/byte_reader.h"
#include "codec/picture.h"
#include "codec/picture_decoder.h"

namespace kheya {
namespace {

constexpr size_t kMostChunkBytes = size_t{8} << 20;
constexpr int kMostStoredChunks = 128;

struct Failure {
  char message[200] = "no reason given";
};

[[noreturn]] void OnError(png_structp png, png_const_charp message) {
  auto* failure = static_cast<Failure*>(png_get_error_ptr(png));
  std::snprintf(failure->message, sizeof(failure->message), "%s", message);
  png_longjmp(png, 1);
}

void OnWarning(png_structp, png_const_charp) {}

void ReadBytes(png_structp png, png_bytep out, size_t count) {
  auto* rest = static_cast<std::span<const std::byte>*>(png_get_io_ptr(png));
  if (rest->size() < count) png_error(png, "the file is cut off");
  std::memcpy(out, rest->data(), count);
  *rest = rest->subspan(count);
}

class PngDecoder : public PictureDecoder {
 public:
  explicit PngDecoder(std::span<const std::byte> bytes) : rest_(bytes) {}
  ~PngDecoder() override { png_destroy_read_struct(&png_, &info_, nullptr); }

  Status Open() {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &failure_, OnError, OnWarning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ == nullptr) return ResourceExhaustedError("no memory to decode");
    if (!ReadHeader()) return Refused();
    width_ = png_get_image_width(png_, info_);
    height_ = png_get_image_height(png_, info_);
    channels_ = png_get_color_type(png_, info_) & PNG_COLOR_MASK_COLOR ? 3 : 1;
    return OkStatus();
  }

  Status Decode(uint8_t* out) override {
    if (!ReadRows(out)) return Refused();
    return OkStatus();
  }

 private:
  Status Refused() const {
    return InvalidArgumentError("{}", ToLower(EscapeControls(failure_.message)));
  }

  bool ReadHeader() {
    if (setjmp(png_jmpbuf(png_))) return false;
    png_set_read_fn(png_, &rest_, ReadBytes);
    png_set_user_limits(png_, 0x7fffffff, 0x7fffffff);  // checked by the caller
    png_set_chunk_malloc_max(png_, kMostChunkBytes);
    png_set_chunk_cache_max(png_, kMostStoredChunks);
    png_read_info(png_, info_);
    return true;
  }

  bool ReadRows(uint8_t* out) {
    if (setjmp(png_jmpbuf(png_))) return false;
    png_set_expand(png_);
    png_set_scale_16(png_);
    png_set_strip_alpha(png_);
    const int passes = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    const size_t row_bytes = static_cast<size_t>(width_) * channels_;
    if (png_get_rowbytes(png_, info_) != row_bytes) png_error(png_, "rows have another size");
    for (int pass = 0; pass < passes; ++pass) {
      for (int64_t y = 0; y < height_; ++y) png_read_row(png_, out + y * row_bytes, nullptr);
    }
    return true;
  }

  std::span<const std::byte> rest_;
  Failure failure_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

void AppendBytes(png_structp png, png_bytep bytes, size_t count) {
  static_cast<std::string*>(png_get_io_ptr(png))
      ->append(reinterpret_cast<const char*>(bytes), count);
}

void Flush(png_structp) {}

bool WriteRows(png_structp png, png_infop info, const TensorView& picture) {
  if (setjmp(png_jmpbuf(png))) return false;
  const auto height = static_cast<png_uint_32>(picture.shape[0]);
  const auto width = static_cast<png_uint_32>(picture.shape[1]);
  const int channels = static_cast<int>(picture.shape[2]);
  png_set_IHDR(png, info, width, height, 8,
               channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  const auto* rows = static_cast<const uint8_t*>(picture.data);
  for (png_uint_32 y = 0; y < height; ++y) {
    png_write_row(png, rows + size_t{y} * width * channels);
  }
  png_write_end(png, info);
  return true;
}

}  // namespace

DecoderResult OpenPng(std::span<const std::byte> bytes) {
  auto decoder = std::make_unique<PngDecoder>(bytes);
  KHEYA_RETURN_IF_ERROR(decoder->Open());
  return DecoderResult(std::move(decoder));
}

Result<std::string> EncodePng(const TensorView& picture) {
  const Shape& shape = picture.shape;
  if (picture.dtype != DType::kUint8 || shape.rank() != 3 || (shape[2] != 1 && shape[2] != 3) ||
      shape[0] < 1 || shape[1] < 1 || shape[0] > 0x7fffffff || shape[1] > 0x7fffffff) {
    return InvalidArgumentError("found {}{}, expected uint8 [height,width,1 or 3]",
                                DTypeName(picture.dtype), shape.ToString());
  }
  Failure failure;
  std::string file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &failure, OnError, OnWarning);
  png_infop info = png == nullptr ? nullptr : png_create_info_struct(png);
  Status status = ResourceExhaustedError("no memory to encode");
  if (info != nullptr) {
    png_set_user_limits(png, 0x7fffffff, 0x7fffffff);
    png_set_write_fn(png, &file, AppendBytes, Flush);
    status = WriteRows(png, info, picture) ? OkStatus() : InternalError("{}", failure.message);
  }
  png_destroy_write_struct(&png, &info);
  if (!status.ok()) return std::move(status).WithContext("PNG picture");
  return file;
}

}  // namespace kheya
