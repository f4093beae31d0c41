#include "data/preprocess.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "codec/picture.h"
#include "data/resize.h"

namespace kheya {
namespace {

// How one axis of the picture is resized, and where what is kept of it begins in the target.
struct AxisPlace {
  AxisWindow window;
  int64_t at;
};

// `factor` resizes the picture's side; what is longer than the target loses its ends, what is
// shorter lies in its middle, odd pixels at the far side.
AxisPlace PlaceAxis(int64_t side, int64_t target, double factor) {
  const int64_t size = std::max<int64_t>(1, std::llround(static_cast<double>(side) * factor));
  const int64_t before = (target - size) / 2;
  return {.window = {.size = size,
                     .first = std::max<int64_t>(0, -before),
                     .count = std::min(size, target)},
          .at = std::max<int64_t>(0, before)};
}

struct Placement {
  AxisPlace rows;
  AxisPlace columns;
};

Placement Place(const ModelSpec& spec, int64_t height, int64_t width) {
  if (!spec.has_picture()) return {PlaceAxis(height, height, 1), PlaceAxis(width, width, 1)};
  const double by_height = static_cast<double>(spec.height) / static_cast<double>(height);
  const double by_width = static_cast<double>(spec.width) / static_cast<double>(width);
  const double more = std::max(by_height, by_width), less = std::min(by_height, by_width);
  switch (spec.resize) {
    case ModelSpec::Resize::kStretch:
      break;
    case ModelSpec::Resize::kCrop:
      return {PlaceAxis(height, spec.height, more), PlaceAxis(width, spec.width, more)};
    case ModelSpec::Resize::kPad:
      return {PlaceAxis(height, spec.height, less), PlaceAxis(width, spec.width, less)};
  }
  return {PlaceAxis(height, spec.height, by_height), PlaceAxis(width, spec.width, by_width)};
}

struct Affine {
  float factor = 1;
  float offset = 0;
};

std::array<Affine, 3> Normalization(const ModelSpec& spec) {
  std::array<Affine, 3> all;
  for (size_t c = 0; c < 3; ++c) {
    const double mean = spec.mean.empty() ? 0 : spec.mean[spec.mean.size() == 1 ? 0 : c];
    const double std = spec.std.empty() ? 1 : spec.std[spec.std.size() == 1 ? 0 : c];
    all[c] = {static_cast<float>(spec.scale / std), static_cast<float>(-mean / std)};
  }
  return all;
}

// `pixels` is what the windows of `place` keep; the rest of the target is black.
template <typename T, typename Convert>
void WritePixels(const ModelSpec& spec, const uint8_t* pixels, const Placement& place,
                 int64_t height, int64_t width, T* out, Convert convert) {
  const int64_t channels = spec.channels();
  const bool nchw = spec.layout == ModelSpec::Layout::kNchw;
  const int64_t rows = place.rows.window.count, columns = place.columns.window.count;
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      const int64_t from_y = y - place.rows.at, from_x = x - place.columns.at;
      const bool inside = from_y >= 0 && from_y < rows && from_x >= 0 && from_x < columns;
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t source = spec.color == ModelSpec::Color::kBgr ? channels - 1 - c : c;
        const uint8_t pixel =
            inside ? pixels[(from_y * columns + from_x) * channels + source] : uint8_t{0};
        out[nchw ? (c * height + y) * width + x : (y * width + x) * channels + c] =
            convert(pixel, c);
      }
    }
  }
}

}  // namespace

Shape PictureShape(const ModelSpec& spec, int64_t picture_height, int64_t picture_width) {
  const int64_t height = spec.has_picture() ? spec.height : picture_height;
  const int64_t width = spec.has_picture() ? spec.width : picture_width;
  if (spec.layout == ModelSpec::Layout::kNchw) return Shape{spec.channels(), height, width};
  return Shape{height, width, spec.channels()};
}

Status PreprocessPicture(const ModelSpec& spec, const TensorView& picture, void* out,
                         const std::shared_ptr<MemoryBudget>& budget) {
  if (picture.dtype != DType::kUint8 || picture.shape.rank() != 3 ||
      picture.shape[2] != spec.channels() || picture.num_elements() == 0) {
    return InvalidArgumentError("found a picture {}{}, expected uint8[height,width,{}]",
                                DTypeName(picture.dtype), picture.shape.ToString(),
                                spec.channels());
  }
  const int64_t height = picture.shape[0], width = picture.shape[1];
  const Placement place = Place(spec, height, width);
  const auto* pixels = static_cast<const uint8_t*>(picture.data);
  Buffer resized;
  if (place.rows.window.size != height || place.columns.window.size != width ||
      place.rows.window.count != height || place.columns.window.count != width) {
    KHEYA_ASSIGN_OR_RETURN(resized, ResizePixels(pixels, {height, width, spec.channels()},
                                                 place.rows.window, place.columns.window, budget));
    pixels = reinterpret_cast<const uint8_t*>(resized.data());
  }
  const int64_t out_height = spec.has_picture() ? spec.height : height;
  const int64_t out_width = spec.has_picture() ? spec.width : width;
  if (spec.dtype == DType::kUint8) {
    WritePixels(spec, pixels, place, out_height, out_width, static_cast<uint8_t*>(out),
                [](uint8_t pixel, int64_t) { return pixel; });
    return OkStatus();
  }
  const std::array<Affine, 3> affine = Normalization(spec);
  WritePixels(spec, pixels, place, out_height, out_width, static_cast<float*>(out),
              [&](uint8_t pixel, int64_t c) {
                return static_cast<float>(pixel) * affine[c].factor + affine[c].offset;
              });
  return OkStatus();
}

Result<Tensor> PictureToTensor(const ModelSpec& spec, std::span<const std::byte> file,
                               const std::shared_ptr<MemoryBudget>& budget) {
  KHEYA_ASSIGN_OR_RETURN(
      const Tensor picture,
      DecodePicture(file, static_cast<int>(spec.channels()), PictureLimits(), budget));
  const Shape one = PictureShape(spec, picture.shape()[0], picture.shape()[1]);
  KHEYA_ASSIGN_OR_RETURN(Tensor tensor,
                         Tensor::Allocate(spec.dtype, Shape{1, one[0], one[1], one[2]}, budget));
  KHEYA_RETURN_IF_ERROR(
      PreprocessPicture(spec, picture.view(), tensor.mutable_view().data, budget));
  return tensor;
}

}  // namespace kheya
