#include <optional>

#include "codec/byte_reader.h"
#include "codec/picture_decoder.h"

namespace kheya {
namespace {

constexpr uint16_t kOrientationTag = 0x0112;
constexpr uint16_t kShortType = 3;
constexpr size_t kEntrySize = 12;

// A TIFF structure in either byte order; reads outside give nothing.
class Tiff {
 public:
  Tiff(std::span<const std::byte> bytes, bool big_endian) : bytes_(bytes), big_(big_endian) {}

  template <typename T>
  std::optional<T> Load(size_t at) const {
    if (at > bytes_.size() || bytes_.size() - at < sizeof(T)) return std::nullopt;
    return big_ ? LoadBig<T>(bytes_, at) : LoadLittle<T>(bytes_, at);
  }

 private:
  std::span<const std::byte> bytes_;
  bool big_;
};

}  // namespace

int ReadExifOrientation(std::span<const std::byte> app1) {
  constexpr std::string_view kPrefix("Exif\0\0", 6);
  if (!AsText(app1).starts_with(kPrefix)) return 1;
  const std::span<const std::byte> bytes = app1.subspan(kPrefix.size());
  const std::string_view order = AsText(bytes).substr(0, 2);
  if (order != "MM" && order != "II") return 1;
  const Tiff tiff(bytes, order == "MM");
  if (tiff.Load<uint16_t>(2) != 42) return 1;
  const size_t folder = tiff.Load<uint32_t>(4).value_or(0);
  const size_t count = tiff.Load<uint16_t>(folder).value_or(0);
  for (size_t i = 0; i < count; ++i) {
    const size_t at = folder + 2 + i * kEntrySize;
    if (tiff.Load<uint16_t>(at) != kOrientationTag) continue;
    const int value = tiff.Load<uint16_t>(at + 8).value_or(1);
    if (tiff.Load<uint16_t>(at + 2) != kShortType || value < 1 || value > 8) return 1;
    return value;
  }
  return 1;
}

}  // namespace kheya
