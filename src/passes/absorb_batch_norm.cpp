#include "passes/absorb_batch_norm.h"

#include <cmath>

#include "ops/contexts.h"
#include "passes/batch_norm.h"
#include "passes/channel_weights.h"
#include "passes/match.h"

namespace kheya {
namespace {

// The node behind the BatchNormalization's input that can take it in, or why there is none.
struct Target {
  NodeId node;
  std::string reason;
};

Target FindTarget(const Graph& graph, const Node& norm) {
  const ValueId x = norm.inputs[0];
  for (const char* op : {"Conv", "ConvTranspose", "Gemm"}) {
    const NodeId id = ProducerOf(graph, x, op);
    if (!id.valid()) continue;
    if (!SoleUse(graph, x)) return {NodeId(), WhyNotSole(graph, x)};
    const Node& node = graph.node(id);
    if (graph.Constant(node.inputs[1]) == nullptr) {
      return {NodeId(), fmt::format("the weights of {} are not constant", node.Describe())};
    }
    if (DTypeOfValue(graph, node.inputs[1]) != DType::kFloat32) {
      return {NodeId(), fmt::format("the weights of {} are not float32", node.Describe())};
    }
    return {id, ""};
  }
  return {NodeId(), "no Conv, ConvTranspose or Gemm makes its input"};
}

Status Visit(Graph& graph, NodeId id, PassContext& context) {
  const Node& norm = graph.node(id);
  if (!IsOp(norm, "BatchNormalization")) return OkStatus();
  const Target target = FindTarget(graph, norm);
  if (!target.node.valid()) {
    context.Note(norm, "{}", target.reason);
    return OkStatus();
  }
  const Node& node = graph.node(target.node);
  std::string reason;
  const std::optional<ScaleShift> affine = ReadBatchNorm(graph, norm, &reason);
  const std::optional<int64_t> channels = OutputChannels(graph, node);
  if (!affine || channels != static_cast<int64_t>(affine->scale.size())) {
    context.Note(norm, "{}", affine ? "its channels are not those of the weights" : reason);
    return OkStatus();
  }
  std::optional<std::vector<double>> bias = BiasOf(graph, node, *channels);
  if (!bias) {
    context.Note(norm, "the bias of {} is not one constant a channel", node.Describe());
    return OkStatus();
  }
  for (size_t i = 0; i < bias->size(); ++i) {
    (*bias)[i] = (*bias)[i] * affine->scale[i] + affine->shift[i];
  }
  const std::string& name = graph.value(norm.outputs[0]).name;
  KHEYA_ASSIGN_OR_RETURN(Tensor weights, ScaleWeights(graph, node, affine->scale));
  KHEYA_ASSIGN_OR_RETURN(Tensor shift, MakeFloats(Shape{*channels}, *bias));
  Patch patch(graph);
  NodeSpec spec = SpecOf(node);
  spec.inputs.resize(3);
  spec.inputs[1] = patch.AddConstant(name + "_weights", std::move(weights));
  spec.inputs[2] = patch.AddConstant(name + "_bias", std::move(shift));
  std::erase_if(spec.attributes, [](const Attribute& each) { return each.name == "beta"; });
  return context.Replace(graph, patch, norm.outputs[0], std::move(spec));
}

}  // namespace

Status AbsorbBatchNorm(Graph& graph, PassContext& context) {
  return VisitNodes(graph, context, Visit);
}

}  // namespace kheya
