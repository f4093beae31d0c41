// What Conv and ConvTranspose share.
#ifndef KHEYA_OPS_CONV_ATTRIBUTES_H_
#define KHEYA_OPS_CONV_ATTRIBUTES_H_

#include <optional>

#include "base/status.h"
#include "graph/graph.h"
#include "kernels/params/conv.h"
#include "ops/contexts.h"
#include "ops/window_attributes.h"
#include "tensor/tensor.h"

namespace kheya {

// The window for weights [M, C, kernel...] of rank 3 or more; nullopt when neither kernel_shape
// nor the weights tell the kernel. InvalidArgument when they contradict each other.
Result<std::optional<WindowAttributes>> ReadConvWindow(const AttributeReader& attributes,
                                                       const SymbolicShape& w);

// The shape of a convolution of input `x_index` with weights `w_index`; nullopt when no rank is
// known. InvalidArgument for ranks, channels and groups that do not fit.
Result<std::optional<SymbolicShape>> InferConvShape(const InferContext& context, int x_index,
                                                    int w_index);

// Conv's parameters with auto_pad resolved for this input.
Result<kernels::ConvParams> ReadConv(const AttributeReader& attributes, const Shape& x,
                                     const Shape& w);

// ConvTranspose's: output_shape and auto_pad have become padding and output padding.
Result<kernels::ConvParams> ReadConvTranspose(const AttributeReader& attributes, const Shape& x,
                                              const Shape& w);

// InvalidArgument unless `bias` is undefined or one value for each channel of y [N, M, ...].
Status CheckConvBias(const Tensor& bias, const Shape& y);

// Multiply-accumulates: the elements of `positions` (Conv's output, ConvTranspose's input) times
// those of one filter; nullopt when shapes are not known.
std::optional<int64_t> ConvMacsOf(const Graph& graph, const Node& node, ValueId positions);

}  // namespace kheya

#endif  // KHEYA_OPS_CONV_ATTRIBUTES_H_
