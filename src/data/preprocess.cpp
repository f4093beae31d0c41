#include "data/preprocess.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "codec/picture.h"
#include "data/resize.h"

namespace kheya {
namespace {

// Height and width after resizing and where the picture then lies in the model's size.
struct Placement {
  int64_t height = 0;
  int64_t width = 0;
  int64_t top = 0;  // of the picture in the target; negative: that many rows are cut off
  int64_t left = 0;
};

Placement Place(const ModelSpec& spec, int64_t height, int64_t width) {
  if (!spec.has_picture()) return {height, width, 0, 0};
  if (spec.resize == ModelSpec::Resize::kStretch) return {spec.height, spec.width, 0, 0};
  const double by_height = static_cast<double>(spec.height) / static_cast<double>(height);
  const double by_width = static_cast<double>(spec.width) / static_cast<double>(width);
  const double factor = spec.resize == ModelSpec::Resize::kCrop ? std::max(by_height, by_width)
                                                                : std::min(by_height, by_width);
  Placement place;
  place.height = std::max<int64_t>(1, std::llround(static_cast<double>(height) * factor));
  place.width = std::max<int64_t>(1, std::llround(static_cast<double>(width) * factor));
  // Floor division, so that an odd row or column falls on the same side for both modes.
  place.top = (spec.height - place.height) >> 1;
  place.left = (spec.width - place.width) >> 1;
  return place;
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

template <typename T, typename Convert>
void WritePixels(const ModelSpec& spec, const uint8_t* pixels, const Placement& place,
                 int64_t height, int64_t width, T* out, Convert convert) {
  const int64_t channels = spec.channels();
  const bool nchw = spec.layout == ModelSpec::Layout::kNchw;
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      const int64_t from_y = y - place.top, from_x = x - place.left;
      const bool inside =
          from_y >= 0 && from_y < place.height && from_x >= 0 && from_x < place.width;
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t source = spec.color == ModelSpec::Color::kBgr ? channels - 1 - c : c;
        const uint8_t pixel =
            inside ? pixels[(from_y * place.width + from_x) * channels + source] : 0;
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

Status PreprocessPicture(const ModelSpec& spec, const TensorView& picture, void* out) {
  if (picture.dtype != DType::kUint8 || picture.shape.rank() != 3 ||
      picture.shape[2] != spec.channels() || picture.num_elements() == 0) {
    return InvalidArgumentError("found a picture {}{}, expected uint8[height,width,{}]",
                                DTypeName(picture.dtype), picture.shape.ToString(),
                                spec.channels());
  }
  const int64_t height = picture.shape[0], width = picture.shape[1];
  const Placement place = Place(spec, height, width);
  const auto* pixels = static_cast<const uint8_t*>(picture.data);
  std::vector<uint8_t> resized;
  if (place.height != height || place.width != width) {
    resized = ResizePixels(pixels, {height, width, spec.channels()}, place.height, place.width);
    pixels = resized.data();
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
  KHEYA_RETURN_IF_ERROR(PreprocessPicture(spec, picture.view(), tensor.mutable_view().data));
  return tensor;
}

}  // namespace kheya
