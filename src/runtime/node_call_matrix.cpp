// Matrix products, and functions over rows of plain memory.
#include "ops/fused_attention.h"
#include "runtime/node_call_builders.h"

namespace kheya {
namespace {

// An axis of [-rank, rank) as one of [0, rank).
std::optional<int> AxisOf(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) return std::nullopt;
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace

std::optional<NodeCall> MakeMatMulCall(const NodeShapes& node) {
  const AttributeReader attributes = node.attributes();
  const std::optional<Elementwise> activation = ReadFusedActivation(attributes);
  if (!activation || node.input(0).shape.rank() < 2 || node.input(1).shape.rank() < 2) {
    return std::nullopt;
  }
  FusedMatMulParams params;
  params.gemm = {attributes.Int("transA", 0) != 0, attributes.Int("transB", 0) != 0,
                 attributes.Float("alpha", 1.0f), attributes.Float("beta", 1.0f)};
  params.activation = *activation;
  if (node.input(3).present() && !(node.input(3).shape == node.output(0).shape)) {
    return std::nullopt;
  }
  return node.Call(params, LayoutRule::kPlain, 4);
}

std::optional<NodeCall> MakeAttentionCall(const NodeShapes& node) {
  const Shape* mask = node.input(3).present() ? &node.input(3).shape : nullptr;
  const Result<FusedAttention> read = ReadFusedAttention(
      node.attributes(), node.input(0).shape, node.input(1).shape, node.input(2).shape, mask);
  if (!read.ok() || !(read->output == node.output(0).shape)) return std::nullopt;
  return node.Call(read->params, LayoutRule::kPlain, 4);
}

std::optional<NodeCall> MakeSoftmaxCall(const NodeShapes& node) {
  const std::optional<int> axis =
      AxisOf(node.attributes().Int("axis", -1), node.input(0).shape.rank());
  if (!axis) return std::nullopt;
  return node.Call(SoftmaxParams{*axis, node.node().op == "LogSoftmax"}, LayoutRule::kPlain);
}

std::optional<NodeCall> MakeLayerNormCall(const NodeShapes& node) {
  const AttributeReader attributes = node.attributes();
  const Shape& shape = node.input(0).shape;
  const std::optional<int> axis = AxisOf(attributes.Int("axis", -1), shape.rank());
  if (!axis || node.num_outputs() > 1) return std::nullopt;
  const int64_t size = shape.Product(*axis, shape.rank());
  for (size_t i : {1, 2}) {
    if (node.input(i).present() && node.input(i).shape.num_elements() != size) return std::nullopt;
  }
  return node.Call(LayerNormParams{*axis, attributes.Float("epsilon", 1e-5f)}, LayoutRule::kPlain,
                   3);
}

std::optional<NodeCall> MakeReduceMeanCall(const NodeShapes& node) {
  const int rank = node.input(0).shape.rank();
  if (!node.input(1).present()) return std::nullopt;
  const Tensor* constant = node.graph().Constant(node.node().inputs[1]);
  if (constant == nullptr) return std::nullopt;
  const Result<std::vector<int64_t>> axes = ToInt64s(*constant);
  if (!axes.ok() || axes->empty()) return std::nullopt;
  // The reduced axes must be the last ones.
  std::vector<bool> reduced(rank, false);
  for (int64_t each : *axes) {
    const std::optional<int> axis = AxisOf(each, rank);
    if (!axis) return std::nullopt;
    reduced[*axis] = true;
  }
  int first = rank;
  while (first > 0 && reduced[first - 1]) --first;
  for (int i = 0; i < first; ++i) {
    if (reduced[i]) return std::nullopt;
  }
  const bool keeps = node.output(0).shape.rank() == rank;
  if (first == 2 && rank > 2 && keeps) return node.Call(GlobalMeanParams{}, LayoutRule::kFollow, 1);
  return node.Call(ReduceMeanParams{first}, LayoutRule::kPlain, 1);
}

std::optional<NodeCall> MakeTransposeCall(const NodeShapes& node) {
  const int rank = node.input(0).shape.rank();
  const std::vector<int64_t> perm = node.attributes().Ints("perm");
  TransposeParams params;
  if (!perm.empty() && perm.size() != static_cast<size_t>(rank)) return std::nullopt;
  for (int i = 0; i < rank; ++i) {
    const std::optional<int> axis = perm.empty() ? rank - 1 - i : AxisOf(perm[i], rank);
    if (!axis) return std::nullopt;
    params.perm.push_back(*axis);
  }
  return node.Call(std::move(params), LayoutRule::kPlain);
}

std::optional<NodeCall> MakeConcatCall(const NodeShapes& node) {
  const std::optional<int> axis =
      AxisOf(node.attributes().Int("axis", 0), node.output(0).shape.rank());
  if (!axis) return std::nullopt;
  NodeCall call = node.Call(ConcatParams{*axis}, LayoutRule::kFollow);
  call.follows.assign(call.follows.size(), true);
  return call;
}

std::optional<NodeCall> MakeSplitCall(const NodeShapes& node) {
  const std::optional<int> axis =
      AxisOf(node.attributes().Int("axis", 0), node.input(0).shape.rank());
  if (!axis) return std::nullopt;
  for (size_t i = 0; i < node.num_outputs(); ++i) {
    if (!node.output(i).present()) return std::nullopt;
  }
  return node.Call(SplitParams{*axis}, LayoutRule::kFollow, 1);
}

std::optional<NodeCall> MakeGatherCall(const NodeShapes& node) {
  const std::optional<int> axis =
      AxisOf(node.attributes().Int("axis", 0), node.input(0).shape.rank());
  if (!axis) return std::nullopt;
  NodeCall call = node.Call(GatherParams{*axis}, LayoutRule::kPlain, 2);
  return call;
}

}  // namespace kheya
