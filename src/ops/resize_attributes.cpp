#include "ops/resize_attributes.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "ops/axes.h"

namespace kheya {
namespace {

using kernels::CoordinateMode;
using kernels::NearestMode;
using kernels::ResizeMode;
using kernels::ResizeParams;

template <typename Enum>
struct Word {
  const char* text;
  Enum value;
};

constexpr Word<ResizeMode> kModes[] = {{"nearest", ResizeMode::kNearest},
                                       {"linear", ResizeMode::kLinear},
                                       {"cubic", ResizeMode::kCubic}};
constexpr Word<NearestMode> kNearestModes[] = {
    {"round_prefer_floor", NearestMode::kRoundPreferFloor},
    {"round_prefer_ceil", NearestMode::kRoundPreferCeil},
    {"floor", NearestMode::kFloor},
    {"ceil", NearestMode::kCeil}};
constexpr Word<CoordinateMode> kCoordinateModes[] = {
    {"half_pixel", CoordinateMode::kHalfPixel},
    {"half_pixel_symmetric", CoordinateMode::kHalfPixelSymmetric},
    {"pytorch_half_pixel", CoordinateMode::kPytorchHalfPixel},
    {"align_corners", CoordinateMode::kAlignCorners},
    {"asymmetric", CoordinateMode::kAsymmetric},
    {"tf_crop_and_resize", CoordinateMode::kCropAndResize},
    {"tf_half_pixel_for_nn", CoordinateMode::kTfHalfPixelForNearest}};

template <typename Enum, size_t N>
Status ReadWord(const AttributeReader& attributes, const char* name, const Word<Enum> (&words)[N],
                Enum* value) {
  const std::string text = attributes.String(name, words[0].text);
  for (const Word<Enum>& word : words) {
    if (text == word.text) {
      *value = word.value;
      return OkStatus();
    }
  }
  return InvalidArgumentError("found {} '{}', which is none of Resize", name, text);
}

Status CheckLength(const char* what, size_t found, size_t expected) {
  if (found == expected) return OkStatus();
  return InvalidArgumentError("found {} {}, expected {}", found, what, expected);
}

// InvalidArgument when it is no size.
Result<int64_t> ToSize(double size) {
  if (std::isfinite(size) && size >= 0 && size < 9e18) return static_cast<int64_t>(size);
  return InvalidArgumentError("found a resized axis of {} elements, expected a size", size);
}

}  // namespace

Result<ResizeParams> ReadResizeModes(const AttributeReader& attributes) {
  ResizeParams params;
  KHEYA_RETURN_IF_ERROR(ReadWord(attributes, "mode", kModes, &params.mode));
  KHEYA_RETURN_IF_ERROR(ReadWord(attributes, "nearest_mode", kNearestModes, &params.nearest));
  KHEYA_RETURN_IF_ERROR(ReadWord(attributes, "coordinate_transformation_mode", kCoordinateModes,
                                 &params.coordinates));
  params.antialias = attributes.Int("antialias", 0) != 0;
  params.exclude_outside = attributes.Int("exclude_outside", 0) != 0;
  params.cubic_a = attributes.Float("cubic_coeff_a", -0.75f);
  params.extrapolation_value = attributes.Float("extrapolation_value", 0.0f);
  if (params.antialias && params.mode == ResizeMode::kNearest) {
    return InvalidArgumentError("found antialias with mode 'nearest', expected linear or cubic");
  }
  return params;
}

Result<std::vector<int>> ResizedAxes(const AttributeReader& attributes, int rank) {
  if (attributes.Has("axes")) return NormalizeAxes(attributes.Ints("axes"), rank);
  std::vector<int> axes;
  for (int i = 0; i < rank; ++i) axes.push_back(i);
  return axes;
}

Status FillAxesFromScales(std::span<const float> scales, std::span<const int> axes, const Shape& in,
                          ResizeParams& params) {
  KHEYA_RETURN_IF_ERROR(CheckLength("scales", scales.size(), axes.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    const float scale = scales[i];
    if (!(scale > 0) || !std::isfinite(scale)) {
      return InvalidArgumentError("found a scale of {}, expected a positive number", scale);
    }
    const int64_t input = in[axes[i]];
    KHEYA_ASSIGN_OR_RETURN(int64_t output, ToSize(std::floor(scale * static_cast<float>(input))));
    params.axes.push_back({.axis = axes[i], .input = input, .output = output, .scale = scale});
  }
  return OkStatus();
}

Status FillAxesFromSizes(std::span<const int64_t> sizes, std::string_view policy,
                         std::span<const int> axes, const Shape& in, ResizeParams& params) {
  KHEYA_RETURN_IF_ERROR(CheckLength("sizes", sizes.size(), axes.size()));
  if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller") {
    return InvalidArgumentError(
        "found keep_aspect_ratio_policy '{}', expected stretch, "
        "not_larger or not_smaller",
        policy);
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t input = in[axes[i]];
    if (sizes[i] < 0 || (input == 0 && sizes[i] > 0)) {
      return InvalidArgumentError(
          "found a size of {} for an axis of {}, expected one that can be "
          "made",
          sizes[i], input);
    }
    const double scale =
        input == 0 ? 1.0 : static_cast<double>(sizes[i]) / static_cast<double>(input);
    params.axes.push_back({.axis = axes[i], .input = input, .output = sizes[i], .scale = scale});
  }
  if (policy == "stretch" || params.axes.empty()) return OkStatus();
  const auto by_scale = [](const auto& a, const auto& b) { return a.scale < b.scale; };
  const auto [smallest, largest] =
      std::minmax_element(params.axes.begin(), params.axes.end(), by_scale);
  const double scale = policy == "not_larger" ? smallest->scale : largest->scale;
  for (kernels::ResizeAxis& axis : params.axes) {
    axis.scale = scale;
    KHEYA_ASSIGN_OR_RETURN(axis.output,
                           ToSize(std::floor(scale * static_cast<double>(axis.input) + 0.5)));
  }
  return OkStatus();
}

}  // namespace kheya
