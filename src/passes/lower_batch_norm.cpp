#include "passes/lower_batch_norm.h"

#include "passes/activation.h"
#include "passes/batch_norm.h"
#include "passes/match.h"

namespace kheya {
namespace {

Status Visit(Graph& graph, NodeId id, PassContext& context) {
  const Node& norm = graph.node(id);
  if (!IsOp(norm, "BatchNormalization")) return OkStatus();
  std::string reason;
  const std::optional<ScaleShift> affine = ReadBatchNorm(graph, norm, &reason);
  const SymbolicShape* shape = ShapeOf(graph, norm.inputs[0]);
  if (!affine || DTypeOfValue(graph, norm.inputs[0]) != DType::kFloat32 || shape == nullptr ||
      shape->size() < 2) {
    context.Note(norm, "{}", affine ? "its input is not known to be float32 of rank 2" : reason);
    return OkStatus();
  }
  ValueId last = norm.outputs[0];
  Activation activation;
  if (auto behind = ActivationBehind(graph, last, &reason)) {
    last = behind->output;
    activation = *std::move(behind);
  } else if (!reason.empty()) {
    context.Note(norm, "{}", reason);
  }
  const std::string& name = graph.value(last).name;
  const auto channels = static_cast<int64_t>(affine->scale.size());
  KHEYA_ASSIGN_OR_RETURN(Tensor scale, MakeFloats(Shape{channels}, affine->scale));
  KHEYA_ASSIGN_OR_RETURN(Tensor shift, MakeFloats(Shape{channels}, affine->shift));
  Patch patch(graph);
  NodeSpec spec{.op = "FusedBatchNorm",
                .domain = kInternalDomain,
                .name = norm.name,
                .inputs = {norm.inputs[0], patch.AddConstant(name + "_scale", std::move(scale)),
                           patch.AddConstant(name + "_shift", std::move(shift))},
                .attributes = ActivationAttributes(activation)};
  return context.Replace(graph, patch, last, std::move(spec));
}

}  // namespace

Status LowerBatchNorm(Graph& graph, PassContext& context) {
  return VisitNodesInOrder(graph, context, Visit);
}

}  // namespace kheya
