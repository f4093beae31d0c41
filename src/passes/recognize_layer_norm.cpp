#include "passes/recognize_layer_norm.h"

#include "ops/contexts.h"
#include "passes/match.h"
#include "passes/norm_parts.h"

namespace kheya {
namespace {

struct LayerNorm {
  ValueId x;
  int64_t axis = 0;  // the first of the normalized ones
  double epsilon = 0;
};

// For Sub(x, ReduceMean(x)): x.
ValueId OperandOfCenter(const Graph& graph, ValueId value, ValueId* mean) {
  const NodeId sub = ProducerOf(graph, value, "Sub");
  if (!sub.valid()) return ValueId();
  const ValueId x = graph.node(sub).inputs[0];
  *mean = graph.node(sub).inputs[1];
  const NodeId reduce = ProducerOf(graph, *mean, "ReduceMean");
  return reduce.valid() && graph.node(reduce).inputs[0] == x ? x : ValueId();
}

// The axes of both means, where they are the same.
bool SetAxis(const Graph& graph, const Node& node, ValueId mean, ValueId variance,
             PassContext& context, LayerNorm* found) {
  const auto axis = FirstAxisOfMean(graph, mean);
  if (!axis || axis != FirstAxisOfMean(graph, variance)) {
    context.Note(node, "the means are not both over the same last axes");
    return false;
  }
  found->axis = *axis;
  return true;
}

// Matches d / Sqrt(ReduceMean(d^2) + epsilon) with d = Sub(x, ReduceMean(x)).
std::optional<LayerNorm> Match(const Graph& graph, const Node& node, PassContext& context) {
  const std::optional<Quotient> quotient = MatchQuotient(graph, node);
  if (!quotient) return std::nullopt;
  ValueId mean;
  const ValueId x = OperandOfCenter(graph, quotient->numerator, &mean);
  if (!x.valid()) return std::nullopt;
  if (quotient->root.squared != quotient->numerator) {
    context.Note(node, "the variance is not that of the numerator");
    return std::nullopt;
  }
  LayerNorm found{.x = x, .epsilon = quotient->root.epsilon};
  if (!SetAxis(graph, node, mean, quotient->root.mean, context, &found)) return std::nullopt;
  return found;
}

bool IsFloat32(const Graph& graph, const Node& node, ValueId x, PassContext& context) {
  if (DTypeOfValue(graph, x) == DType::kFloat32) return true;
  context.Note(node, "it computes in {}, expected float32", DTypeName(DTypeOfValue(graph, x)));
  return false;
}

SymbolicShape NormalizedShape(const Graph& graph, const LayerNorm& found) {
  const SymbolicShape& shape = *ShapeOf(graph, found.x);
  return {shape.begin() + found.axis, shape.end()};
}

NodeSpec SpecOf(const Graph& graph, const Node& node, const LayerNorm& found) {
  const auto rank = static_cast<int64_t>(ShapeOf(graph, found.x)->size());
  return {
      .op = "LayerNormalization",
      .name = node.name,
      .inputs = {found.x},
      .attributes = {{"axis", found.axis - rank}, {"epsilon", static_cast<float>(found.epsilon)}}};
}

// A scale of ones for a normalization without one; an invalid id where its shape is not known.
Result<ValueId> AddOnes(Patch& patch, const SymbolicShape& normalized) {
  const std::optional<Shape> shape = ValueType::OfTensor(DType::kFloat32, normalized).KnownShape();
  constexpr int64_t kMostElements = 1 << 20;
  if (!shape || shape->num_elements() > kMostElements) return ValueId();
  const std::vector<double> ones(static_cast<size_t>(shape->num_elements()), 1.0);
  KHEYA_ASSIGN_OR_RETURN(Tensor tensor, MakeFloats(*shape, ones));
  return patch.AddConstant("ones", std::move(tensor));
}

Status VisitQuotient(Graph& graph, const Node& node, PassContext& context) {
  const std::optional<LayerNorm> found = Match(graph, node, context);
  if (!found || !IsFloat32(graph, node, found->x, context)) return OkStatus();
  const SymbolicShape normalized = NormalizedShape(graph, *found);
  NodeSpec spec = SpecOf(graph, node, *found);
  Patch patch(graph);
  ValueId last = node.outputs[0];
  if (const auto scale = MatchAffine(graph, last, "Mul", normalized)) {
    spec.inputs.push_back(scale->constant);
    last = graph.node(scale->node).outputs[0];
  } else {
    KHEYA_ASSIGN_OR_RETURN(const ValueId ones, AddOnes(patch, normalized));
    if (!ones.valid()) {
      context.Note(node, "no Mul by a constant of shape {} is its only user", ToString(normalized));
      return OkStatus();
    }
    spec.inputs.push_back(ones);
  }
  if (const auto bias = MatchAffine(graph, last, "Add", normalized)) {
    spec.inputs.push_back(bias->constant);
    last = graph.node(bias->node).outputs[0];
  }
  return context.Replace(graph, patch, last, std::move(spec));
}

// x m + (beta - mean m) with m = gamma / Sqrt(ReduceMean((x - mean)^2) + epsilon): as TensorFlow
// spells it.
struct ShiftedForm {
  ValueId x, mean, gamma, beta;
  InverseRoot root;
};

// For Mul(factor, other) or Mul(other, factor): other.
ValueId BesideFactor(const Graph& graph, NodeId mul, ValueId factor) {
  const std::vector<ValueId>& inputs = graph.node(mul).inputs;
  if (inputs[0] == factor) return inputs[1];
  return inputs[1] == factor ? inputs[0] : ValueId();
}

// gamma / Sqrt(...) into the form.
bool TakeFactor(const Graph& graph, ValueId factor, ShiftedForm* form) {
  const NodeId scaled = ProducerOf(graph, factor, "Mul");
  if (!scaled.valid()) return false;
  for (size_t i = 0; i < 2; ++i) {
    form->gamma = graph.node(scaled).inputs[i];
    const auto root = MatchInverseRoot(graph, graph.node(scaled).inputs[1 - i]);
    if (!root || graph.Constant(form->gamma) == nullptr) continue;
    form->root = *root;
    return true;
  }
  return false;
}

std::optional<ShiftedForm> MatchShifted(const Graph& graph, const Node& add) {
  for (size_t i = 0; i < 2; ++i) {
    const NodeId product = ProducerOf(graph, add.inputs[i], "Mul");
    const NodeId sub = ProducerOf(graph, add.inputs[1 - i], "Sub");
    if (!product.valid() || !sub.valid()) continue;
    ShiftedForm form;
    form.beta = graph.node(sub).inputs[0];
    const NodeId shift = ProducerOf(graph, graph.node(sub).inputs[1], "Mul");
    if (!shift.valid() || graph.Constant(form.beta) == nullptr) continue;
    for (size_t j = 0; j < 2; ++j) {
      const ValueId factor = graph.node(product).inputs[j];
      form.x = graph.node(product).inputs[1 - j];
      form.mean = BesideFactor(graph, shift, factor);
      if (form.mean.valid() && TakeFactor(graph, factor, &form)) return form;
    }
  }
  return std::nullopt;
}

Status VisitSum(Graph& graph, const Node& add, PassContext& context) {
  const std::optional<ShiftedForm> form = MatchShifted(graph, add);
  if (!form) return OkStatus();
  ValueId mean;
  const ValueId x = OperandOfCenter(graph, form->root.squared, &mean);
  if (!x.valid() || x != form->x || mean != form->mean) {
    context.Note(add, "the variance or the mean is not that of what is scaled");
    return OkStatus();
  }
  LayerNorm found{.x = x, .epsilon = form->root.epsilon};
  if (!SetAxis(graph, add, mean, form->root.mean, context, &found) ||
      !IsFloat32(graph, add, x, context)) {
    return OkStatus();
  }
  const SymbolicShape normalized = NormalizedShape(graph, found);
  if (!SameShape(*ShapeOf(graph, form->gamma), normalized) ||
      !SameShape(*ShapeOf(graph, form->beta), normalized)) {
    context.Note(add, "scale and bias are not of shape {}", ToString(normalized));
    return OkStatus();
  }
  NodeSpec spec = SpecOf(graph, add, found);
  spec.inputs.push_back(form->gamma);
  spec.inputs.push_back(form->beta);
  Patch patch(graph);
  return context.Replace(graph, patch, add.outputs[0], std::move(spec));
}

Status Visit(Graph& graph, NodeId id, PassContext& context) {
  const Node& node = graph.node(id);
  if (IsOp(node, "Div") || IsOp(node, "Mul")) return VisitQuotient(graph, node, context);
  if (IsOp(node, "Add")) return VisitSum(graph, node, context);
  return OkStatus();
}

}  // namespace

Status RecognizeLayerNorm(Graph& graph, PassContext& context) {
  return VisitNodes(graph, context, Visit);
}

}  // namespace kheya
