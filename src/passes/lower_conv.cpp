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
  Patch patch(graph);
  return context.Replace(graph, patch, last, std::move(spec));
}

}  // namespace

Status LowerConv(Graph& graph, PassContext& context) {
  return VisitNodesInOrder(graph, context, Visit);
}

}  // namespace kheya
