#include "passes/remove_identities.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/op.h"
#include "passes/match.h"

namespace kheya {
namespace {

bool AllEqual(const std::optional<std::vector<int64_t>>& values, int64_t expected) {
  return values && std::all_of(values->begin(), values->end(),
                               [&](int64_t value) { return value == expected; });
}

// Left out, or a constant of `expected` alone.
bool AbsentOr(const Graph& graph, ValueId input, int64_t expected) {
  return !input.valid() || AllEqual(ConstantInts(graph, input), expected);
}

bool HasOneOutput(const Node& node) {
  return !node.outputs.empty() && node.outputs[0].valid() &&
         std::none_of(node.outputs.begin() + 1, node.outputs.end(),
                      [](ValueId output) { return output.valid(); });
}

bool IsInferenceDropout(const Graph& graph, const Node& node) {
  if (!IsOp(node, "Dropout")) return false;
  const ValueId training = InputOf(node, 2);
  if (!training.valid()) return true;
  const Tensor* tensor = graph.Constant(training);
  return tensor != nullptr && tensor->dtype() == DType::kBool && tensor->num_elements() == 1 &&
         tensor->At<uint8_t>(0) == 0;
}

bool IsCastToSame(const Graph& graph, const Node& node) {
  if (!IsOp(node, "Cast") && !IsOp(node, "CastLike")) return false;
  const DType dtype = DTypeOfValue(graph, node.inputs[0]);
  return dtype != DType::kUndefined && dtype == DTypeOfValue(graph, node.outputs[0]);
}

bool IsTransposeInOrder(const Graph& graph, const Node& node) {
  if (!IsOp(node, "Transpose")) return false;
  const std::vector<int64_t> perm = AttributeReader(node).Ints("perm");
  if (perm.empty()) {
    const SymbolicShape* shape = ShapeOf(graph, node.inputs[0]);
    return shape != nullptr && shape->size() <= 1;
  }
  std::vector<int64_t> in_order(perm.size());
  std::iota(in_order.begin(), in_order.end(), 0);
  return perm == in_order;
}

// Operators that give the same elements in the same order whenever the shape stays the same.
bool KeepsShape(const Graph& graph, const Node& node) {
  const OpDef* op = FindOp(node.domain, node.op);
  const bool reshapes = (op != nullptr && op->aliases_input) || IsOp(node, "Expand");
  return reshapes && SameShape(graph, node.inputs[0], node.outputs[0]);
}

bool IsSliceOfAll(const Graph& graph, const Node& node) {
  return IsOp(node, "Slice") && AbsentOr(graph, InputOf(node, 4), 1) &&
         SameShape(graph, node.inputs[0], node.outputs[0]);
}

bool IsPadByNothing(const Graph& graph, const Node& node) {
  return IsOp(node, "Pad") && AllEqual(ConstantInts(graph, InputOf(node, 1)), 0);
}

bool IsOfOne(const Node& node) {
  const bool joins = IsOp(node, "Concat") || IsOp(node, "Sum") || IsOp(node, "Max") ||
                     IsOp(node, "Min") || IsOp(node, "Mean");
  return (joins && node.inputs.size() == 1) || (IsOp(node, "Split") && node.outputs.size() == 1);
}

// All elements of a numeric constant are this number; floats to the bit, so that -0 is not 0.
bool IsAll(const Graph& graph, ValueId value, int expected) {
  if (!value.valid()) return false;
  if (const auto floats = ConstantFloats(graph, value)) {
    return std::all_of(floats->begin(), floats->end(),
                       [&](double each) { return each == expected && !std::signbit(each); });
  }
  return AllEqual(ConstantInts(graph, value), expected);
}

// The operand that an arithmetic node gives unchanged, or an invalid id.
ValueId NeutralOperand(const Graph& graph, const Node& node) {
  if (node.inputs.size() != 2) return ValueId();
  const bool mul = IsOp(node, "Mul");
  ValueId kept;
  if ((mul || IsOp(node, "Div")) && IsAll(graph, node.inputs[1], 1)) kept = node.inputs[0];
  if (mul && IsAll(graph, node.inputs[0], 1)) kept = node.inputs[1];
  if (IsOp(node, "Sub") && IsAll(graph, node.inputs[1], 0)) kept = node.inputs[0];
  return kept.valid() && SameShape(graph, kept, node.outputs[0]) ? kept : ValueId();
}

ValueId UnchangedInput(const Graph& graph, const Node& node) {
  if (node.inputs.empty() || !node.inputs[0].valid() || !HasOneOutput(node)) return ValueId();
  const bool identity = IsOp(node, "Identity") || IsInferenceDropout(graph, node) ||
                        IsCastToSame(graph, node) || IsTransposeInOrder(graph, node) ||
                        KeepsShape(graph, node) || IsSliceOfAll(graph, node) ||
                        IsPadByNothing(graph, node) || IsOfOne(node);
  return identity ? node.inputs[0] : NeutralOperand(graph, node);
}

}  // namespace

Status RemoveIdentities(Graph& graph, PassContext& context) {
  for (NodeId id : graph.NodeIds()) {
    if (!graph.IsLive(id)) continue;
    const ValueId input = UnchangedInput(graph, graph.node(id));
    if (!input.valid()) continue;
    Patch patch(graph);
    patch.ReplaceValue(graph.node(id).outputs[0], input);
    KHEYA_RETURN_IF_ERROR(context.Apply(patch));
  }
  return OkStatus();
}

}  // namespace kheya
