#include "ops/channel_input.h"

#include "ops/wide.h"

namespace kheya {

Result<std::vector<double>> ChannelInput(EvalContext& context, int index, int64_t channels) {
  KHEYA_ASSIGN_OR_RETURN(Tensor tensor, WideInput(context, index));
  if (tensor.shape().rank() != 1 || tensor.shape()[0] != channels) {
    return InvalidArgumentError("found input {} of shape {}, expected [{}]", index,
                                tensor.shape().ToString(), channels);
  }
  if (tensor.dtype() == DType::kFloat64) {
    return std::vector<double>(tensor.data<double>().begin(), tensor.data<double>().end());
  }
  return std::vector<double>(tensor.data<float>().begin(), tensor.data<float>().end());
}

Result<Tensor> BroadcastInput(EvalContext& context, int index, const Shape& shape) {
  KHEYA_ASSIGN_OR_RETURN(Tensor tensor, WideInput(context, index));
  if (!tensor.defined()) return tensor;
  const Result<Shape> both = BroadcastShapes(tensor.shape(), shape);
  if (both.ok() && *both == shape) return tensor;
  return InvalidArgumentError("found input {} of shape {}, expected one that broadcasts to {}",
                              index, tensor.shape().ToString(), shape.ToString());
}

}  // namespace kheya
