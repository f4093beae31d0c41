// Resize's attributes and sizes.
#ifndef KHEYA_OPS_RESIZE_ATTRIBUTES_H_
#define KHEYA_OPS_RESIZE_ATTRIBUTES_H_

#include <span>
#include <vector>

#include "base/status.h"
#include "kernels/params/resize.h"
#include "ops/contexts.h"
#include "tensor/shape.h"

namespace kheya {

// The modes. InvalidArgument for words that ONNX does not know.
Result<kernels::ResizeParams> ReadResizeModes(const AttributeReader& attributes);

// The axes that scales, sizes and roi talk about, in their order.
Result<std::vector<int>> ResizedAxes(const AttributeReader& attributes, int rank);

// Fills params.axes from scales or, when those are empty, from sizes; both for the axes `axes`.
// InvalidArgument for lists of another length, scales that are not positive, and sizes that are
// negative or too large.
Status FillAxesFromScales(std::span<const float> scales, std::span<const int> axes, const Shape& in,
                          kernels::ResizeParams& params);
// `policy` is keep_aspect_ratio_policy.
Status FillAxesFromSizes(std::span<const int64_t> sizes, std::string_view policy,
                         std::span<const int> axes, const Shape& in, kernels::ResizeParams& params);

}  // namespace kheya

#endif  // KHEYA_OPS_RESIZE_ATTRIBUTES_H_
