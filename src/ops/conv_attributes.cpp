#include "ops/conv_attributes.h"

#include <algorithm>
#include <vector>

#include "base/checked_math.h"
#include "ops/axes.h"

namespace kheya {
namespace {

using kernels::ConvParams;
using kernels::kSpatialAxes;
using kernels::Spatial;
using kernels::Window;

Status CheckRanks(const Shape& x, const Shape& w) {
  if (x.rank() == w.rank() && x.rank() >= 3) return OkStatus();
  return InvalidArgumentError("found input {} and weights {}, expected equal ranks from 3 on",
                              x.ToString(), w.ToString());
}

// A list attribute in the last axes of a Spatial of `fill`s.
Result<Spatial> ReadAxes(const AttributeReader& attributes, const char* name, int rank,
                         int64_t fill) {
  Spatial values = {fill, fill, fill};
  std::vector<int64_t> list = attributes.Ints(name);
  if (list.empty()) return values;
  // Some exporters write output_shape with batch and channels in front.
  if (static_cast<int>(list.size()) == rank + 2) list.erase(list.begin(), list.begin() + 2);
  if (static_cast<int>(list.size()) != rank) {
    return InvalidArgumentError("found {} values of {}, expected {}", list.size(), name, rank);
  }
  std::copy(list.begin(), list.end(), values.end() - rank);
  return values;
}

// Splits what the full output has more than `wanted` into padding at both ends; what it has less
// becomes output padding.
Status PadToSize(AutoPad auto_pad, int axis, int64_t input, int64_t wanted, ConvParams& params) {
  Window& window = params.window;
  int64_t full = 0;
  const int64_t rest = DilatedKernel(window, axis) + params.output_padding[axis];
  constexpr int64_t kLargest = int64_t{1} << 40;  // so that sums with padding fit
  if (wanted < 0 || wanted > kLargest || !CheckedMul(window.stride[axis], input - 1, &full) ||
      !CheckedAdd(full, rest, &full)) {
    return InvalidArgumentError("found output size {} for an input of {}, which do not fit", wanted,
                                input);
  }
  const int64_t total = full - wanted;
  if (total < 0) params.output_padding[axis] -= total;
  const int64_t less = std::max<int64_t>(total, 0) / 2;
  const int64_t more = std::max<int64_t>(total, 0) - less;
  const bool upper = auto_pad == AutoPad::kSameUpper;
  window.pad_begin[axis] = upper ? less : more;
  window.pad_end[axis] = upper ? more : less;
  return OkStatus();
}

std::vector<int64_t> KernelOf(const AttributeReader& attributes, const Shape& w) {
  std::vector<int64_t> kernel = attributes.Ints("kernel_shape");
  if (kernel.empty()) kernel.assign(w.begin() + 2, w.end());
  return kernel;
}

}  // namespace

Result<std::optional<WindowAttributes>> ReadConvWindow(const AttributeReader& attributes,
                                                       const SymbolicShape& w) {
  const int rank = static_cast<int>(w.size()) - 2;
  std::vector<int64_t> kernel = attributes.Ints("kernel_shape");
  const bool given = !kernel.empty();
  if (given && static_cast<int>(kernel.size()) != rank) {
    return InvalidArgumentError("found {} values of kernel_shape, expected {}", kernel.size(),
                                rank);
  }
  for (int i = 0; i < rank; ++i) {
    if (!w[2 + i].known()) {
      if (!given) return std::optional<WindowAttributes>();
      continue;
    }
    if (!given) kernel.push_back(w[2 + i].value());
    if (kernel[i] != w[2 + i].value()) {
      return InvalidArgumentError("found weights {}, kernel_shape expects {} on axis {}",
                                  ToString(w), kernel[i], 2 + i);
    }
  }
  KHEYA_ASSIGN_OR_RETURN(WindowAttributes window, ReadWindow(attributes, rank, kernel));
  return std::optional(window);
}

Result<ConvParams> ReadConv(const AttributeReader& attributes, const Shape& x, const Shape& w) {
  KHEYA_RETURN_IF_ERROR(CheckRanks(x, w));
  KHEYA_ASSIGN_OR_RETURN(WindowAttributes window,
                         ReadWindow(attributes, x.rank() - 2, KernelOf(attributes, w)));
  ConvParams params;
  params.groups = attributes.Int("group", 1);
  KHEYA_ASSIGN_OR_RETURN(params.window, ResolveWindow(window, kernels::SpatialOf(x, 2)));
  return params;
}

Result<ConvParams> ReadConvTranspose(const AttributeReader& attributes, const Shape& x,
                                     const Shape& w) {
  KHEYA_RETURN_IF_ERROR(CheckRanks(x, w));
  const int rank = x.rank() - 2;
  KHEYA_ASSIGN_OR_RETURN(WindowAttributes window,
                         ReadWindow(attributes, rank, KernelOf(attributes, w)));
  ConvParams params;
  params.groups = attributes.Int("group", 1);
  params.window = window.window;
  KHEYA_ASSIGN_OR_RETURN(params.output_padding, ReadAxes(attributes, "output_padding", rank, 0));
  KHEYA_ASSIGN_OR_RETURN(Spatial wanted, ReadAxes(attributes, "output_shape", rank, 1));
  const bool sized = !attributes.Ints("output_shape").empty();
  const bool same =
      window.auto_pad == AutoPad::kSameUpper || window.auto_pad == AutoPad::kSameLower;
  const Spatial input = kernels::SpatialOf(x, 2);
  for (int axis = 0; axis < kSpatialAxes; ++axis) {
    if (params.output_padding[axis] < 0 ||
        params.output_padding[axis] >=
            std::max(params.window.stride[axis], params.window.dilation[axis])) {
      return InvalidArgumentError(
          "found an output_padding of {}, expected 0 to less than the stride or dilation",
          params.output_padding[axis]);
    }
    if (!sized && !same) continue;
    int64_t size = wanted[axis];
    if (!sized && !CheckedMul(input[axis], params.window.stride[axis], &size)) size = -1;
    KHEYA_RETURN_IF_ERROR(PadToSize(window.auto_pad, axis, input[axis], size, params));
  }
  return params;
}

Status CheckConvBias(const Tensor& bias, const Shape& y) {
  if (!bias.defined() || (bias.shape().rank() == 1 && bias.shape()[0] == y[1])) return OkStatus();
  return InvalidArgumentError("found a bias of shape {}, expected [{}]", bias.shape().ToString(),
                              y[1]);
}

std::optional<int64_t> ConvMacsOf(const Graph& graph, const Node& node, ValueId positions) {
  const std::optional<Shape> w = graph.value(node.inputs[1]).type.KnownShape();
  if (!w || !positions.valid() || w->rank() < 3) return std::nullopt;
  const std::optional<Shape> at = graph.value(positions).type.KnownShape();
  if (!at) return std::nullopt;
  const Result<int64_t> macs = kernels::ConvMacs(*w, *at);
  return macs.ok() ? std::optional(*macs) : std::nullopt;
}

Result<std::optional<SymbolicShape>> InferConvShape(const InferContext& context, int x_index,
                                                    int w_index) {
  const SymbolicShape* x = context.input_shape(x_index);
  const SymbolicShape* w = context.input_shape(w_index);
  if (x == nullptr || w == nullptr) {
    const SymbolicShape* any = x != nullptr ? x : w;
    if (any == nullptr) return std::optional<SymbolicShape>();
    return std::optional(UnknownDims(static_cast<int>(any->size())));
  }
  if (x->size() != w->size() || x->size() < 3) {
    return InvalidArgumentError("found input {} and weights {}, expected equal ranks from 3 on",
                                ToString(*x), ToString(*w));
  }
  const int64_t groups = context.attributes().Int("group", 1);
  if (groups < 1) return InvalidArgumentError("found {} groups, expected at least 1", groups);
  const Dim channels = (*w)[1] * groups;
  if (channels.known() && (*x)[1].known() && channels.value() != (*x)[1].value()) {
    return InvalidArgumentError("found {} channels of input {}, weights {} expect {}",
                                (*x)[1].value(), ToString(*x), ToString(*w), channels.value());
  }
  KHEYA_ASSIGN_OR_RETURN(std::optional<WindowAttributes> window,
                         ReadConvWindow(context.attributes(), *w));
  if (!window) {
    SymbolicShape shape = UnknownDims(static_cast<int>(x->size()));
    shape[0] = (*x)[0];
    shape[1] = (*w)[0];
    return std::optional(std::move(shape));
  }
  KHEYA_ASSIGN_OR_RETURN(SymbolicShape shape,
                         SymbolicWindowShape(*window, *x, (*w)[0], /*ceil=*/false));
  return std::optional(std::move(shape));
}

}  // namespace kheya
