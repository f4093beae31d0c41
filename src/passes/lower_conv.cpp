#include "passes/lower_conv.h"

#include "passes/activation.h"
#include "passes/channel_weights.h"
#include "passes/match.h"
#include "passes/residual.h"

namespace kheya {
namespace {

Status Visit(Graph& graph, NodeId id, PassContext& context) {
  const Node& conv = graph.node(id);
  if (!IsOp(conv, "Conv")) return OkStatus();
  ValueId last = conv.outputs[0];
  if (DTypeOfValue(graph, last) != DType::kFloat32) {
    context.Note(conv, "it computes in {}, expected float32", DTypeName(DTypeOfValue(graph, last)));
    return OkStatus();
  }
  NodeSpec spec = SpecOf(conv);
  spec.op = "FusedConv";
  spec.domain = kInternalDomain;
  std::string reason;
  if (const std::optional<Residual> residual = ResidualBehind(graph, last, &reason)) {
    spec.inputs.resize(4);
    spec.inputs[3] = residual->addend;
    last = residual->sum;
  }
  if (const std::optional<Activation> activation = ActivationBehind(graph, last, &reason)) {
    for (Attribute& each : ActivationAttributes(*activation)) {
      spec.attributes.push_back(std::move(each));
    }
    last = activation->output;
  }
  if (last == conv.outputs[0]) {
    if (!reason.empty()) context.Note(conv, "{}", reason);
    return OkStatus();
  }
  spec.outputs = {graph.value(last).name};
  Patch patch(graph);
  KHEYA_ASSIGN_OR_RETURN(const NodeId fused, patch.AddNode(std::move(spec)));
  patch.ReplaceValue(last, patch.Output(fused, 0));
  return context.Apply(patch);
}

}  // namespace

Status LowerConv(Graph& graph, PassContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const std::vector<NodeId> order, graph.TopologicalOrder());
  for (NodeId id : order) {
    if (graph.IsLive(id)) KHEYA_RETURN_IF_ERROR(Visit(graph, id, context));
  }
  return OkStatus();
}

}  // namespace kheya
