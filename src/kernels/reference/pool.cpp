#include "kernels/reference/pool.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/reference/float_dispatch.h"

namespace kheya::kernels {
namespace {

int64_t SizeOf(const Spatial& spatial) { return spatial[0] * spatial[1] * spatial[2]; }

// The window at one position: per axis the first input index (may be negative), and the kernel
// elements [first, last) that lie in the input.
struct Placement {
  Spatial start;
  Spatial first;
  Spatial last;

  bool empty() const { return first[0] >= last[0] || first[1] >= last[1] || first[2] >= last[2]; }
};

Placement PlaceWindow(const Window& window, const Spatial& input, const Spatial& position) {
  Placement place;
  for (int axis = 0; axis < kSpatialAxes; ++axis) {
    const int64_t dilation = window.dilation[axis];
    const int64_t start = position[axis] * window.stride[axis] - window.pad_begin[axis];
    place.start[axis] = start;
    place.first[axis] = start < 0 ? (-start + dilation - 1) / dilation : 0;
    const int64_t room = input[axis] - start;
    place.last[axis] =
        room <= 0 ? 0 : std::min(window.kernel[axis], (room + dilation - 1) / dilation);
  }
  return place;
}

// Elements that count for an average: those of the window that lie in the padded input.
int64_t CountWithPadding(const Window& window, const Spatial& input, const Placement& place) {
  int64_t count = 1;
  for (int axis = 0; axis < kSpatialAxes; ++axis) {
    const int64_t dilation = window.dilation[axis];
    const int64_t room = input[axis] + window.pad_end[axis] - place.start[axis];
    count *= std::clamp<int64_t>((room + dilation - 1) / dilation, 0, window.kernel[axis]);
  }
  return count;
}

// Calls visit(offset in the plane) for each input element of a window, row by row.
template <typename Visit>
void ForEachElement(const Window& window, const Spatial& input, const Placement& place,
                    Visit&& visit) {
  for (int64_t d = place.first[0]; d < place.last[0]; ++d) {
    const int64_t in_d = place.start[0] + d * window.dilation[0];
    for (int64_t h = place.first[1]; h < place.last[1]; ++h) {
      const int64_t in_h = place.start[1] + h * window.dilation[1];
      const int64_t row = (in_d * input[1] + in_h) * input[2] + place.start[2];
      for (int64_t w = place.first[2]; w < place.last[2]; ++w) visit(row + w * window.dilation[2]);
    }
  }
}

// Calls element(plane, placement, flat output index) for each output element.
template <typename Element>
void ForEachWindow(const PoolParams& params, const Shape& x, const Shape& y, Element&& element) {
  const Spatial input = SpatialOf(x, 2), output = SpatialOf(y, 2);
  int64_t index = 0;
  for (int64_t plane = 0; plane < y.Product(0, 2); ++plane) {
    for (int64_t d = 0; d < output[0]; ++d) {
      for (int64_t h = 0; h < output[1]; ++h) {
        for (int64_t w = 0; w < output[2]; ++w) {
          element(plane, PlaceWindow(params.window, input, {d, h, w}), index++);
        }
      }
    }
  }
}

// A NaN beats every number and the first of equals wins.
template <typename T>
bool Beats(T value, T best) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return !std::isnan(best);
  }
  return value > best;
}

template <typename T>
constexpr T Lowest() {
  if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::lowest();
}

int64_t ColumnMajor(int64_t offset, const Spatial& input) {
  const int64_t w = offset % input[2];
  const int64_t h = offset / input[2] % input[1];
  const int64_t d = offset / input[2] / input[1];
  return (w * input[1] + h) * input[0] + d;
}

template <typename T>
void MaxTyped(const PoolParams& params, const TensorView& x, const MutableTensorView& y,
              std::span<int64_t> indices, bool column_major) {
  const Spatial input = SpatialOf(x.shape, 2);
  T* out = y.as<T>().data();
  ForEachWindow(params, x.shape, y.shape, [&](int64_t plane, const Placement& place, int64_t i) {
    const T* values = x.as<T>().data() + plane * SizeOf(input);
    T best = Lowest<T>();
    int64_t where = -1;
    ForEachElement(params.window, input, place, [&](int64_t offset) {
      if (where >= 0 && !Beats(values[offset], best)) return;
      best = values[offset];
      where = offset;
    });
    out[i] = best;
    if (indices.empty()) return;
    if (where >= 0 && column_major) where = ColumnMajor(where, input);
    indices[i] = where < 0 ? -1 : plane * SizeOf(input) + where;
  });
}

template <typename T>
void AverageTyped(const PoolParams& params, const TensorView& x, const MutableTensorView& y) {
  const Spatial input = SpatialOf(x.shape, 2);
  T* out = y.as<T>().data();
  ForEachWindow(params, x.shape, y.shape, [&](int64_t plane, const Placement& place, int64_t i) {
    const T* values = x.as<T>().data() + plane * SizeOf(input);
    double sum = 0;
    int64_t count = 0;
    ForEachElement(params.window, input, place, [&](int64_t offset) {
      sum += static_cast<double>(values[offset]);
      ++count;
    });
    if (params.count_include_pad) count = CountWithPadding(params.window, input, place);
    out[i] = count == 0 ? T{0} : static_cast<T>(sum / static_cast<double>(count));
  });
}

template <typename T>
void LpTyped(const PoolParams& params, const TensorView& x, const MutableTensorView& y) {
  const Spatial input = SpatialOf(x.shape, 2);
  const double p = static_cast<double>(params.p);
  T* out = y.as<T>().data();
  ForEachWindow(params, x.shape, y.shape, [&](int64_t plane, const Placement& place, int64_t i) {
    const T* values = x.as<T>().data() + plane * SizeOf(input);
    double sum = 0;
    ForEachElement(params.window, input, place, [&](int64_t offset) {
      sum += std::pow(std::abs(static_cast<double>(values[offset])), p);
    });
    out[i] = static_cast<T>(std::pow(sum, 1.0 / p));
  });
}

}  // namespace

Status Pool(const PoolParams& params, const TensorView& x, const MutableTensorView& y) {
  if (params.kind == PoolKind::kMax) return MaxPoolWithIndices(params, x, y, {}, false);
  return CallWithFloatType(y.dtype, [&]<typename T>(T) {
    if (params.kind == PoolKind::kAverage) AverageTyped<T>(params, x, y);
    if (params.kind == PoolKind::kLp) LpTyped<T>(params, x, y);
  });
}

Status MaxPoolWithIndices(const PoolParams& params, const TensorView& x, const MutableTensorView& y,
                          std::span<int64_t> indices, bool column_major) {
  if (y.dtype == DType::kInt8) {
    MaxTyped<int8_t>(params, x, y, indices, column_major);
    return OkStatus();
  }
  if (y.dtype == DType::kUint8) {
    MaxTyped<uint8_t>(params, x, y, indices, column_major);
    return OkStatus();
  }
  return CallWithFloatType(
      y.dtype, [&]<typename T>(T) { MaxTyped<T>(params, x, y, indices, column_major); });
}

}  // namespace kheya::kernels
