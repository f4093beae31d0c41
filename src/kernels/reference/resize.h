// Resize axis by axis: interpolation is separable.
#ifndef KHEYA_KERNELS_REFERENCE_RESIZE_H_
#define KHEYA_KERNELS_REFERENCE_RESIZE_H_

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "kernels/params/resize.h"
#include "tensor/tensor.h"

namespace kheya::kernels {

// For each output position of `axis` the nearest input index; -1 where the extrapolation value
// belongs.
std::vector<int64_t> NearestIndices(const ResizeParams& params, const ResizeAxis& axis);

// What one output position is made of: its value is the sum of weights[i] x[indices[i]].
struct ResizeTaps {
  std::vector<int64_t> indices;  // inside of the axis; those outside stand for its edges
  std::vector<double> weights;
};

// The taps of linear or cubic interpolation at output position `at`, as many at every position;
// none where the extrapolation value belongs.
ResizeTaps TapsAt(const ResizeParams& params, const ResizeAxis& axis, int64_t at);

// True when interpolation along the axis changes nothing.
bool IsIdentity(const ResizeParams& params, const ResizeAxis& axis);

// Linear or cubic interpolation along one axis, on float32 or float64, sums in double. `out` has
// the shape of `in` but for the size of that axis; the input axis is not empty.
Status InterpolateAxis(const ResizeParams& params, const ResizeAxis& axis, const TensorView& in,
                       const MutableTensorView& out);

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_RESIZE_H_
