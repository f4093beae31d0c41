#include "kernels/reference/quantize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/reference/elementwise.h"

namespace kheya::kernels {
namespace {

double RoundTo(DType precision, double value) {
  switch (precision) {
    case DType::kFloat16:
      return static_cast<float>(Float16(static_cast<float>(value)));
    case DType::kBFloat16:
      return static_cast<float>(BFloat16(static_cast<float>(value)));
    case DType::kFloat64:
      return value;
    default:
      return static_cast<float>(value);
  }
}

// The range of an integer type of up to 16 bits.
struct Range {
  double low = 0;
  double high = 0;
};
Range RangeOf(DType dtype) {
  if (IsSmallInteger(dtype)) {
    return {static_cast<double>(SmallLowest(dtype)), static_cast<double>(SmallHighest(dtype))};
  }
  switch (dtype) {
    case DType::kInt8:
      return {-128, 127};
    case DType::kUint8:
      return {0, 255};
    case DType::kInt16:
      return {-32768, 32767};
    default:
      return {0, 65535};
  }
}

// NaN has no place among integers; it becomes the lowest, as a conversion of hardware gives it.
double Saturate(const Range& range, double value) {
  return std::isnan(value) ? range.low : std::clamp(value, range.low, range.high);
}

// Calls visit(element, scale index) for every element in order.
template <typename Visit>
void ForEachElement(const QuantLayout& layout, Visit visit) {
  int64_t at = 0;
  for (int64_t o = 0; o < layout.outer; ++o) {
    for (int64_t a = 0; a < layout.axis; ++a) {
      for (int64_t i = 0; i < layout.inner; ++i) visit(at++, layout.ScaleOf(o, a, i));
    }
  }
}

void PutInteger(const MutableTensorView& y, int64_t at, int64_t value) {
  switch (y.dtype) {
    case DType::kInt8:
      static_cast<int8_t*>(y.data)[at] = static_cast<int8_t>(value);
      return;
    case DType::kUint8:
      static_cast<uint8_t*>(y.data)[at] = static_cast<uint8_t>(value);
      return;
    case DType::kInt16:
      static_cast<int16_t*>(y.data)[at] = static_cast<int16_t>(value);
      return;
    case DType::kUint16:
      static_cast<uint16_t*>(y.data)[at] = static_cast<uint16_t>(value);
      return;
    default:
      SetCode(y.dtype, y.data, at, IntegerToSmall(y.dtype, value));
  }
}

template <typename Read>
Status DequantizeElements(const QuantLayout& layout, std::span<const double> scales,
                          std::span<const double> zero_points, Read read,
                          const MutableTensorView& y) {
  return CallWithRealType(y.dtype, [&]<typename T>(const T&) {
    T* out = static_cast<T*>(y.data);
    ForEachElement(layout, [&](int64_t at, int64_t s) {
      const double zero = zero_points.empty() ? 0 : zero_points[s];
      // Each factor is exact in double; one rounding to the type.
      out[at] = static_cast<T>(static_cast<ComputeType<T>>((read(at) - zero) * scales[s]));
    });
  });
}

// No sum: a block may be as long as a number can say.
int64_t NumBlocks(int64_t axis, int64_t block) {
  return axis / block + (axis % block == 0 ? 0 : 1);
}

}  // namespace

int64_t QuantLayout::num_scales() const {
  if (block == 0) return 1;
  if (block < 0) return axis;
  return outer * NumBlocks(axis, block) * inner;
}

int64_t QuantLayout::ScaleOf(int64_t outer_index, int64_t place, int64_t inner_index) const {
  if (block == 0) return 0;
  if (block < 0) return place;
  const int64_t blocks = NumBlocks(axis, block);
  return (outer_index * blocks + place / block) * inner + inner_index;
}

Result<std::vector<double>> NumbersOf(const TensorView& view) {
  std::vector<double> numbers(static_cast<size_t>(view.num_elements()));
  if (IsSmall(view.dtype)) {
    for (size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] =
          SmallToDouble(view.dtype, CodeAt(view.dtype, view.data, static_cast<int64_t>(i)));
    }
    return numbers;
  }
  KHEYA_RETURN_IF_ERROR(CallWithNumericType(view.dtype, [&]<typename T>(const T&) {
    const auto values = view.as<T>();
    for (size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = static_cast<double>(static_cast<ComputeType<T>>(values[i]));
    }
  }));
  return numbers;
}

Status Quantize(const QuantLayout& layout, DType precision, bool saturate, const TensorView& x,
                std::span<const double> scales, std::span<const double> zero_points,
                const MutableTensorView& y) {
  if (y.num_elements() > 0) std::memset(y.data, 0, y.num_bytes());
  const Range range = RangeOf(y.dtype);
  const bool to_float = IsSmallFloat(y.dtype);
  return CallWithNumericType(x.dtype, [&]<typename T>(const T&) {
    const auto values = x.as<T>();
    ForEachElement(layout, [&](int64_t at, int64_t s) {
      const auto value = static_cast<double>(static_cast<ComputeType<T>>(values[at]));
      const double zero = zero_points.empty() ? 0 : zero_points[s];
      const double quotient =
          RoundTo(precision, RoundTo(precision, value) / RoundTo(precision, scales[s]));
      if (to_float) {
        const SmallOptions options = {saturate, SmallRounding::kNearest};
        SetCode(y.dtype, y.data, at, DoubleToSmall(y.dtype, quotient + zero, options));
        return;
      }
      const double rounded = Saturate(range, std::nearbyint(quotient) + zero);
      PutInteger(y, at, static_cast<int64_t>(rounded));
    });
  });
}

Status Dequantize(const QuantLayout& layout, const TensorView& x, std::span<const double> scales,
                  std::span<const double> zero_points, const MutableTensorView& y) {
  if (IsSmall(x.dtype)) {
    const auto read = [&](int64_t at) {
      return SmallToDouble(x.dtype, CodeAt(x.dtype, x.data, at));
    };
    return DequantizeElements(layout, scales, zero_points, read, y);
  }
  Status status;
  KHEYA_RETURN_IF_ERROR(CallWithNumericType(x.dtype, [&]<typename T>(const T&) {
    const auto values = x.as<T>();
    const auto read = [&](int64_t at) {
      return static_cast<double>(static_cast<ComputeType<T>>(values[at]));
    };
    status = DequantizeElements(layout, scales, zero_points, read, y);
  }));
  return status;
}

DynamicScale FindDynamicScale(std::span<const float> x) {
  float low = 0;
  float high = 0;
  for (float value : x) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  DynamicScale found;
  found.scale = low == high ? 1.0f : (high - low) / 255.0f;
  const float zero = std::nearbyint(-low / found.scale);
  found.zero_point = static_cast<uint8_t>(std::clamp(zero, 0.0f, 255.0f));
  return found;
}

void RoundToDynamicScale(std::span<float> x) {
  const DynamicScale by = FindDynamicScale(x);
  for (float& value : x) {
    const int32_t q = Requantize(DType::kUint8, value / by.scale, by.zero_point);
    value = static_cast<float>(q - by.zero_point) * by.scale;
  }
}

int32_t Requantize(DType dtype, float value, int32_t zero_point) {
  const Range range = RangeOf(dtype);
  return static_cast<int32_t>(
      Saturate(range, std::nearbyint(static_cast<double>(value)) + zero_point));
}

}  // namespace kheya::kernels
