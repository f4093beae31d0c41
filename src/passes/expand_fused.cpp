#include "passes/expand_fused.h"

#include <numeric>

#include "graph/patch.h"
#include "ops/contexts.h"
#include "ops/infer.h"
#include "passes/activation.h"
#include "passes/expand_attention.h"
#include "passes/match.h"

namespace kheya {
namespace {

class Expander {
 public:
  Expander(Graph& graph, const Node& node) : graph_(graph), node_(node), patch_(graph) {}

  Status Conv() {
    NodeSpec spec{.op = "Conv", .name = node_.name, .inputs = node_.inputs};
    if (spec.inputs.size() > 3) spec.inputs.resize(3);
    for (const Attribute& attribute : node_.attributes) {
      if (!attribute.name.starts_with("activation")) spec.attributes.push_back(attribute);
    }
    return Finish(Add(std::move(spec)), InputOf(node_, 3));
  }

  Status MatMul() {
    const AttributeReader attributes(node_);
    KHEYA_ASSIGN_OR_RETURN(ValueId a, Transposed(node_.inputs[0], attributes.Int("transA", 0)));
    KHEYA_ASSIGN_OR_RETURN(ValueId b, Transposed(node_.inputs[1], attributes.Int("transB", 0)));
    ValueId value = Add({.op = "MatMul", .name = node_.name, .inputs = {a, b}});
    if (const float alpha = attributes.Float("alpha", 1.0f); alpha != 1.0f) {
      const ValueId scale = patch_.AddConstant("alpha", Tensor::Scalar(alpha));
      value = Add({.op = "Mul", .inputs = {value, scale}});
    }
    if (const ValueId bias = InputOf(node_, 2); bias.valid()) {
      value = Add({.op = "Add", .inputs = {value, bias}});
    }
    return Finish(value, InputOf(node_, 3));
  }

  Status BatchNorm() {
    const SymbolicShape* x = ShapeOf(graph_, node_.inputs[0]);
    if (x == nullptr || x->size() < 2) {
      return UnimplementedError("a FusedBatchNorm of unknown rank cannot be expanded");
    }
    std::vector<int64_t> along(x->size() - 2);
    std::iota(along.begin(), along.end(), 1);
    ValueId value = node_.inputs[0];
    for (size_t i = 1; i < 3; ++i) {
      ValueId operand = node_.inputs[i];
      if (!along.empty()) {
        const ValueId axes = patch_.AddConstant("axes", MakeInts(along));
        operand = Add({.op = "Unsqueeze", .inputs = {operand, axes}});
      }
      const char* op = i == 1 ? "Mul" : "Add";
      value = Add({.op = op, .inputs = {value, operand}});
    }
    return Finish(value, ValueId());
  }

 private:
  // An invalid id, which is no input that a node may need, once a node could not be added.
  ValueId Add(NodeSpec spec) {
    spec.outputs = {"expanded"};
    const Result<NodeId> id = patch_.AddNode(std::move(spec));
    if (id.ok()) return patch_.Output(*id, 0);
    failure_ = id.status();
    return ValueId();
  }

  Result<ValueId> Transposed(ValueId value, int64_t transposed) {
    if (transposed == 0) return value;
    const SymbolicShape* shape = ShapeOf(graph_, value);
    if (shape == nullptr || shape->size() < 2) {
      return UnimplementedError("a transposed operand of unknown rank cannot be expanded");
    }
    std::vector<int64_t> perm(shape->size());
    std::iota(perm.begin(), perm.end(), 0);
    std::swap(perm[perm.size() - 2], perm[perm.size() - 1]);
    return Add({.op = "Transpose", .inputs = {value}, .attributes = {{"perm", perm}}});
  }

  Status Finish(ValueId value, ValueId residual) {
    if (residual.valid()) {
      value = Add({.op = "Add", .inputs = {value, residual}});
    }
    KHEYA_RETURN_IF_ERROR(failure_);
    KHEYA_ASSIGN_OR_RETURN(value, AddActivation(patch_, node_, value));
    patch_.ReplaceValue(node_.outputs[0], value);
    return patch_.Apply();
  }

  Graph& graph_;
  const Node& node_;
  Patch patch_;
  Status failure_;
};

Status ExpandNode(Graph& graph, const Node& node) {
  if (node.op == "FusedConv") return Expander(graph, node).Conv();
  if (node.op == "FusedMatMul") return Expander(graph, node).MatMul();
  if (node.op == "FusedAttention") return ExpandAttention(graph, node);
  if (node.op == "FusedBatchNorm") return Expander(graph, node).BatchNorm();
  return OkStatus();
}

Status ExpandGraph(Graph& graph) {
  for (NodeId id : graph.NodeIds()) {
    const Node& node = graph.node(id);
    for (Graph* subgraph : graph.Subgraphs(id)) KHEYA_RETURN_IF_ERROR(ExpandGraph(*subgraph));
    if (node.domain != kInternalDomain) continue;
    const std::string where = node.Describe();  // the node goes
    KHEYA_RETURN_IF_ERROR(ExpandNode(graph, node).WithContext("{}", where));
  }
  return OkStatus();
}

}  // namespace

Status ExpandFused(Graph& graph) {
  KHEYA_RETURN_IF_ERROR(ExpandGraph(graph));
  return InferTypes(graph);
}

}  // namespace kheya
