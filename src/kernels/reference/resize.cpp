#include "kernels/reference/resize.h"

#include <algorithm>
#include <cmath>

#include "kernels/reference/float_dispatch.h"

namespace kheya::kernels {
namespace {

// x / scale in single precision, which is what scales come in: 1 / 0.2f is 5, not a little less.
double Scaled(double x, const ResizeAxis& axis) {
  return static_cast<float>(x) / static_cast<float>(axis.scale);
}

// The input coordinate of output position `at`.
double InputCoordinate(const ResizeParams& params, const ResizeAxis& axis, int64_t at) {
  const double x = static_cast<double>(at);
  const double last = static_cast<double>(axis.input - 1);
  const double length = axis.scale * static_cast<double>(axis.input);  // before rounding
  const double half_pixel = Scaled(x + 0.5, axis) - 0.5;
  switch (params.coordinates) {
    case CoordinateMode::kHalfPixelSymmetric: {
      const double adjustment = static_cast<double>(axis.output) / length;
      return static_cast<double>(axis.input) / 2 * (1 - adjustment) + half_pixel;
    }
    case CoordinateMode::kPytorchHalfPixel:
      return length == 1.0 ? -0.5 : half_pixel;
    case CoordinateMode::kAlignCorners:
      return length == 1.0 ? 0.0 : x * last / (length - 1);
    case CoordinateMode::kAsymmetric:
      return Scaled(x, axis);
    case CoordinateMode::kTfHalfPixelForNearest:
      return Scaled(x + 0.5, axis);
    case CoordinateMode::kCropAndResize: {
      const double crop = axis.roi_end - axis.roi_start;
      const double inside = length == 1.0 ? crop * last / 2 : x * crop * last / (length - 1);
      return axis.roi_start * last + inside;
    }
    default:
      return half_pixel;
  }
}

bool IsExtrapolated(const ResizeParams& params, const ResizeAxis& axis, double x) {
  return params.coordinates == CoordinateMode::kCropAndResize &&
         !(x >= 0 && x <= static_cast<double>(axis.input - 1));
}

int64_t ClampToAxis(double x, const ResizeAxis& axis) {
  return static_cast<int64_t>(std::clamp(x, 0.0, static_cast<double>(axis.input - 1)));
}

double RoundNearest(NearestMode mode, double x) {
  const double floor = std::floor(x);
  switch (mode) {
    case NearestMode::kFloor:
      return floor;
    case NearestMode::kCeil:
      return std::ceil(x);
    case NearestMode::kRoundPreferCeil:
      return x - floor >= 0.5 ? floor + 1 : floor;
    default:
      return x - floor > 0.5 ? floor + 1 : floor;
  }
}

// The filters, by distance from the coordinate.
double LinearWeight(double distance) { return std::max(0.0, 1.0 - std::abs(distance)); }

double CubicWeight(double distance, double a) {
  const double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0.0;
}

template <typename T>
void InterpolateTyped(const ResizeParams& params, const ResizeAxis& axis, const TensorView& in,
                      const MutableTensorView& out) {
  const int64_t outer = in.shape.Product(0, axis.axis);
  const int64_t inner = in.shape.Product(axis.axis + 1, in.shape.rank());
  for (int64_t at = 0; at < axis.output; ++at) {
    const ResizeTaps taps = TapsAt(params, axis, at);
    for (int64_t i = 0; i < outer * inner; ++i) {
      const T* line = in.as<T>().data() + i / inner * axis.input * inner + i % inner;
      double sum = taps.weights.empty() ? params.extrapolation_value : 0.0;
      for (size_t t = 0; t < taps.weights.size(); ++t) {
        sum += taps.weights[t] * static_cast<double>(line[taps.indices[t] * inner]);
      }
      out.as<T>()[(i / inner * axis.output + at) * inner + i % inner] = static_cast<T>(sum);
    }
  }
}

}  // namespace

std::vector<int64_t> NearestIndices(const ResizeParams& params, const ResizeAxis& axis) {
  std::vector<int64_t> indices;
  for (int64_t at = 0; at < axis.output; ++at) {
    const double x = InputCoordinate(params, axis, at);
    const bool extrapolated = IsExtrapolated(params, axis, x);
    indices.push_back(extrapolated ? -1 : ClampToAxis(RoundNearest(params.nearest, x), axis));
  }
  return indices;
}

ResizeTaps TapsAt(const ResizeParams& params, const ResizeAxis& axis, int64_t at) {
  ResizeTaps taps;
  const double x = InputCoordinate(params, axis, at);
  if (IsExtrapolated(params, axis, x)) return taps;
  const double shrink = params.antialias ? std::min(axis.scale, 1.0) : 1.0;
  const double support = params.mode == ResizeMode::kCubic ? 2.0 : 1.0;
  const int64_t start = static_cast<int64_t>(std::floor(-support / shrink)) + 1;
  // An integer coordinate counts as the right end of the pixel before it.
  const double base = std::ceil(x) - 1;
  double sum = 0;
  for (int64_t i = start; i < 2 - start; ++i) {
    const double index = base + static_cast<double>(i);
    const double distance = (index - x) * shrink;
    double weight = params.mode == ResizeMode::kCubic ? CubicWeight(distance, params.cubic_a)
                                                      : LinearWeight(distance);
    const bool outside = index < 0 || index >= static_cast<double>(axis.input);
    if (params.exclude_outside && outside) weight = 0;
    taps.indices.push_back(ClampToAxis(index, axis));
    taps.weights.push_back(weight);
    sum += weight;
  }
  for (double& weight : taps.weights) weight /= sum == 0 ? 1 : sum;
  return taps;
}

bool IsIdentity(const ResizeParams& params, const ResizeAxis& axis) {
  return axis.input == axis.output && axis.scale == 1.0 &&
         params.coordinates != CoordinateMode::kCropAndResize;
}

Status InterpolateAxis(const ResizeParams& params, const ResizeAxis& axis, const TensorView& in,
                       const MutableTensorView& out) {
  return CallWithFloatType(out.dtype,
                           [&]<typename T>(T) { InterpolateTyped<T>(params, axis, in, out); });
}

}  // namespace kheya::kernels
