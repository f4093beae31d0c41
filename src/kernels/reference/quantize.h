// Linear quantization: y = saturate(round(x / scale) + zero point), and back.
#ifndef KHEYA_KERNELS_REFERENCE_QUANTIZE_H_
#define KHEYA_KERNELS_REFERENCE_QUANTIZE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "tensor/small_types.h"
#include "tensor/tensor.h"

namespace kheya::kernels {

// A tensor as [outer, axis, inner], and how many of its elements share a scale: all (whole), those
// at one place of the axis (block 1, one scale a place), or at `block` places with the same inner
// index (one scale for each block, outer and inner index).
struct QuantLayout {
  int64_t outer = 1;
  int64_t axis = 1;
  int64_t inner = 1;
  int64_t block = 0;  // 0: whole; -1: one scale for each place of the axis

  int64_t num_scales() const;
  // The scale of an element.
  int64_t ScaleOf(int64_t outer_index, int64_t place, int64_t inner_index) const;
};

// `scales` and `zero_points` (empty: zeros) have num_scales() elements. x: float types or int32.
// The quotient is rounded to `precision` (float32, float16, bfloat16), then half to even when y is
// an integer type, int2 to uint16; a float8 or float4 y takes it as DoubleToSmall does.
Status Quantize(const QuantLayout& layout, DType precision, bool saturate, const TensorView& x,
                std::span<const double> scales, std::span<const double> zero_points,
                const MutableTensorView& y);

// y = (x - zero point) * scale in y's type, a float type. x: an integer or a small type.
Status Dequantize(const QuantLayout& layout, const TensorView& x, std::span<const double> scales,
                  std::span<const double> zero_points, const MutableTensorView& y);

// Scale and zero point by which uint8 covers x (float32) and 0.
struct DynamicScale {
  float scale = 1;
  uint8_t zero_point = 0;
};
DynamicScale FindDynamicScale(std::span<const float> x);
// x becomes the numbers that its uint8 stand for.
void RoundToDynamicScale(std::span<float> x);

// round(value) + zero_point, half to even, brought into the range of int8 or uint8 `dtype`.
int32_t Requantize(DType dtype, float value, int32_t zero_point);

// All elements of a numeric or small tensor.
Result<std::vector<double>> NumbersOf(const TensorView& view);

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_QUANTIZE_H_
