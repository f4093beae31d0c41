// Expansion: an operator said as a small graph of ai.onnx operators. The same few lines give its
// inference (the graph is inferred) and its evaluation (the graph is interpreted).
//
//   Status ExpandQuickGelu(Expansion& e) {
//     const ValueId x = e.Wide(0);
//     const ValueId scaled = e.Call("Mul", {x, e.NumberLike(1.702, x)});
//     e.Round(0, e.Call("Mul", {x, e.Call("Sigmoid", {scaled})}), e.TypeOf(0));
//     return OkStatus();
//   }
//   ... .infer = InferBy<ExpandQuickGelu>, .evaluate = EvaluateBy<ExpandQuickGelu> ...
//
// At inference shapes may be unknown; at evaluation they never are. Thread safety: one thread.
#ifndef KHEYA_OPS_EXPANSION_H_
#define KHEYA_OPS_EXPANSION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"
#include "ops/contexts.h"

namespace kheya {

class Expansion {
 public:
  using Attributes = std::vector<Attribute>;
  using Function = Status (*)(Expansion&);

  AttributeReader attributes() const { return AttributeReader(node_); }
  const Node& node() const { return node_; }
  bool evaluating() const { return evaluating_; }

  // The node's inputs; those left out have an invalid id, no type and no shape.
  bool Has(int input) const { return In(input).valid(); }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  ValueId In(int input) const;
  DType TypeOf(int input) const;
  // Null when the rank is not known.
  const SymbolicShape* ShapeOf(int input) const;
  std::optional<int> RankOf(int input) const;
  // A dimension counted from the front, or from the end when negative; unknown when it cannot be
  // told or is not there.
  Dim DimOf(int input, int axis) const;
  // The elements of an integer list that is known.
  std::optional<std::vector<int64_t>> KnownInts(int input) const;
  // Input `input`, as float32 when it is float16 or bfloat16.
  ValueId Wide(int input);

  ValueId Constant(Tensor tensor);
  ValueId Ints(std::vector<int64_t> values);
  ValueId Number(double value, DType dtype = DType::kFloat32);
  // A number of the type of `like`.
  ValueId NumberLike(double value, ValueId like) {
    return Call("CastLike", {Number(value, DType::kFloat64), like});
  }

  // The first output of a new node of ai.onnx (or another domain), or `num_outputs` of them.
  ValueId Call(const char* op, std::vector<ValueId> inputs, Attributes attributes = {});
  std::vector<ValueId> CallMany(const char* op, std::vector<ValueId> inputs, int num_outputs,
                                Attributes attributes = {}, const char* domain = "");
  ValueId CallIn(const char* domain, const char* op, std::vector<ValueId> inputs,
                 Attributes attributes = {}) {
    return CallMany(op, std::move(inputs), 1, std::move(attributes), domain).front();
  }
  // Casts, or gives the value back when it is of this type.
  ValueId Cast(ValueId value, DType from, DType to);
  ValueId Transpose(ValueId value, std::vector<int64_t> perm);
  // Channels of a tensor of this rank from the last place to the second, and back.
  ValueId ToChannelsFirst(ValueId value, int rank);
  ValueId ToChannelsLast(ValueId value, int rank);

  // The node's outputs. One that is wanted and never given is an error.
  bool Wants(int output) const;
  void Give(int output, ValueId value);
  // The same for a value made from Wide inputs: rounded to `dtype` when that is a half type.
  void Round(int output, ValueId value, DType dtype);
  // At inference, of an output whose shape cannot be told yet.
  void GiveType(int output, DType dtype, std::optional<SymbolicShape> shape = std::nullopt);

 private:
  friend Status InferExpansion(Function expand, InferContext& context);
  friend Status EvaluateExpansion(Function expand, EvalContext& context);

  Expansion(const Node& node, bool evaluating)
      : node_(node), evaluating_(evaluating), given_(node.outputs.size()) {}
  // Runs `expand`; then the graph has an output for each output that is wanted.
  Status Build(Function expand);

  const Node& node_;
  bool evaluating_;
  Graph graph_;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> given_;
  std::vector<std::optional<std::vector<int64_t>>> known_;
  Status status_;
};

Status InferExpansion(Expansion::Function expand, InferContext& context);
Status EvaluateExpansion(Expansion::Function expand, EvalContext& context);

template <Expansion::Function expand>
Status InferBy(InferContext& context) {
  return InferExpansion(expand, context);
}
template <Expansion::Function expand>
Status EvaluateBy(EvalContext& context) {
  return EvaluateExpansion(expand, context);
}

}  // namespace kheya

#endif  // KHEYA_OPS_EXPANSION_H_
