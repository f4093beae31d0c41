#include "kernels/reference/conv.h"

#include <algorithm>

#include "kernels/reference/float_dispatch.h"

namespace kheya::kernels {
namespace {

int64_t SizeOf(const Spatial& spatial) { return spatial[0] * spatial[1] * spatial[2]; }

// Sizes that the loops need. `outer` is x for Conv and y for ConvTranspose, the side that the
// window slides over; `inner` is the side with one element for each position of the window.
struct Geometry {
  Window window;
  Spatial outer = {1, 1, 1};
  Spatial inner = {1, 1, 1};

  // Calls row(kernel element, outer row start, inner row start) for each kernel element and each
  // depth and height at which it meets the outer side.
  template <typename Row>
  void ForEachRow(Row&& row) const {
    for (int64_t kd = 0; kd < window.kernel[0]; ++kd) {
      const MeetingRange depth = PositionsMeeting(window, 0, kd, outer[0], inner[0]);
      for (int64_t kh = 0; kh < window.kernel[1]; ++kh) {
        const MeetingRange height = PositionsMeeting(window, 1, kh, outer[1], inner[1]);
        const int64_t kernel_row = (kd * window.kernel[1] + kh) * window.kernel[2];
        for (int64_t d = depth.first; d < depth.last; ++d) {
          const int64_t outer_d = d * window.stride[0] + depth.offset;
          for (int64_t h = height.first; h < height.last; ++h) {
            const int64_t outer_h = h * window.stride[1] + height.offset;
            row(kernel_row, (outer_d * outer[1] + outer_h) * outer[2],
                (d * inner[1] + h) * inner[2]);
          }
        }
      }
    }
  }
};

Geometry GeometryOf(const Window& window, const Spatial& outer, const Spatial& inner) {
  Geometry geometry = {window, outer, inner};
  if (window.is_pointwise() && outer == inner) {  // one long row instead of many short ones
    geometry.outer = geometry.inner = {1, 1, SizeOf(outer)};
  }
  return geometry;
}

// One row of kernel elements against one row of each side, for one pair of channels.
template <typename T>
void AccumulateForward(const Geometry& g, const T* w, const T* x, T* y) {
  const int64_t stride = g.window.stride[2];
  for (int64_t kw = 0; kw < g.window.kernel[2]; ++kw) {
    const MeetingRange width = PositionsMeeting(g.window, 2, kw, g.outer[2], g.inner[2]);
    const T weight = w[kw];
    const T* from = x + width.offset;
    if (stride == 1) {
      for (int64_t i = width.first; i < width.last; ++i) y[i] += weight * from[i];
    } else {
      for (int64_t i = width.first; i < width.last; ++i) y[i] += weight * from[i * stride];
    }
  }
}

template <typename T>
void AccumulateTransposed(const Geometry& g, const T* w, const T* x, T* y) {
  const int64_t stride = g.window.stride[2];
  for (int64_t kw = 0; kw < g.window.kernel[2]; ++kw) {
    const MeetingRange width = PositionsMeeting(g.window, 2, kw, g.outer[2], g.inner[2]);
    const T weight = w[kw];
    T* to = y + width.offset;
    for (int64_t i = width.first; i < width.last; ++i) to[i * stride] += weight * x[i];
  }
}

template <typename T>
void FillWithBias(const T* bias, int64_t channels, int64_t plane, T* y) {
  for (int64_t c = 0; c < channels; ++c) {
    std::fill_n(y + c * plane, plane, bias == nullptr ? T{0} : bias[c]);
  }
}

template <typename T>
void ConvTyped(const ConvParams& params, const TensorView& x, const TensorView& w, const T* bias,
               const MutableTensorView& y) {
  const Geometry g = GeometryOf(params.window, SpatialOf(x.shape, 2), SpatialOf(y.shape, 2));
  const int64_t x_plane = SizeOf(g.outer), y_plane = SizeOf(g.inner);
  const int64_t kernel = SizeOf(params.window.kernel);
  const int64_t in_channels = w.shape[1], out_channels = w.shape[0];
  const int64_t per_group = out_channels / params.groups;
  for (int64_t n = 0; n < x.shape[0]; ++n) {
    T* y_image = y.as<T>().data() + n * out_channels * y_plane;
    FillWithBias(bias, out_channels, y_plane, y_image);
    for (int64_t m = 0; m < out_channels; ++m) {
      const int64_t first_channel = n * x.shape[1] + m / per_group * in_channels;
      for (int64_t c = 0; c < in_channels; ++c) {
        const T* x_channel = x.as<T>().data() + (first_channel + c) * x_plane;
        const T* weights = w.as<T>().data() + (m * in_channels + c) * kernel;
        g.ForEachRow([&](int64_t k, int64_t outer, int64_t inner) {
          AccumulateForward(g, weights + k, x_channel + outer, y_image + m * y_plane + inner);
        });
      }
    }
  }
}

template <typename T>
void ConvTransposeTyped(const ConvParams& params, const TensorView& x, const TensorView& w,
                        const T* bias, const MutableTensorView& y) {
  const Geometry g = GeometryOf(params.window, SpatialOf(y.shape, 2), SpatialOf(x.shape, 2));
  const int64_t y_plane = SizeOf(g.outer), x_plane = SizeOf(g.inner);
  const int64_t kernel = SizeOf(params.window.kernel);
  const int64_t in_channels = x.shape[1], per_group = w.shape[1];
  const int64_t in_per_group = in_channels / params.groups;
  const int64_t out_channels = y.shape[1];
  for (int64_t n = 0; n < x.shape[0]; ++n) {
    T* y_image = y.as<T>().data() + n * out_channels * y_plane;
    FillWithBias(bias, out_channels, y_plane, y_image);
    for (int64_t c = 0; c < in_channels; ++c) {
      const T* x_channel = x.as<T>().data() + (n * in_channels + c) * x_plane;
      for (int64_t m = 0; m < per_group; ++m) {
        T* y_channel = y_image + (c / in_per_group * per_group + m) * y_plane;
        const T* weights = w.as<T>().data() + (c * per_group + m) * kernel;
        g.ForEachRow([&](int64_t k, int64_t outer, int64_t inner) {
          AccumulateTransposed(g, weights + k, x_channel + inner, y_channel + outer);
        });
      }
    }
  }
}

}  // namespace

Status Conv(const ConvParams& params, const TensorView& x, const TensorView& w,
            const TensorView& bias, const MutableTensorView& y) {
  return CallWithFloatType(y.dtype, [&]<typename T>(T) {
    ConvTyped(params, x, w, static_cast<const T*>(bias.data), y);
  });
}

Status ConvTranspose(const ConvParams& params, const TensorView& x, const TensorView& w,
                     const TensorView& bias, const MutableTensorView& y) {
  return CallWithFloatType(y.dtype, [&]<typename T>(T) {
    ConvTransposeTyped(params, x, w, static_cast<const T*>(bias.data), y);
  });
}

}  // namespace kheya::kernels
