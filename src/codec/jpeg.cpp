// The adapter of libjpeg-turbo. The library leaves through longjmp: functions that call setjmp
// hold no objects with destructors.
#include <csetjmp>
#include <cstdio>
#include <cstring>
// jpeglib.h needs cstdio before it.
#include <jerror.h>
#include <jpeglib.h>

#include <utility>

#include "base/string_util.h"
#include "codec/picture_decoder.h"

namespace kheya {
namespace {

// Progressive files may repeat scans over the whole picture without end.
constexpr int kMostScans = 100;

// The library's state with the way out of it.
struct Library {
  jpeg_decompress_struct info;
  jpeg_error_mgr errors;
  jpeg_progress_mgr progress;
  std::jmp_buf exit;
  char message[JMSG_LENGTH_MAX];
};

Library* LibraryOf(j_common_ptr info) { return static_cast<Library*>(info->client_data); }

[[noreturn]] void OnError(j_common_ptr info) {
  Library* library = LibraryOf(info);
  info->err->format_message(info, library->message);
  std::longjmp(library->exit, 1);
}

[[noreturn]] void Fail(j_common_ptr info, const char* message) {
  Library* library = LibraryOf(info);
  std::snprintf(library->message, sizeof(library->message), "%s", message);
  std::longjmp(library->exit, 1);
}

// The library fills up what is missing with gray: a file that is cut off is refused instead.
void OnMessage(j_common_ptr info, int level) {
  if (level >= 0) return;
  if (info->err->msg_code == JWRN_JPEG_EOF) Fail(info, "the file is cut off");
}

void OnProgress(j_common_ptr info) {
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > kMostScans) {
    Fail(info, "the file has too many scans");
  }
}

void IgnoreOutput(j_common_ptr) {}

class JpegDecoder : public PictureDecoder {
 public:
  JpegDecoder() = default;
  ~JpegDecoder() override {
    if (created_) jpeg_destroy_decompress(&library_.info);
  }

  Status Open(std::span<const std::byte> bytes) {
    if (!ReadHeader(bytes)) return Refused();
    width_ = library_.info.image_width;
    height_ = library_.info.image_height;
    switch (library_.info.jpeg_color_space) {
      case JCS_GRAYSCALE:
        library_.info.out_color_space = JCS_GRAYSCALE;
        channels_ = 1;
        break;
      case JCS_CMYK:
      case JCS_YCCK:
        library_.info.out_color_space = JCS_CMYK;
        break;
      default:
        library_.info.out_color_space = JCS_RGB;
    }
    for (auto* marker = library_.info.marker_list; marker != nullptr; marker = marker->next) {
      const int value = ReadExifOrientation(
          {reinterpret_cast<const std::byte*>(marker->data), marker->data_length});
      if (value != 1) orientation_ = value;
    }
    return OkStatus();
  }

  Status Decode(uint8_t* out) override { return ReadRows(out) ? OkStatus() : Refused(); }

 private:
  Status Refused() const {
    return InvalidArgumentError("{}", ToLower(EscapeControls(library_.message)));
  }

  bool ReadHeader(std::span<const std::byte> bytes) {
    library_.info.err = jpeg_std_error(&library_.errors);
    library_.errors.error_exit = OnError;
    library_.errors.emit_message = OnMessage;
    library_.errors.output_message = IgnoreOutput;
    library_.info.client_data = &library_;
    if (setjmp(library_.exit) != 0) return false;
    jpeg_create_decompress(&library_.info);
    created_ = true;
    library_.progress.progress_monitor = OnProgress;
    library_.info.progress = &library_.progress;
    jpeg_mem_src(&library_.info, reinterpret_cast<const unsigned char*>(bytes.data()),
                 bytes.size());
    jpeg_save_markers(&library_.info, JPEG_APP0 + 1, 0xffff);
    jpeg_read_header(&library_.info, TRUE);
    return true;
  }

  bool ReadRows(uint8_t* out) {
    if (setjmp(library_.exit) != 0) return false;
    jpeg_start_decompress(&library_.info);
    if (library_.info.output_width != width_ || library_.info.output_height != height_) {
      Fail(reinterpret_cast<j_common_ptr>(&library_.info), "the size changed while decoding");
    }
    const size_t row_bytes = static_cast<size_t>(width_) * channels_;
    const bool cmyk = library_.info.out_color_space == JCS_CMYK;
    JSAMPARRAY wide = nullptr;  // the library frees it
    if (cmyk) {
      wide =
          (*library_.info.mem->alloc_sarray)(reinterpret_cast<j_common_ptr>(&library_.info),
                                             JPOOL_IMAGE, static_cast<JDIMENSION>(width_ * 4), 1);
    }
    while (library_.info.output_scanline < library_.info.output_height) {
      uint8_t* row = out + library_.info.output_scanline * row_bytes;
      JSAMPROW target = cmyk ? wide[0] : row;
      if (jpeg_read_scanlines(&library_.info, &target, 1) != 1) {
        Fail(reinterpret_cast<j_common_ptr>(&library_.info), "a row is missing");
      }
      if (cmyk) ToRgb(wide[0], row);
    }
    return true;
  }

  // Adobe's files hold the inverse of the ink.
  void ToRgb(const uint8_t* cmyk, uint8_t* rgb) const {
    const int invert = library_.info.saw_Adobe_marker ? 0 : 255;
    for (int64_t i = 0; i < width_; ++i, cmyk += 4) {
      for (int c = 0; c < 3; ++c) {
        const int product = (cmyk[c] ^ invert) * (cmyk[3] ^ invert);
        *rgb++ = static_cast<uint8_t>((product + 127) / 255);
      }
    }
  }

  Library library_{};
  bool created_ = false;
};

}  // namespace

DecoderResult OpenJpeg(std::span<const std::byte> bytes) {
  auto decoder = std::make_unique<JpegDecoder>();
  KHEYA_RETURN_IF_ERROR(decoder->Open(bytes));
  return DecoderResult(std::move(decoder));
}

}  // namespace kheya
