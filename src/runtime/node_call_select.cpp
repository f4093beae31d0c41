// Resize and TopK.
#include "ops/axes.h"
#include "ops/resize_attributes.h"
#include "runtime/node_call_builders.h"

namespace kheya {
namespace {

// A constant input with elements; null where there is none.
const Tensor* ConstantInput(const NodeShapes& node, size_t index) {
  if (!node.input(index).present() || node.input(index).shape.num_elements() == 0) return nullptr;
  return node.graph().Constant(node.node().inputs[index]);
}

Status FillAxes(const NodeShapes& node, kernels::ResizeParams& params) {
  const AttributeReader attributes = node.attributes();
  const Shape& in = node.input(0).shape;
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int> axes, ResizedAxes(attributes, in.rank()));
  const Tensor* scales = ConstantInput(node, 2);
  const Tensor* sizes = ConstantInput(node, 3);
  if ((scales == nullptr) == (sizes == nullptr)) {
    return InvalidArgumentError("found scales or sizes that are not constant");
  }
  if (scales != nullptr) {
    if (scales->dtype() != DType::kFloat32) return InvalidArgumentError("found other scales");
    return FillAxesFromScales(scales->data<float>(), axes, in, params);
  }
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> wanted, ToInt64s(*sizes));
  return FillAxesFromSizes(wanted, attributes.String("keep_aspect_ratio_policy", "stretch"), axes,
                           in, params);
}

}  // namespace

std::optional<NodeCall> MakeResizeCall(const NodeShapes& node) {
  Result<kernels::ResizeParams> params = ReadResizeModes(node.attributes());
  if (!params.ok() || !FillAxes(node, *params).ok()) return std::nullopt;
  const Shape& x = node.input(0).shape;
  std::vector<int64_t> dims(x.begin(), x.end());
  for (const kernels::ResizeAxis& axis : params->axes) {
    dims[static_cast<size_t>(axis.axis)] = axis.output;
  }
  const Shape& y = node.output(0).shape;
  if (dims != std::vector<int64_t>(y.begin(), y.end())) return std::nullopt;
  return node.Call(std::move(params).value(), LayoutRule::kFollow, 1);
}

std::optional<NodeCall> MakeTopKCall(const NodeShapes& node) {
  const AttributeReader attributes = node.attributes();
  const Result<int> axis = NormalizeAxis(attributes.Int("axis", -1), node.input(0).shape.rank());
  const Tensor* k = ConstantInput(node, 1);
  if (!axis.ok() || k == nullptr) return std::nullopt;
  const Shape& x = node.input(0).shape;
  const Result<std::vector<int64_t>> count = ToInt64s(*k);
  if (!count.ok() || count->size() != 1 || count->front() > x[*axis]) return std::nullopt;
  std::vector<int64_t> dims(x.begin(), x.end());
  dims[static_cast<size_t>(*axis)] = count->front();
  for (size_t i = 0; i < node.num_outputs(); ++i) {
    const Shape& y = node.output(i).shape;
    const bool fits = dims == std::vector<int64_t>(y.begin(), y.end());
    if (node.output(i).present() && !fits) return std::nullopt;
  }
  return node.Call(TopKParams{*axis, attributes.Int("largest", 1) != 0}, LayoutRule::kPlain, 1);
}

}  // namespace kheya
