#include "passes/absorb_pad.h"

#include <algorithm>

#include "base/checked_math.h"
#include "ops/contexts.h"
#include "passes/match.h"

namespace kheya {
namespace {

// Why the Pad cannot become padding of what is behind it; empty when `pads` received what it adds:
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

// Why a node cannot take padding; empty where it can.
std::string WhyNot(const Node& node) {
  const AttributeReader attributes(node);
  const std::string auto_pad = attributes.String("auto_pad", "NOTSET");
  if (auto_pad != "NOTSET" && auto_pad != "VALID") return "its padding is automatic";
  if (node.op == "Conv") return "";
  if (attributes.Int("ceil_mode", 0) != 0) return "its shape is rounded up";
  const std::vector<int64_t> own = attributes.Ints("pads");
  const bool has_own = std::any_of(own.begin(), own.end(), [](int64_t pad) { return pad != 0; });
  if (has_own && attributes.Int("count_include_pad", 0) == 0) {
    return "it does not count its own padding";
  }
  return "";
}

// A pool whose window can lie in the padding alone is not what every engine takes.
bool FitsWindow(const Node& pool, const std::vector<int64_t>& pads) {
  const std::vector<int64_t> kernel = AttributeReader(pool).Ints("kernel_shape");
  if (pads.size() != 2 * kernel.size()) return false;
  for (size_t i = 0; i < pads.size(); ++i) {
    if (pads[i] >= kernel[i % kernel.size()]) return false;
  }
  return true;
}

Status Visit(Graph& graph, NodeId id, PassContext& context) {
  const Node& node = graph.node(id);
  const bool pool = IsOp(node, "AveragePool");
  if (!pool && !IsOp(node, "Conv")) return OkStatus();
  const NodeId pad = ProducerOf(graph, node.inputs[0], "Pad");
  const SymbolicShape* shape = ShapeOf(graph, node.inputs[0]);
  if (!pad.valid() || shape == nullptr || shape->size() < 3) return OkStatus();
  if (const std::string reason = WhyNot(node); !reason.empty()) {
    context.Note(node, "{}", reason);
    return OkStatus();
  }
  std::vector<int64_t> pads;
  if (const std::string reason = ReadPads(graph, graph.node(pad), shape->size(), pads);
      !reason.empty()) {
    context.Note(graph.node(pad), "{}", reason);
    return OkStatus();
  }
  const std::vector<int64_t> own = AttributeReader(node).Ints("pads");
  for (size_t i = 0; i < own.size() && i < pads.size(); ++i) {
    if (!CheckedAdd(pads[i], own[i], &pads[i])) return OkStatus();
  }
  if (pool && !FitsWindow(node, pads)) {
    context.Note(node, "its window is not larger than the padding");
    return OkStatus();
  }
  Patch patch(graph);
  if (pool) patch.SetAttribute(id, {"count_include_pad", int64_t{1}});
  patch.SetInput(id, 0, graph.node(pad).inputs[0]);
  patch.SetAttribute(id, {"pads", pads});
  patch.RemoveAttribute(id, "auto_pad");
  return context.Apply(patch);
}

}  // namespace

Status AbsorbPad(Graph& graph, PassContext& context) { return VisitNodes(graph, context, Visit); }

}  // namespace kheya
