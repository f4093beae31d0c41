#include "passes/expand_attention.h"

#include <limits>

#include "graph/patch.h"
#include "ops/contexts.h"
#include "passes/match.h"

namespace kheya {
namespace {

class AttentionExpander {
 public:
  AttentionExpander(Graph& graph, const Node& node)
      : graph_(graph), node_(node), attributes_(node), patch_(graph) {}

  Status Expand() {
    KHEYA_ASSIGN_OR_RETURN(const ValueId q, Heads(0));
    KHEYA_ASSIGN_OR_RETURN(ValueId k, Heads(1));
    KHEYA_ASSIGN_OR_RETURN(const ValueId v, Heads(2));
    k = Transpose(k, {0, 1, 3, 2});
    ValueId scores = Call("MatMul", {q, k});
    if (const float scale = attributes_.Float("scale", 1); scale != 1) {
      scores = Call("Mul", {scores, Number(scale)});
    }
    scores = Masked(scores);
    ValueId weights = Defined(scores, Call("Softmax", {scores}, {{"axis", int64_t{-1}}}));
    ValueId y = Call("MatMul", {weights, v});
    if (attributes_.Int("merge_heads", 0) != 0) {
      y = Call("Reshape", {Transpose(y, {0, 2, 1, 3}), Ints({0, 0, -1})});
    }
    KHEYA_RETURN_IF_ERROR(failure_);
    patch_.ReplaceValue(node_.outputs[0], y);
    return patch_.Apply();
  }

 private:
  // An invalid id, which no node may need, once a node could not be added.
  ValueId Call(const char* op, std::vector<ValueId> inputs,
               std::vector<Attribute> attributes = {}) {
    const Result<NodeId> id = patch_.AddNode({.op = op,
                                              .name = node_.name,
                                              .inputs = std::move(inputs),
                                              .outputs = {"expanded"},
                                              .attributes = std::move(attributes)});
    if (id.ok()) return patch_.Output(*id, 0);
    failure_ = id.status();
    return ValueId();
  }

  ValueId Transpose(ValueId value, std::vector<int64_t> perm) {
    return Call("Transpose", {value}, {{"perm", std::move(perm)}});
  }
  ValueId Ints(const std::vector<int64_t>& values) {
    return patch_.AddConstant("ints", MakeInts(values));
  }
  ValueId Number(float value) { return patch_.AddConstant("number", Tensor::Scalar(value)); }
  ValueId Infinity() { return Number(-std::numeric_limits<float>::infinity()); }

  // The operand as [batch, heads, length, size].
  Result<ValueId> Heads(size_t index) {
    const ValueId value = node_.inputs[index];
    const SymbolicShape* shape = ShapeOf(graph_, value);
    if (shape == nullptr) {
      return UnimplementedError("an operand of unknown rank cannot be expanded");
    }
    if (shape->size() == 4) return value;
    const int64_t heads = attributes_.Int("num_heads", 0);
    const int64_t size = attributes_.Int(index == 2 ? "v_size" : "qk_size", 0);
    const std::vector<int64_t> offsets = attributes_.Ints("offsets");
    const int64_t first = offsets.size() == 3 ? offsets[index] : 0;
    ValueId columns = value;
    if ((*shape)[2] != Dim(heads * size)) {
      columns = Call("Slice", {value, Ints({first}), Ints({first + heads * size}), Ints({2})});
    }
    return Transpose(Call("Reshape", {columns, Ints({0, 0, heads, size})}), {0, 2, 1, 3});
  }

  ValueId Masked(ValueId scores) {
    if (const ValueId mask = InputOf(node_, 3); mask.valid()) {
      if (DTypeOfValue(graph_, mask) == DType::kBool) {
        scores = Call("Where", {mask, scores, Number(attributes_.Float("masked_score", 0.0f))});
      } else {
        scores = Call("Add", {scores, mask});
      }
    }
    if (attributes_.Int("causal", 0) == 0) return scores;
    const ValueId ones = Call("ConstantOfShape", {Call("Shape", {scores})},
                              {{"value", Tensor::FromValues<float>(Shape{1}, {1.0f})}});
    const ValueId lower = Call("Trilu", {ones}, {{"upper", int64_t{0}}});
    const ValueId seen = Call("Cast", {lower}, {{"to", static_cast<int64_t>(DType::kBool)}});
    return Call("Where", {seen, scores, Infinity()});
  }

  // The weights with those that are to be 0 instead of NaN.
  ValueId Defined(ValueId scores, ValueId weights) {
    const int64_t rows = attributes_.Int("undefined_rows", 0);
    if (rows == 0) return weights;
    ValueId zeroed;
    if (rows == 1) {
      const ValueId largest = Call("ReduceMax", {scores, Ints({-1})}, {{"keepdims", int64_t{1}}});
      zeroed = Call("Equal", {largest, Infinity()});
    } else {
      zeroed = Call("IsNaN", {weights});
    }
    return Call("Where", {zeroed, Number(0), weights});
  }

  Graph& graph_;
  const Node& node_;
  const AttributeReader attributes_;
  Patch patch_;
  Status failure_;
};

}  // namespace

Status ExpandAttention(Graph& graph, const Node& node) {
  return AttentionExpander(graph, node).Expand();
}

}  // namespace kheya
