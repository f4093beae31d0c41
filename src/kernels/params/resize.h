// Parameters of Resize.
#ifndef KHEYA_KERNELS_PARAMS_RESIZE_H_
#define KHEYA_KERNELS_PARAMS_RESIZE_H_

#include <cstdint>
#include <vector>

namespace kheya::kernels {

enum class ResizeMode : uint8_t { kNearest, kLinear, kCubic };
enum class NearestMode : uint8_t { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil };
// How an output position is mapped to an input coordinate; the formulas are those of ONNX's
// Resize.
enum class CoordinateMode : uint8_t {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kCropAndResize,
  kTfHalfPixelForNearest,  // of opset 11 alone: (position + 0.5) / scale
};

// One axis that is resized.
struct ResizeAxis {
  int axis = 0;
  int64_t input = 0;
  int64_t output = 0;
  double scale = 1.0;      // positive; output is not always scale * input
  double roi_start = 0.0;  // kCropAndResize, as parts of the axis
  double roi_end = 1.0;
};

struct ResizeParams {
  ResizeMode mode = ResizeMode::kNearest;
  NearestMode nearest = NearestMode::kRoundPreferFloor;
  CoordinateMode coordinates = CoordinateMode::kHalfPixel;
  bool antialias = false;  // linear and cubic: wider filters when an axis shrinks
  bool exclude_outside = false;
  double cubic_a = -0.75;
  double extrapolation_value = 0.0;  // kCropAndResize: what lies outside the input
  std::vector<ResizeAxis> axes;
};

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_PARAMS_RESIZE_H_
