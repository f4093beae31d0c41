// Small questions that patterns ask of a graph.
#ifndef KHEYA_PASSES_MATCH_H_
#define KHEYA_PASSES_MATCH_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace kheya {

// A sound node of this operator of ai.onnx: all required inputs and output 0 are there, so that
// they can be named without asking.
bool IsOp(const Node& node, std::string_view op);

// The node that makes `value` as its output 0, when it is this operator; an invalid id otherwise.
NodeId ProducerOf(const Graph& graph, ValueId value, std::string_view op);

// The only use of a value that is no graph output and that no subgraph captures.
std::optional<Use> SoleUse(const Graph& graph, ValueId value);
// Why SoleUse found none: "'x' is a graph output", "'x' has 3 uses"; empty when it has none at all.
std::string WhyNotSole(const Graph& graph, ValueId value);

// Input `index` of the node, invalid when it is left out.
ValueId InputOf(const Node& node, size_t index);
// The other operand of a node of two inputs, one of which is `value`.
ValueId OtherInput(const Node& node, ValueId value);

// Elements of a constant of a floating-point type that float or double holds; of an integer type.
// nullopt when the value is no such constant.
std::optional<std::vector<double>> ConstantFloats(const Graph& graph, ValueId value);
std::optional<std::vector<int64_t>> ConstantInts(const Graph& graph, ValueId value);
// The element of a floating-point constant of one element and rank `max_rank` at most.
std::optional<double> ConstantScalar(const Graph& graph, ValueId value, int max_rank = 16);
// A scalar constant that rounds to the same float.
bool IsScalar(const Graph& graph, ValueId value, double expected);
// For a binary node: one operand is IsScalar(expected); the other one is returned.
std::optional<ValueId> OperandBesideScalar(const Graph& graph, const Node& node, double expected);

// The dimensions where the rank is known, else null.
const SymbolicShape* ShapeOf(const Graph& graph, ValueId value);
DType DTypeOfValue(const Graph& graph, ValueId value);
// Both ranks known and all dimensions provably equal.
bool SameShape(const SymbolicShape& a, const SymbolicShape& b);
bool SameShape(const Graph& graph, ValueId a, ValueId b);

// A float32 constant of one dimension (or of `shape`) from doubles.
Result<Tensor> MakeFloats(const Shape& shape, const std::vector<double>& values);
Tensor MakeInts(const std::vector<int64_t>& values);

}  // namespace kheya

#endif  // KHEYA_PASSES_MATCH_H_
