#include "passes/lower_matmul.h"

#include <numeric>

#include "ops/contexts.h"
#include "passes/activation.h"
#include "passes/channel_weights.h"
#include "passes/match.h"
#include "passes/residual.h"

namespace kheya {
namespace {

// What is gathered for one FusedMatMul; the patch holds the constants made on the way.
struct Chain {
  ValueId a, b, bias, residual;
  bool trans_a = false;
  bool trans_b = false;
  double alpha = 1;
  Activation activation;
  ValueId last;  // the value that the fused node replaces
  std::string reason;

  NodeSpec Spec(const Node& node) const {
    NodeSpec spec{.op = "FusedMatMul",
                  .domain = kInternalDomain,
                  .name = node.name,
                  .inputs = {a, b, bias, residual},
                  .attributes = ActivationAttributes(activation)};
    while (!spec.inputs.back().valid()) spec.inputs.pop_back();
    if (trans_a) spec.attributes.push_back({"transA", int64_t{1}});
    if (trans_b) spec.attributes.push_back({"transB", int64_t{1}});
    if (alpha != 1) spec.attributes.push_back({"alpha", static_cast<float>(alpha)});
    return spec;
  }
};

// For a Transpose that swaps the last two axes alone: its input. `value` otherwise.
ValueId LookThroughTranspose(const Graph& graph, ValueId value, bool& transposed) {
  const NodeId id = ProducerOf(graph, value, "Transpose");
  const SymbolicShape* shape = ShapeOf(graph, value);
  if (!id.valid() || shape == nullptr || shape->size() < 2) return value;
  const size_t rank = shape->size();
  std::vector<int64_t> swap(rank);
  std::iota(swap.begin(), swap.end(), 0);
  std::swap(swap[rank - 2], swap[rank - 1]);
  const std::vector<int64_t> perm = AttributeReader(graph.node(id)).Ints("perm");
  if (perm != swap && !(perm.empty() && rank == 2)) return value;
  transposed = !transposed;
  return graph.node(id).inputs[0];
}

// A product with, or a quotient by, one number behind the chain goes into alpha.
void TakeScale(const Graph& graph, Chain& chain) {
  const std::optional<Use> use = SoleUse(graph, chain.last);
  if (!use) return;
  const Node& node = graph.node(use->node);
  const bool div = IsOp(node, "Div");
  if ((!div && !IsOp(node, "Mul")) || (div && use->index != 0)) return;
  const auto scale = ConstantScalar(graph, OtherInput(node, chain.last));
  if (!scale || *scale == 0 || !SameShape(graph, node.outputs[0], chain.last)) return;
  chain.alpha = div ? chain.alpha / *scale : chain.alpha * *scale;
  chain.last = node.outputs[0];
}

// `value` as one number a column: itself when it is of shape [columns], a constant when it is one
// of shape [1,..., columns]; an invalid id otherwise.
Result<ValueId> AsColumnBias(const Graph& graph, Patch& patch, ValueId value, const Dim& columns,
                             double beta = 1) {
  const SymbolicShape* shape = ShapeOf(graph, value);
  if (shape == nullptr || shape->empty() || shape->back() != columns ||
      DTypeOfValue(graph, value) != DType::kFloat32) {
    return ValueId();
  }
  if (shape->size() == 1 && beta == 1) return value;
  std::optional<std::vector<double>> values = ConstantFloats(graph, value);
  if (!values || static_cast<int64_t>(values->size()) != columns.maybe()) return ValueId();
  for (double& each : *values) each *= beta;
  KHEYA_ASSIGN_OR_RETURN(Tensor tensor, MakeFloats(Shape{columns.value()}, *values));
  return patch.AddConstant(graph.value(value).name + "_columns", std::move(tensor));
}

Status TakeBias(const Graph& graph, Patch& patch, Chain& chain) {
  const std::optional<Use> use = SoleUse(graph, chain.last);
  if (!use || !IsOp(graph.node(use->node), "Add")) return OkStatus();
  const Node& add = graph.node(use->node);
  const Dim& columns = ShapeOf(graph, chain.last)->back();
  KHEYA_ASSIGN_OR_RETURN(chain.bias,
                         AsColumnBias(graph, patch, OtherInput(add, chain.last), columns));
  if (!chain.bias.valid()) return OkStatus();
  if (!SameShape(graph, add.outputs[0], chain.last)) {
    chain.bias = ValueId();
    return OkStatus();
  }
  chain.last = add.outputs[0];
  return OkStatus();
}

// Gemm's C, as bias or residual; false when it is neither.
Result<bool> TakeAddend(const Graph& graph, Patch& patch, const Node& gemm, Chain& chain) {
  const ValueId c = InputOf(gemm, 2);
  const double beta = AttributeReader(gemm).Float("beta", 1.0f);
  if (!c.valid()) return true;
  const Dim& columns = ShapeOf(graph, chain.last)->back();
  KHEYA_ASSIGN_OR_RETURN(chain.bias, AsColumnBias(graph, patch, c, columns, beta));
  if (chain.bias.valid()) return true;
  if (beta == 1 && SameShape(graph, c, chain.last)) chain.residual = c;
  return chain.residual.valid();
}

void TakeResidualAndActivation(const Graph& graph, Chain& chain) {
  if (!chain.residual.valid()) {
    if (const auto residual = ResidualBehind(graph, chain.last, &chain.reason)) {
      chain.residual = residual->addend;
      chain.last = residual->sum;
    }
  }
  if (auto activation = ActivationBehind(graph, chain.last, &chain.reason)) {
    chain.last = activation->output;
    chain.activation = *std::move(activation);
  }
}

bool IsMatrix(const Graph& graph, ValueId value) {
  const SymbolicShape* shape = ShapeOf(graph, value);
  return shape != nullptr && shape->size() >= 2;
}

Status Visit(Graph& graph, NodeId id, PassContext& context) {
  const Node& node = graph.node(id);
  const bool gemm = IsOp(node, "Gemm");
  if (!gemm && !IsOp(node, "MatMul")) return OkStatus();
  Chain chain;
  chain.a = node.inputs[0];
  chain.b = node.inputs[1];
  chain.last = node.outputs[0];
  if (DTypeOfValue(graph, chain.last) != DType::kFloat32 || !IsMatrix(graph, chain.a) ||
      !IsMatrix(graph, chain.b) || !IsMatrix(graph, chain.last)) {
    context.Note(node, "its operands are not known to be float32 matrices");
    return OkStatus();
  }
  const AttributeReader attributes(node);
  chain.trans_a = attributes.Int("transA", 0) != 0;
  chain.trans_b = attributes.Int("transB", 0) != 0;
  chain.alpha = attributes.Float("alpha", 1.0f);
  chain.a = LookThroughTranspose(graph, chain.a, chain.trans_a);
  chain.b = LookThroughTranspose(graph, chain.b, chain.trans_b);
  const bool transposed = chain.a != node.inputs[0] || chain.b != node.inputs[1];
  Patch patch(graph);
  if (gemm) {
    KHEYA_ASSIGN_OR_RETURN(const bool taken, TakeAddend(graph, patch, node, chain));
    if (!taken) {
      context.Note(node, "its C is neither one number a column nor of the shape of the output");
      return OkStatus();
    }
  } else {
    TakeScale(graph, chain);
    KHEYA_RETURN_IF_ERROR(TakeBias(graph, patch, chain));
  }
  TakeResidualAndActivation(graph, chain);
  if (chain.last == node.outputs[0] && !transposed) {
    if (!chain.reason.empty()) context.Note(node, "{}", chain.reason);
    return OkStatus();
  }
  NodeSpec spec = chain.Spec(node);
  return context.Replace(graph, patch, chain.last, std::move(spec));
}

}  // namespace

Status LowerMatmul(Graph& graph, PassContext& context) {
  return VisitNodesInOrder(graph, context, Visit);
}

}  // namespace kheya
