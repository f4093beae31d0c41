#include "kernels/reference/roi.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/reference/float_dispatch.h"

namespace kheya::kernels {
namespace {

// The four neighbours of a sample, with weights.
struct Sample {
  std::array<int64_t, 4> at{};
  std::array<double, 4> weight{};
};

// A place along one axis: two neighbours and the weight of the second.
struct Between {
  int64_t low = 0;
  int64_t high = 0;
  double fraction = 0;
};

Between Place(double position, int64_t size) {
  position = std::max(position, 0.0);
  const auto low = static_cast<int64_t>(position);
  if (low >= size - 1) return {size - 1, size - 1, 0};
  return {low, low + 1, position - static_cast<double>(low)};
}

Sample SampleAt(const RoiShape& shape, double y, double x) {
  Sample sample;
  const bool outside = y < -1 || x < -1 || y > static_cast<double>(shape.height) ||
                       x > static_cast<double>(shape.width) || std::isnan(y) || std::isnan(x);
  if (outside || shape.height == 0 || shape.width == 0) return sample;
  const Between row = Place(y, shape.height);
  const Between column = Place(x, shape.width);
  sample.at = {row.low * shape.width + column.low, row.low * shape.width + column.high,
               row.high * shape.width + column.low, row.high * shape.width + column.high};
  sample.weight = {(1 - row.fraction) * (1 - column.fraction), (1 - row.fraction) * column.fraction,
                   row.fraction * (1 - column.fraction), row.fraction * column.fraction};
  return sample;
}

// A region along one axis.
struct Extent {
  double start = 0;
  double bin = 0;
  int64_t samples = 0;
};

// Of one bin.
constexpr int64_t kMostSamples = 1 << 20;

Extent ExtentOf(const RoiAlignParams& params, double from, double to, int64_t bins) {
  const double offset = params.half_pixel ? 0.5 : 0;
  Extent extent;
  extent.start = from * params.scale - offset;
  double length = to * params.scale - offset - extent.start;
  if (!params.half_pixel) length = std::max(length, 1.0);
  extent.bin = length / static_cast<double>(bins);
  const double wanted = std::ceil(extent.bin);
  // More are refused anyway, and infinity has to become a number.
  constexpr double kTooMany = 2 * kMostSamples;
  extent.samples = params.samples > 0 ? params.samples
                   : wanted > 0       ? static_cast<int64_t>(std::min(wanted, kTooMany))
                                      : 0;
  return extent;
}

// All samples of one bin.
void CollectSamples(const RoiShape& shape, const Extent& rows, const Extent& columns,
                    int64_t bin_row, int64_t bin_column, std::vector<Sample>& samples) {
  samples.clear();
  const auto position = [](const Extent& extent, int64_t bin, int64_t sample) {
    return extent.start + static_cast<double>(bin) * extent.bin +
           (static_cast<double>(sample) + 0.5) * extent.bin / static_cast<double>(extent.samples);
  };
  for (int64_t i = 0; i < rows.samples; ++i) {
    for (int64_t j = 0; j < columns.samples; ++j) {
      samples.push_back(
          SampleAt(shape, position(rows, bin_row, i), position(columns, bin_column, j)));
    }
  }
}

template <typename T>
double MeanOf(const std::vector<Sample>& samples, const T* image) {
  double sum = 0;
  for (const Sample& sample : samples) {
    for (size_t i = 0; i < 4; ++i) {
      if (sample.weight[i] != 0) sum += sample.weight[i] * image[sample.at[i]];
    }
  }
  return samples.empty() ? 0 : sum / static_cast<double>(samples.size());
}

template <typename T>
double MaximumOf(const std::vector<Sample>& samples, const T* image) {
  double largest = samples.empty() ? 0 : -std::numeric_limits<double>::infinity();
  for (const Sample& sample : samples) {
    for (size_t i = 0; i < 4; ++i) {
      const double value = sample.weight[i] == 0 ? 0 : sample.weight[i] * image[sample.at[i]];
      largest = std::max(largest, value);
    }
  }
  return largest;
}

template <typename T>
Status RoiAlignTyped(const RoiAlignParams& params, const T* x, const T* regions,
                     std::span<const int64_t> batch, T* y) {
  const RoiShape& shape = params.shape;
  const int64_t plane = shape.height * shape.width;
  const int64_t bins = shape.pooled_height * shape.pooled_width;
  std::vector<Sample> samples;
  for (size_t r = 0; r < batch.size(); ++r) {
    const T* region = regions + 4 * r;
    const Extent columns = ExtentOf(params, region[0], region[2], shape.pooled_width);
    const Extent rows = ExtentOf(params, region[1], region[3], shape.pooled_height);
    if (columns.samples > 0 && rows.samples > kMostSamples / columns.samples) {
      return ResourceExhaustedError("region {} has {}x{} samples in a bin, the limit is {}", r,
                                    rows.samples, columns.samples, kMostSamples);
    }
    for (int64_t bin = 0; bin < bins; ++bin) {
      CollectSamples(shape, rows, columns, bin / shape.pooled_width, bin % shape.pooled_width,
                     samples);
      for (int64_t c = 0; c < shape.channels; ++c) {
        const T* image = x + (batch[r] * shape.channels + c) * plane;
        const double value = params.maximum ? MaximumOf(samples, image) : MeanOf(samples, image);
        y[(static_cast<int64_t>(r) * shape.channels + c) * bins + bin] = static_cast<T>(value);
      }
    }
  }
  return OkStatus();
}

// The pixels [first, last) of bin `bin` of `bins` of a region from `from` to `to`.
struct Pixels {
  int64_t first = 0;
  int64_t last = 0;
};
Pixels PixelsOf(double from, double to, double scale, int64_t bin, int64_t bins, int64_t size) {
  const double start = std::round(from * scale);
  const double length = std::max(std::round(to * scale) - start + 1, 1.0);
  const double step = length / static_cast<double>(bins);
  // A NaN, of infinite regions, becomes 0.
  const auto clamp = [&](double value) {
    return value > 0 ? static_cast<int64_t>(std::min(value, static_cast<double>(size))) : 0;
  };
  return {clamp(start + std::floor(static_cast<double>(bin) * step)),
          clamp(start + std::ceil(static_cast<double>(bin + 1) * step))};
}

template <typename T>
T MaximumOf(const T* image, const Pixels& rows, const Pixels& columns, int64_t width) {
  if (rows.first >= rows.last || columns.first >= columns.last) return T{};
  T largest = -std::numeric_limits<T>::infinity();
  for (int64_t row = rows.first; row < rows.last; ++row) {
    for (int64_t column = columns.first; column < columns.last; ++column) {
      largest = std::max(largest, image[row * width + column]);
    }
  }
  return largest;
}

// A box by its corners.
struct Box {
  float top, left, bottom, right;
  float area() const { return (bottom - top) * (right - left); }
};

Box BoxOf(const NmsParams& params, const float* b) {
  if (params.center_box) {
    return {b[1] - b[3] / 2, b[0] - b[2] / 2, b[1] + b[3] / 2, b[0] + b[2] / 2};
  }
  return {std::min(b[0], b[2]), std::min(b[1], b[3]), std::max(b[0], b[2]), std::max(b[1], b[3])};
}

bool Overlap(const Box& a, const Box& b, float threshold) {
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (!(height > 0) || !(width > 0)) return false;
  const float both = height * width;
  return both / (a.area() + b.area() - both) > threshold;
}

}  // namespace

Status RoiAlign(const RoiAlignParams& params, const TensorView& x, const TensorView& regions,
                std::span<const int64_t> batch, const MutableTensorView& y) {
  Status status;
  KHEYA_RETURN_IF_ERROR(CallWithFloatType(x.dtype, [&]<typename T>(const T&) {
    status = RoiAlignTyped(params, static_cast<const T*>(x.data),
                           static_cast<const T*>(regions.data), batch, static_cast<T*>(y.data));
  }));
  return status;
}

Status MaxRoiPool(const RoiShape& shape, double scale, const TensorView& x,
                  const TensorView& regions, const MutableTensorView& y) {
  return CallWithFloatType(x.dtype, [&]<typename T>(const T&) {
    const T* region = static_cast<const T*>(regions.data);
    T* out = static_cast<T*>(y.data);
    for (int64_t r = 0; r < regions.shape[0]; ++r, region += 5) {
      const T* image = static_cast<const T*>(x.data) + static_cast<int64_t>(region[0]) *
                                                           shape.channels * shape.height *
                                                           shape.width;
      for (int64_t c = 0; c < shape.channels; ++c, image += shape.height * shape.width) {
        for (int64_t i = 0; i < shape.pooled_height; ++i) {
          const Pixels rows =
              PixelsOf(region[2], region[4], scale, i, shape.pooled_height, shape.height);
          for (int64_t j = 0; j < shape.pooled_width; ++j) {
            const Pixels columns =
                PixelsOf(region[1], region[3], scale, j, shape.pooled_width, shape.width);
            *out++ = MaximumOf(image, rows, columns, shape.width);
          }
        }
      }
    }
  });
}

std::vector<int64_t> SuppressNonMaximum(const NmsParams& params, std::span<const float> boxes,
                                        std::span<const float> scores) {
  std::vector<int64_t> order;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i])) continue;
    if (params.has_score_threshold && !(scores[i] > params.score_threshold)) continue;
    order.push_back(static_cast<int64_t>(i));
  }
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
  std::vector<int64_t> kept;
  std::vector<Box> kept_boxes;
  for (int64_t candidate : order) {
    if (static_cast<int64_t>(kept.size()) >= params.most) break;
    const Box box = BoxOf(params, boxes.data() + 4 * candidate);
    const bool suppressed = std::ranges::any_of(
        kept_boxes, [&](const Box& other) { return Overlap(box, other, params.iou_threshold); });
    if (suppressed) continue;
    kept.push_back(candidate);
    kept_boxes.push_back(box);
  }
  return kept;
}

}  // namespace kheya::kernels
