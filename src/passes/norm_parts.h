// What the spelled-out forms of LayerNormalization and RMSNormalization share.
#ifndef KHEYA_PASSES_NORM_PARTS_H_
#define KHEYA_PASSES_NORM_PARTS_H_

#include <cstdint>
#include <optional>

#include "graph/graph.h"

namespace kheya {

// The first reduced axis when `value` is made by a ReduceMean over the last axes that keeps them.
std::optional<int64_t> FirstAxisOfMean(const Graph& graph, ValueId value);

// For Pow(d, 2) and Mul(d, d): d.
ValueId OperandOfSquare(const Graph& graph, ValueId value);

// 1 / Sqrt(mean + epsilon), where the mean is one of squares.
struct InverseRoot {
  ValueId mean;
  ValueId squared;  // what the mean is of, before it was squared
  double epsilon = 0;
};
// For Reciprocal(Sqrt(mean + epsilon)), Div(1, Sqrt(...)) and Pow(..., -0.5).
std::optional<InverseRoot> MatchInverseRoot(const Graph& graph, ValueId value);

// x divided by such a root: Div(x, Sqrt(...)) or Mul(x, 1 / Sqrt(...)).
struct Quotient {
  ValueId numerator;
  InverseRoot root;
};
std::optional<Quotient> MatchQuotient(const Graph& graph, const Node& node);

// The only user of `value` when it is `op` with a constant of the shape `normalized`.
struct Affine {
  NodeId node;
  ValueId constant;
};
std::optional<Affine> MatchAffine(const Graph& graph, ValueId value, const char* op,
                                  const SymbolicShape& normalized);

}  // namespace kheya

#endif  // KHEYA_PASSES_NORM_PARTS_H_
