#include "passes/lower_attention_ops.h"

#include <cmath>
#include <limits>

#include "ops/contexts.h"
#include "passes/match.h"

namespace kheya {
namespace {

bool WantsMoreThanAnswer(const Node& node) {
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.outputs[i].valid()) return true;
  }
  return false;
}

// Rank 3, or rank 4 with as many heads as the queries; the same rank for all three.
bool OperandsFit(const Graph& graph, const Node& node) {
  const SymbolicShape* q = ShapeOf(graph, node.inputs[0]);
  if (q == nullptr || (q->size() != 3 && q->size() != 4)) return false;
  for (size_t i = 0; i < 3; ++i) {
    const SymbolicShape* shape = ShapeOf(graph, node.inputs[i]);
    if (shape == nullptr || shape->size() != q->size() || (*shape)[0] != (*q)[0]) return false;
    if (q->size() == 4 && (*shape)[1] != (*q)[1]) return false;
    if (DTypeOfValue(graph, node.inputs[i]) != DType::kFloat32) return false;
  }
  return true;
}

// Sizes of heads of columns; false where they are not known.
bool AddSizes(const Graph& graph, const Node& node, int64_t heads, NodeSpec* spec) {
  const Dim& qk = ShapeOf(graph, node.inputs[0])->back();
  const Dim& v = ShapeOf(graph, node.inputs[2])->back();
  if (ShapeOf(graph, node.inputs[1])->back() != qk) return false;
  if (!qk.known() || !v.known() || heads < 1 || qk.value() % heads != 0 || v.value() % heads != 0) {
    return false;
  }
  spec->attributes.push_back({"num_heads", heads});
  spec->attributes.push_back({"qk_size", qk.value() / heads});
  spec->attributes.push_back({"v_size", v.value() / heads});
  spec->attributes.push_back({"merge_heads", int64_t{1}});
  return true;
}

// nullopt where neither the attribute nor the size of a head is known.
std::optional<float> ScaleOf(const Graph& graph, const Node& node, const NodeSpec& spec,
                             bool zero_is_none) {
  const AttributeReader attributes(node);
  const float scale = attributes.Float("scale", 0.0f);
  if (attributes.Has("scale") && !(zero_is_none && scale == 0)) return scale;
  int64_t size = 0;
  for (const Attribute& attribute : spec.attributes) {
    if (attribute.name == "qk_size") size = std::get<int64_t>(attribute.value);
  }
  const SymbolicShape& q = *ShapeOf(graph, node.inputs[0]);
  if (q.size() == 4 && q[3].known()) size = q[3].value();
  if (size < 1) return std::nullopt;
  return static_cast<float>(1 / std::sqrt(static_cast<double>(size)));
}

// Of queries, keys and values together.
int64_t ColumnsOf(const Graph& graph, const Node& node) {
  int64_t columns = 0;
  for (size_t i = 0; i < 3; ++i) {
    columns += ShapeOf(graph, node.inputs[i])->back().maybe().value_or(0);
  }
  return columns;
}

// Why ai.onnx's Attention stays one; empty where it does not.
std::string WhyNot(const Graph& graph, const Node& node) {
  const AttributeReader attributes(node);
  if (WantsMoreThanAnswer(node)) return "it gives more than its answer";
  for (size_t i = 4; i < 7; ++i) {
    if (InputOf(node, i).valid()) return "it has a cache";
  }
  if (attributes.Float("softcap", 0) != 0) return "its scores have a cap";
  if (attributes.Int("left_window_size", -1) != -1 ||
      attributes.Int("right_window_size", -1) != -1) {
    return "it has a window";
  }
  if (!OperandsFit(graph, node)) {
    return "its operands are not known to be float32 of the same batch and heads";
  }
  const SymbolicShape& q = *ShapeOf(graph, node.inputs[0]);
  if (q.size() == 3 && attributes.Int("q_num_heads", 0) != attributes.Int("kv_num_heads", 0)) {
    return "its queries share keys";
  }
  return "";
}

// The mask's keys are all there, and its type is one that is added or selects.
bool MaskFits(const Graph& graph, ValueId mask, const Dim& keys) {
  const SymbolicShape* shape = ShapeOf(graph, mask);
  const DType dtype = DTypeOfValue(graph, mask);
  return shape != nullptr && !shape->empty() && shape->size() <= 4 && shape->back() == keys &&
         (dtype == DType::kFloat32 || dtype == DType::kBool);
}

// `value` plus the constants [first, first + size) of the bias.
Result<ValueId> WithBias(const Graph& graph, Patch& patch, ValueId value, const Tensor& bias,
                         int64_t first) {
  const int64_t size = ShapeOf(graph, value)->back().value();
  std::vector<double> part;
  for (int64_t i = 0; i < size; ++i) part.push_back(bias.At<float>(first + i));
  KHEYA_ASSIGN_OR_RETURN(Tensor tensor, MakeFloats(Shape{size}, part));
  const ValueId constant = patch.AddConstant("bias", std::move(tensor));
  KHEYA_ASSIGN_OR_RETURN(
      const NodeId add,
      patch.AddNode({.op = "Add", .inputs = {value, constant}, .outputs = {"biased"}}));
  return patch.Output(add, 0);
}

}  // namespace

Status LowerOnnxAttention(Graph& graph, const Node& node, PassContext& context) {
  if (const std::string reason = WhyNot(graph, node); !reason.empty()) {
    context.Note(node, "{}", reason);
    return OkStatus();
  }
  const AttributeReader attributes(node);
  const bool columns = ShapeOf(graph, node.inputs[0])->size() == 3;
  NodeSpec spec{.op = "FusedAttention",
                .domain = kInternalDomain,
                .name = node.name,
                .inputs = {node.inputs[0], node.inputs[1], node.inputs[2]}};
  if (columns && !AddSizes(graph, node, attributes.Int("q_num_heads", 0), &spec)) {
    context.Note(node, "the sizes of its heads are not known");
    return OkStatus();
  }
  const std::optional<float> scale = ScaleOf(graph, node, spec, /*zero_is_none=*/false);
  if (!scale) {
    context.Note(node, "the sizes of its heads are not known");
    return OkStatus();
  }
  spec.attributes.push_back({"scale", *scale});
  const bool causal = attributes.Int("is_causal", 0) != 0;
  const ValueId mask = InputOf(node, 3);
  if (mask.valid()) {
    const SymbolicShape& k = *ShapeOf(graph, node.inputs[1]);
    if (!MaskFits(graph, mask, k[k.size() - 2])) {
      context.Note(node, "its mask '{}' is {}, expected float32 or bool for {} keys",
                   graph.value(mask).name, graph.value(mask).type.ToString(),
                   ToString({k[k.size() - 2]}));
      return OkStatus();
    }
    spec.inputs.push_back(mask);
    if (DTypeOfValue(graph, mask) == DType::kBool) {
      spec.attributes.push_back({"masked_score", -std::numeric_limits<float>::infinity()});
    }
  }
  if (causal) spec.attributes.push_back({"causal", int64_t{1}});
  if (mask.valid() || causal) spec.attributes.push_back({"undefined_rows", int64_t{1}});
  Patch patch(graph);
  return context.Replace(graph, patch, node.outputs[0], std::move(spec));
}

Status LowerMultiHeadAttention(Graph& graph, const Node& node, PassContext& context) {
  std::string reason;
  if (node.inputs.size() < 3 || !node.inputs[1].valid() || !node.inputs[2].valid()) {
    reason = "its queries hold keys and values too";
  } else if (!OperandsFit(graph, node) || ShapeOf(graph, node.inputs[0])->size() != 3) {
    reason = "its operands are not known to be float32 of rank 3";
  } else if (InputOf(node, 4).valid()) {
    reason = "it has a mask of integers";
  } else if (WantsMoreThanAnswer(node)) {
    reason = "it gives more than its answer";
  }
  for (size_t i = 6; i < node.inputs.size() && reason.empty(); ++i) {
    if (node.inputs[i].valid()) reason = "it has a cache";
  }
  const ValueId mask = InputOf(node, 5);
  const ValueId bias = InputOf(node, 3);
  NodeSpec spec{.op = "FusedAttention",
                .domain = kInternalDomain,
                .name = node.name,
                .inputs = {node.inputs[0], InputOf(node, 1), InputOf(node, 2)}};
  if (reason.empty() && !AddSizes(graph, node, AttributeReader(node).Int("num_heads", 0), &spec)) {
    reason = "the sizes of its heads are not known";
  }
  if (reason.empty() && mask.valid() &&
      (!MaskFits(graph, mask, (*ShapeOf(graph, node.inputs[1]))[1]) ||
       DTypeOfValue(graph, mask) != DType::kFloat32)) {
    reason = "its bias of the scores does not hold every key in float32";
  }
  const Tensor* constant = bias.valid() ? graph.Constant(bias) : nullptr;
  if (reason.empty() && bias.valid() &&
      (constant == nullptr || constant->num_elements() != ColumnsOf(graph, node))) {
    reason = "its bias is no constant for all columns";
  }
  if (!reason.empty()) {
    context.Note(node, "{}", reason);
    return OkStatus();
  }
  Patch patch(graph);
  int64_t first = 0;
  for (size_t i = 0; i < 3 && constant != nullptr; ++i) {
    const int64_t size = ShapeOf(graph, node.inputs[i])->back().value();
    KHEYA_ASSIGN_OR_RETURN(spec.inputs[i],
                           WithBias(graph, patch, node.inputs[i], *constant, first));
    first += size;
  }
  if (mask.valid()) spec.inputs.push_back(mask);
  spec.attributes.push_back({"scale", *ScaleOf(graph, node, spec, /*zero_is_none=*/true)});
  const bool causal = AttributeReader(node).Int("unidirectional", 0) != 0;
  if (causal) spec.attributes.push_back({"causal", int64_t{1}});
  if (mask.valid() || causal) spec.attributes.push_back({"undefined_rows", int64_t{1}});
  return context.Replace(graph, patch, node.outputs[0], std::move(spec));
}

}  // namespace kheya
