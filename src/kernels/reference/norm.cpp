#include "kernels/reference/norm.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/params/gemm.h"
#include "kernels/reference/float_dispatch.h"

namespace kheya::kernels {
namespace {

template <typename T>
double MeanOf(const T* values, int64_t size) {
  double sum = 0;
  for (int64_t i = 0; i < size; ++i) sum += static_cast<double>(values[i]);
  return sum / static_cast<double>(size);
}

// Mean of the squares of values - center.
template <typename T>
double MeanSquare(const T* values, int64_t size, double center) {
  double sum = 0;
  for (int64_t i = 0; i < size; ++i) {
    const double difference = static_cast<double>(values[i]) - center;
    sum += difference * difference;
  }
  return sum / static_cast<double>(size);
}

template <typename T>
void LrnTyped(const LrnParams& params, const TensorView& x, const MutableTensorView& y) {
  const int64_t channels = x.shape[1];
  const int64_t inner = x.shape.Product(2, x.shape.rank());
  const int64_t before = (params.size - 1) / 2, after = params.size - 1 - before;
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    const int64_t channel = i / inner % channels;
    const int64_t first = std::max<int64_t>(0, channel - before);
    const int64_t last = after >= channels - channel ? channels - 1 : channel + after;
    const T* center = x.as<T>().data() + i - channel * inner;
    double sum = 0;
    for (int64_t c = first; c <= last; ++c) {
      sum += static_cast<double>(center[c * inner]) * static_cast<double>(center[c * inner]);
    }
    const double base = params.bias + params.alpha * sum / static_cast<double>(params.size);
    y.as<T>()[i] = static_cast<T>(static_cast<double>(x.as<T>()[i]) /
                                  std::pow(base, static_cast<double>(params.beta)));
  }
}

}  // namespace

Status NormalizeRows(const NormParams& params, const TensorView& x, const MutableTensorView& y,
                     const MutableTensorView& mean, const MutableTensorView& inverse) {
  return CallWithFloatType(y.dtype, [&]<typename T>(T) {
    for (int64_t row = 0; row < params.rows; ++row) {
      const T* in = x.as<T>().data() + row * params.size;
      T* out = y.as<T>().data() + row * params.size;
      const double center = MeanOf(in, params.size);
      const double scale = 1.0 / std::sqrt(MeanSquare(in, params.size, center) + params.epsilon);
      for (int64_t i = 0; i < params.size; ++i) out[i] = static_cast<T>((in[i] - center) * scale);
      if (mean.data != nullptr) mean.as<float>()[row] = static_cast<float>(center);
      if (inverse.data != nullptr) inverse.as<float>()[row] = static_cast<float>(scale);
    }
  });
}

Status RmsNormalizeRows(const NormParams& params, const TensorView& x, const MutableTensorView& y) {
  return CallWithFloatType(y.dtype, [&]<typename T>(T) {
    for (int64_t row = 0; row < params.rows; ++row) {
      const T* in = x.as<T>().data() + row * params.size;
      T* out = y.as<T>().data() + row * params.size;
      const double scale = 1.0 / std::sqrt(MeanSquare(in, params.size, 0.0) + params.epsilon);
      for (int64_t i = 0; i < params.size; ++i) out[i] = static_cast<T>(in[i] * scale);
    }
  });
}

Status ScaleChannels(int64_t outer, std::span<const double> scale, std::span<const double> shift,
                     int64_t inner, const TensorView& x, const MutableTensorView& y) {
  return CallWithFloatType(y.dtype, [&]<typename T>(T) {
    const T* in = x.as<T>().data();
    T* out = y.as<T>().data();
    for (int64_t n = 0; n < outer; ++n) {
      for (size_t c = 0; c < scale.size(); ++c, in += inner, out += inner) {
        for (int64_t i = 0; i < inner; ++i) out[i] = static_cast<T>(in[i] * scale[c] + shift[c]);
      }
    }
  });
}

Status ScaleElements(const TensorView& scale, const TensorView& shift, const TensorView& x,
                     const MutableTensorView& y) {
  return CallWithFloatType(y.dtype, [&]<typename T>(T) {
    const T* in = x.as<T>().data();
    T* out = y.as<T>().data();
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      T value = in[i] * scale.as<T>()[BroadcastIndex(scale.shape, x.shape, i)];
      if (shift.data != nullptr) value += shift.as<T>()[BroadcastIndex(shift.shape, x.shape, i)];
      out[i] = value;
    }
  });
}

Status Lrn(const LrnParams& params, const TensorView& x, const MutableTensorView& y) {
  return CallWithFloatType(y.dtype, [&]<typename T>(T) { LrnTyped<T>(params, x, y); });
}

namespace {

template <typename T>
void DivideByNormTyped(bool absolute, const ReduceRows& rows, const T* x, T* y) {
  for (int64_t outer = 0; outer < rows.outer; ++outer) {
    for (int64_t inner = 0; inner < rows.inner; ++inner) {
      const int64_t first = outer * rows.count * rows.inner + inner;
      double sum = 0;
      for (int64_t i = 0; i < rows.count; ++i) {
        const auto value = static_cast<double>(x[first + i * rows.inner]);
        sum += absolute ? std::abs(value) : value * value;
      }
      const double norm = absolute ? sum : std::sqrt(sum);
      for (int64_t i = 0; i < rows.count; ++i) {
        const int64_t at = first + i * rows.inner;
        y[at] = norm == 0 ? T{} : static_cast<T>(static_cast<double>(x[at]) / norm);
      }
    }
  }
}

// For each element, which mean it belongs to: its index without the axes.
class GroupIndex {
 public:
  GroupIndex(const Shape& shape, std::span<const int> axes) : shape_(shape) {
    strides_.assign(shape.rank(), 0);
    for (int axis = shape.rank(); axis-- > 0;) {
      if (std::find(axes.begin(), axes.end(), axis) != axes.end()) continue;
      strides_[axis] = count_;
      count_ *= shape[axis];
    }
  }
  int64_t count() const { return count_; }
  int64_t Of(int64_t element) const {
    int64_t group = 0;
    for (int axis = shape_.rank(); axis-- > 0;) {
      group += element % shape_[axis] * strides_[axis];
      element /= shape_[axis];
    }
    return group;
  }

 private:
  const Shape& shape_;
  std::vector<int64_t> strides_;
  int64_t count_ = 1;
};

template <typename T>
void NormalizeOverAxesTyped(const GroupIndex& groups, std::span<const T> x, std::span<T> y) {
  if (x.empty()) return;
  std::vector<double> mean(groups.count());
  std::vector<double> variance(groups.count());
  const double size = static_cast<double>(x.size()) / static_cast<double>(groups.count());
  const auto elements = static_cast<int64_t>(x.size());
  for (int64_t i = 0; i < elements; ++i) mean[groups.Of(i)] += static_cast<double>(x[i]) / size;
  for (int64_t i = 0; i < elements; ++i) {
    const int64_t group = groups.Of(i);
    const double difference = static_cast<double>(x[i]) - mean[group];
    variance[group] += difference * difference / size;
  }
  for (int64_t i = 0; i < elements; ++i) {
    const int64_t group = groups.Of(i);
    y[i] = static_cast<T>((static_cast<double>(x[i]) - mean[group]) /
                          (std::sqrt(variance[group]) + 1e-9));
  }
}

}  // namespace

Status DivideByNorm(bool absolute, const ReduceRows& rows, const TensorView& x,
                    const MutableTensorView& y) {
  return CallWithFloatType(x.dtype, [&]<typename T>(const T&) {
    DivideByNormTyped(absolute, rows, static_cast<const T*>(x.data), static_cast<T*>(y.data));
  });
}

Status NormalizeOverAxes(std::span<const int> axes, const TensorView& x,
                         const MutableTensorView& y) {
  const GroupIndex groups(x.shape, axes);
  return CallWithFloatType(x.dtype, [&]<typename T>(const T&) {
    NormalizeOverAxesTyped<T>(groups, x.as<T>(), y.as<T>());
  });
}

}  // namespace kheya::kernels
