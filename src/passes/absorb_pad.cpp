#include "passes/absorb_pad.h"

#include <algorithm>

#include "base/checked_math.h"
#include "ops/contexts.h"
#include "passes/match.h"

namespace kheya {
namespace {

// Why the Pad cannot become padding of a convolution; empty when `pads` received what it adds:
// begins of the spatial axes, then their ends.
std::string ReadPads(const Graph& graph, const Node& pad, size_t rank, std::vector<int64_t>& pads) {
  if (AttributeReader(pad).String("mode", "constant") != "constant")
    return "its mode is not constant";
  const ValueId value = InputOf(pad, 2);
  if (value.valid() && !IsScalar(graph, value, 0)) return "it pads with other than zero";
  if (InputOf(pad, 3).valid()) return "it names axes";
  const auto amounts = ConstantInts(graph, InputOf(pad, 1));
  if (!amounts || amounts->size() != 2 * rank) return "its amounts are not constant";
  for (size_t i = 0; i < amounts->size(); ++i) {
    if ((*amounts)[i] < 0) return "it crops";
    if (i % rank >= 2) {
      pads.push_back((*amounts)[i]);
    } else if ((*amounts)[i] != 0) {
      return "it pads batch or channels";
    }
  }
  return "";
}

Status Visit(Graph& graph, NodeId id, PassContext& context) {
  const Node& conv = graph.node(id);
  if (!IsOp(conv, "Conv")) return OkStatus();
  const NodeId pad = ProducerOf(graph, conv.inputs[0], "Pad");
  const SymbolicShape* shape = ShapeOf(graph, conv.inputs[0]);
  if (!pad.valid() || shape == nullptr || shape->size() < 3) return OkStatus();
  const std::string auto_pad = AttributeReader(conv).String("auto_pad", "NOTSET");
  if (auto_pad != "NOTSET" && auto_pad != "VALID") {
    context.Note(conv, "its padding is automatic");
    return OkStatus();
  }
  std::vector<int64_t> pads;
  if (const std::string reason = ReadPads(graph, graph.node(pad), shape->size(), pads);
      !reason.empty()) {
    context.Note(graph.node(pad), "{}", reason);
    return OkStatus();
  }
  const std::vector<int64_t> own = AttributeReader(conv).Ints("pads");
  for (size_t i = 0; i < own.size() && i < pads.size(); ++i) {
    if (!CheckedAdd(pads[i], own[i], &pads[i])) return OkStatus();
  }
  Patch patch(graph);
  patch.SetInput(id, 0, graph.node(pad).inputs[0]);
  patch.SetAttribute(id, {"pads", pads});
  patch.RemoveAttribute(id, "auto_pad");
  return context.Apply(patch);
}

}  // namespace

Status AbsorbPad(Graph& graph, PassContext& context) { return VisitNodes(graph, context, Visit); }

}  // namespace kheya
