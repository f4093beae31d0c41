// Convolutions, pools and what else knows channels.
#include "ops/conv_attributes.h"
#include "ops/pool_attributes.h"
#include "runtime/node_call_builders.h"

namespace kheya {

std::optional<NodeCall> MakeConvCall(const NodeShapes& node) {
  const AttributeReader attributes = node.attributes();
  Result<kernels::ConvParams> conv = ReadConv(attributes, node.input(0).shape, node.input(1).shape);
  const std::optional<Elementwise> activation = ReadFusedActivation(attributes);
  if (!conv.ok() || !activation) return std::nullopt;
  const Result<Shape> shape = ConvOutputShape(*conv, node.input(0).shape, node.input(1).shape);
  if (!shape.ok() || !(*shape == node.output(0).shape)) return std::nullopt;
  if (node.input(2).present() && node.input(2).shape.num_elements() != (*shape)[1]) {
    return std::nullopt;
  }
  if (node.input(3).present() && !(node.input(3).shape == *shape)) return std::nullopt;
  NodeCall call = node.Call(FusedConvParams{*conv, *activation}, LayoutRule::kChannelsLast, 4);
  call.follows[3] = true;
  return call;
}

std::optional<NodeCall> MakeConvTransposeCall(const NodeShapes& node) {
  Result<kernels::ConvParams> conv =
      ReadConvTranspose(node.attributes(), node.input(0).shape, node.input(1).shape);
  if (!conv.ok()) return std::nullopt;
  const Result<Shape> shape =
      ConvTransposeOutputShape(*conv, node.input(0).shape, node.input(1).shape);
  if (!shape.ok() || !(*shape == node.output(0).shape)) return std::nullopt;
  if (node.input(2).present() && node.input(2).shape.num_elements() != (*shape)[1]) {
    return std::nullopt;
  }
  return node.Call(ConvTransposeParams{*conv}, LayoutRule::kChannelsLast);
}

std::optional<NodeCall> MakePoolCall(const NodeShapes& node) {
  if (node.num_outputs() > 1) return std::nullopt;  // MaxPool with indices
  const auto kind =
      node.node().op == "MaxPool" ? kernels::PoolKind::kMax : kernels::PoolKind::kAverage;
  Result<kernels::PoolParams> pool = ReadPool(node.attributes(), kind, node.input(0).shape);
  if (!pool.ok()) return std::nullopt;
  const Result<Shape> shape = PoolOutputShape(*pool, node.input(0).shape);
  if (!shape.ok() || !(*shape == node.output(0).shape)) return std::nullopt;
  return node.Call(*pool, LayoutRule::kChannelsLast);
}

std::optional<NodeCall> MakeLrnCall(const NodeShapes& node) {
  const AttributeReader attributes = node.attributes();
  const kernels::LrnParams params{attributes.Int("size", 1), attributes.Float("alpha", 1e-4f),
                                  attributes.Float("beta", 0.75f), attributes.Float("bias", 1.0f)};
  if (node.input(0).shape.rank() < 3) return std::nullopt;
  return node.Call(params, LayoutRule::kChannelsLast);
}

std::optional<NodeCall> MakeAffineCall(const NodeShapes& node) {
  const std::optional<Elementwise> activation = ReadFusedActivation(node.attributes());
  const Shape& shape = node.input(0).shape;
  if (!activation || shape.rank() < 2) return std::nullopt;
  for (size_t i : {1, 2}) {
    if (!node.input(i).present() || node.input(i).shape.num_elements() != shape[1]) {
      return std::nullopt;
    }
  }
  return node.Call(AffineParams{*activation}, LayoutRule::kFollow);
}

std::optional<NodeCall> MakeGlobalMeanCall(const NodeShapes& node) {
  return node.Call(GlobalMeanParams{}, LayoutRule::kFollow);
}

}  // namespace kheya
