#include "kernels/reference/grid.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/reference/elementwise.h"
#include "kernels/reference/float_dispatch.h"

namespace kheya::kernels {
namespace {

constexpr int kMaxTaps = 4;

// The pixels along one axis that a place is computed from; -1 for a pixel outside.
struct Taps {
  int count = 0;
  std::array<int64_t, kMaxTaps> at{};
  std::array<double, kMaxTaps> weight{};
};

// Mirrors a place at the borders until it is inside.
double Reflect(double place, double low, double high) {
  const double range = high - low;
  if (range <= 0) return low;
  const double beyond = place < low ? low - place : place - high;
  if (!(beyond > 0)) return place;
  const double turns = std::floor(beyond / range);
  const double rest = beyond - turns * range;
  const bool even = std::fmod(turns, 2.0) == 0;
  return (place < low) == even ? low + rest : high - rest;
}

class Axis {
 public:
  Axis(const GridParams& params, int64_t size)
      : params_(params),
        size_(size),
        low_(params.align_corners ? 0 : -0.5),
        high_(static_cast<double>(size) - (params.align_corners ? 1 : 0.5)) {}

  Taps TapsAt(double normalized) const {
    double place = (normalized + 1) / 2 * (high_ - low_) + low_;
    if (!std::isfinite(place)) place = low_ - 100;
    // Far away is outside or at the border, however far.
    place = std::clamp(place, -kFar, kFar);
    switch (params_.mode) {
      case GridMode::kNearest:
        return {1, {PixelAt(std::nearbyint(Pulled(place)))}, {1.0}};
      case GridMode::kLinear:
        return Linear(Pulled(place));
      case GridMode::kCubic:
        return Cubic(place);
    }
    return {};
  }

 private:
  static constexpr double kFar = 1e9;

  // The place inside of the borders, unless zeros lie outside.
  double Pulled(double place) const {
    if (params_.padding == GridPadding::kBorder) {
      return std::clamp(place, 0.0, static_cast<double>(size_ - 1));
    }
    return params_.padding == GridPadding::kReflection ? Reflect(place, low_, high_) : place;
  }

  int64_t PixelAt(double place) const {
    if (params_.padding == GridPadding::kReflection) place = Reflect(place, low_, high_);
    auto pixel = static_cast<int64_t>(std::floor(place));
    if (params_.padding != GridPadding::kZeros) return std::clamp<int64_t>(pixel, 0, size_ - 1);
    return pixel >= 0 && pixel < size_ ? pixel : -1;
  }

  Taps Linear(double place) const {
    const double first = std::floor(place);
    const double fraction = place - first;
    return {2, {PixelAt(first), PixelAt(first + 1)}, {1 - fraction, fraction}};
  }

  Taps Cubic(double place) const {
    constexpr double a = -0.75;
    const auto near = [](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
    const auto far = [](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
    const double first = std::floor(place);
    const double f = place - first;
    return {4,
            {PixelAt(first - 1), PixelAt(first), PixelAt(first + 1), PixelAt(first + 2)},
            {far(f + 1), near(f), near(1 - f), far(2 - f)}};
  }

  const GridParams& params_;
  const int64_t size_;
  const double low_;
  const double high_;
};

// The sum over all combinations of taps from `axis` on.
template <typename T>
double SumOfTaps(std::span<const Taps> taps, std::span<const int64_t> strides, size_t axis,
                 const T* data) {
  if (axis == taps.size()) return static_cast<double>(static_cast<ComputeType<T>>(*data));
  double sum = 0;
  for (int i = 0; i < taps[axis].count; ++i) {
    const int64_t pixel = taps[axis].at[i];
    if (pixel < 0 || taps[axis].weight[i] == 0) continue;
    sum += taps[axis].weight[i] * SumOfTaps(taps, strides, axis + 1, data + pixel * strides[axis]);
  }
  return sum;
}

template <typename T, typename G>
void GridSampleTyped(const GridParams& params, const TensorView& x, const G* grid,
                     const MutableTensorView& y) {
  const int spatial = x.shape.rank() - 2;
  const auto strides = StridesOf(x.shape);
  const int64_t image = x.shape.Product(2, x.shape.rank());
  const int64_t places = y.shape.Product(2, y.shape.rank());
  const int64_t channels = x.shape[1];
  std::vector<Axis> axes;
  for (int i = 0; i < spatial; ++i) axes.emplace_back(params, x.shape[i + 2]);
  std::vector<Taps> taps(axes.size());
  const std::span<const int64_t> inner(strides.data() + 2, axes.size());
  for (int64_t n = 0; n < x.shape[0]; ++n) {
    for (int64_t p = 0; p < places; ++p, grid += spatial) {
      for (int i = 0; i < spatial; ++i) {
        taps[i] = axes[i].TapsAt(static_cast<double>(grid[spatial - 1 - i]));
      }
      for (int64_t c = 0; c < channels; ++c) {
        const T* data = static_cast<const T*>(x.data) + (n * channels + c) * image;
        static_cast<T*>(y.data)[(n * channels + c) * places + p] =
            static_cast<T>(static_cast<ComputeType<T>>(SumOfTaps(taps, inner, 0, data)));
      }
    }
  }
}

// The place of pixel `i` of `size` in [-1, 1].
double PlaceOf(bool align_corners, int64_t i, int64_t size) {
  if (!align_corners) return (2.0 * static_cast<double>(i) + 1) / static_cast<double>(size) - 1;
  return size == 1 ? -1 : 2.0 * static_cast<double>(i) / static_cast<double>(size - 1) - 1;
}

template <typename T>
void AffineGridTyped(bool align_corners, const TensorView& theta, const MutableTensorView& grid) {
  const int axes = grid.shape.rank() - 2;
  const T* matrix = static_cast<const T*>(theta.data);
  T* out = static_cast<T*>(grid.data);
  const int64_t pixels = grid.shape.Product(1, axes + 1);
  std::array<double, 4> place{};
  for (int64_t n = 0; n < grid.shape[0]; ++n, matrix += axes * (axes + 1)) {
    for (int64_t p = 0; p < pixels; ++p) {
      int64_t rest = p;
      for (int axis = axes; axis-- > 0;) {  // x is the last axis
        const int64_t size = grid.shape[axis + 1];
        place[axes - 1 - axis] = PlaceOf(align_corners, rest % size, size);
        rest /= size;
      }
      place[axes] = 1;
      for (int row = 0; row < axes; ++row) {
        double sum = 0;
        for (int i = 0; i <= axes; ++i) sum += matrix[row * (axes + 1) + i] * place[i];
        *out++ = static_cast<T>(sum);
      }
    }
  }
}

// Counts up through `sizes`, last first; false after the last.
bool NextIndex(std::span<int64_t> index, std::span<const int64_t> sizes) {
  for (size_t i = index.size(); i-- > 0;) {
    if (++index[i] < sizes[i]) return true;
    index[i] = 0;
  }
  return false;
}

template <typename T>
void ColumnsToImageTyped(std::span<const BlockAxis> axes, int64_t planes, const T* x, T* y) {
  std::vector<int64_t> blocks, positions;
  int64_t image = 1;
  for (const BlockAxis& axis : axes) {
    blocks.push_back(axis.block);
    positions.push_back(axis.positions);
    image *= axis.image;
  }
  std::vector<int64_t> block(axes.size()), position(axes.size());
  for (int64_t plane = 0; plane < planes; ++plane, y += image) {
    do {
      do {
        int64_t at = 0;
        bool inside = true;
        for (size_t i = 0; i < axes.size(); ++i) {
          const int64_t place =
              position[i] * axes[i].stride + block[i] * axes[i].dilation - axes[i].pad_begin;
          inside = inside && place >= 0 && place < axes[i].image;
          at = at * axes[i].image + place;
        }
        if (inside) {
          y[at] =
              static_cast<T>(static_cast<ComputeType<T>>(y[at]) + static_cast<ComputeType<T>>(*x));
        }
        ++x;
      } while (NextIndex(position, positions));
    } while (NextIndex(block, blocks));
  }
}

template <typename T>
double Bilinear(const T* image, int64_t height, int64_t width, double y, double x) {
  if (!(y > -1 && x > -1 && y < static_cast<double>(height) && x < static_cast<double>(width))) {
    return 0;
  }
  const double top = std::floor(y);
  const double left = std::floor(x);
  double sum = 0;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      const auto row = static_cast<int64_t>(top) + i;
      const auto column = static_cast<int64_t>(left) + j;
      if (row < 0 || column < 0 || row >= height || column >= width) continue;
      const double weight =
          (i == 0 ? 1 - (y - top) : y - top) * (j == 0 ? 1 - (x - left) : x - left);
      sum += weight * image[row * width + column];
    }
  }
  return sum;
}

template <typename T>
class DeformLoop {
 public:
  DeformLoop(const DeformParams& params, const T* x, const T* w, const T* offset, const T* mask)
      : p_(params), x_(x), w_(w), offset_(offset), mask_(mask) {}

  // One element of the result.
  double At(int64_t n, int64_t filter, int64_t row, int64_t column) const {
    const int64_t in_group = p_.channels / p_.groups;
    const int64_t first = filter / (p_.filters / p_.groups) * in_group;
    double sum = 0;
    for (int64_t c = 0; c < in_group; ++c) {
      const T* image = x_ + (n * p_.channels + first + c) * p_.height * p_.width;
      const T* kernel = w_ + (filter * in_group + c) * p_.rows.block * p_.columns.block;
      const int64_t group = (first + c) / (p_.channels / p_.offset_groups);
      for (int64_t k = 0; k < p_.rows.block * p_.columns.block; ++k) {
        sum += kernel[k] * Tap(n, group, k, row, column, image);
      }
    }
    return sum;
  }

 private:
  double Tap(int64_t n, int64_t group, int64_t k, int64_t row, int64_t column,
             const T* image) const {
    const int64_t taps = p_.rows.block * p_.columns.block;
    const int64_t plane = p_.rows.positions * p_.columns.positions;
    const int64_t at = row * p_.columns.positions + column;
    const int64_t tap = (n * p_.offset_groups + group) * taps + k;
    const T* moved = offset_ + tap * 2 * plane + at;
    const int64_t y =
        row * p_.rows.stride - p_.rows.pad_begin + k / p_.columns.block * p_.rows.dilation;
    const int64_t x = column * p_.columns.stride - p_.columns.pad_begin +
                      k % p_.columns.block * p_.columns.dilation;
    const double value = Bilinear(image, p_.height, p_.width, static_cast<double>(y) + moved[0],
                                  static_cast<double>(x) + moved[plane]);
    return mask_ == nullptr ? value : value * mask_[tap * plane + at];
  }

  const DeformParams& p_;
  const T* x_;
  const T* w_;
  const T* offset_;
  const T* mask_;
};

}  // namespace

Status GridSample(const GridParams& params, const TensorView& x, const TensorView& grid,
                  const MutableTensorView& y) {
  Status status;
  KHEYA_RETURN_IF_ERROR(CallWithNumericType(x.dtype, [&]<typename T>(const T&) {
    status = CallWithRealType(grid.dtype, [&]<typename G>(const G&) {
      GridSampleTyped<T>(params, x, static_cast<const G*>(grid.data), y);
    });
  }));
  return status;
}

Status AffineGrid(bool align_corners, const TensorView& theta, const MutableTensorView& grid) {
  return CallWithFloatType(
      theta.dtype, [&]<typename T>(const T&) { AffineGridTyped<T>(align_corners, theta, grid); });
}

Status ColumnsToImage(std::span<const BlockAxis> axes, int64_t batch_times_channels,
                      const TensorView& x, const MutableTensorView& y) {
  return CallWithNumericType(y.dtype, [&]<typename T>(const T&) {
    std::ranges::fill(y.as<T>(), T{});
    if (x.num_elements() == 0) return;
    ColumnsToImageTyped(axes, batch_times_channels, static_cast<const T*>(x.data),
                        static_cast<T*>(y.data));
  });
}

Status DeformConv(const DeformParams& params, const TensorView& x, const TensorView& w,
                  const TensorView& offset, const TensorView& bias, const TensorView& mask,
                  const MutableTensorView& y) {
  return CallWithFloatType(x.dtype, [&]<typename T>(const T&) {
    const DeformLoop<T> loop(params, static_cast<const T*>(x.data), static_cast<const T*>(w.data),
                             static_cast<const T*>(offset.data), static_cast<const T*>(mask.data));
    const T* biases = static_cast<const T*>(bias.data);
    T* out = static_cast<T*>(y.data);
    const int64_t columns = params.columns.positions;
    for (int64_t i = 0; i < y.num_elements(); ++i) {
      const int64_t row = i / columns;
      const int64_t plane = row / params.rows.positions;
      const int64_t filter = plane % params.filters;
      const double start = biases == nullptr ? 0 : static_cast<double>(biases[filter]);
      out[i] = static_cast<T>(start + loop.At(plane / params.filters, filter,
                                              row % params.rows.positions, i % columns));
    }
  });
}

}  // namespace kheya::kernels
