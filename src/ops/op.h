// OpDef: all that Kheya knows of one operator: its schema, its shape inference, its evaluation.
//
// One .cpp per operator (or per family that shares one body, such as the reductions) defines an
// OpDef; ops.inc lists them; FindOp looks them up. Evaluation is the plain reference: kernels in
// kernels/reference on typed views. Faster forms live in kernels/ and are chosen by the runtime;
// they are compared against this one.
#ifndef KHEYA_OPS_OP_H_
#define KHEYA_OPS_OP_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"
#include "ops/contexts.h"

namespace kheya {

// A set of element types, bit (1 << DType number).
using TypeMask = uint32_t;
constexpr TypeMask MaskOf(std::initializer_list<DType> types) {
  TypeMask mask = 0;
  for (DType type : types) mask |= TypeMask{1} << static_cast<int>(type);
  return mask;
}
namespace types {
inline constexpr TypeMask kFloat =
    MaskOf({DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16});
inline constexpr TypeMask kSigned =
    MaskOf({DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64});
inline constexpr TypeMask kUnsigned =
    MaskOf({DType::kUint8, DType::kUint16, DType::kUint32, DType::kUint64});
inline constexpr TypeMask kInteger = kSigned | kUnsigned;
inline constexpr TypeMask kNumeric = kFloat | kInteger;
inline constexpr TypeMask kBool = MaskOf({DType::kBool});
inline constexpr TypeMask kString = MaskOf({DType::kString});
inline constexpr TypeMask kIndex = MaskOf({DType::kInt32, DType::kInt64});
inline constexpr TypeMask kInt64 = MaskOf({DType::kInt64});
inline constexpr TypeMask kAll = kNumeric | kBool | kString;
inline constexpr TypeMask kComplex = MaskOf({DType::kComplex64, DType::kComplex128});
inline constexpr TypeMask kFloat8 = MaskOf(
    {DType::kFloat8E4M3FN, DType::kFloat8E4M3FNUZ, DType::kFloat8E5M2, DType::kFloat8E5M2FNUZ});
inline constexpr TypeMask kSmallInteger =
    MaskOf({DType::kInt4, DType::kUint4, DType::kInt2, DType::kUint2});
inline constexpr TypeMask kSmall =
    kFloat8 | kSmallInteger |
    MaskOf({DType::kFloat8E8M0, DType::kFloat6E2M3, DType::kFloat6E3M2, DType::kFloat4E2M1});
inline constexpr TypeMask kEvery = kAll | kComplex | kSmall;  // types that data movement takes
inline constexpr TypeMask kAny = ~TypeMask{0};                // also what is not a tensor
}  // namespace types

// The last two stand at the end and may come many times: kVariadic once or more, kAnyNumber also
// not at all.
enum class Presence : uint8_t { kRequired, kOptional, kVariadic, kAnyNumber };

// A formal input or output. Those with the same letter must have the same element type; '\0': free.
struct ParamDef {
  const char* name;
  TypeMask types = types::kAny;
  char type_var = '\0';
  Presence presence = Presence::kRequired;
};

struct AttributeDef {
  const char* name;
  AttributeKind kind;
  bool required = false;
};

struct OpDef {
  const char* domain;  // "" is ai.onnx; kInternalDomain for Kheya's own
  const char* name;
  const char* category;  // heading in docs/operators.md: "elementwise", "neural network", ...
  std::span<const ParamDef> inputs;
  std::span<const ParamDef> outputs;
  std::span<const AttributeDef> attributes;
  // Output types and, where they are small integers, elements. Never reads memory that is not in
  // the context; unknown inputs give unknown outputs, contradictions InvalidArgument.
  Status (*infer)(InferContext& context);
  // Computes the outputs. Checks every shape and value it relies on: inference may have known
  // nothing.
  Status (*evaluate)(EvalContext& context);
  // Multiply-accumulates for fully known shapes, nullopt when they are not known; null: none.
  std::optional<int64_t> (*macs)(const Graph& graph, const Node& node) = nullptr;
  // Gives the inputs of the node's subgraphs their types before the subgraphs are inferred. Null:
  // there are none.
  Status (*infer_subgraph_inputs)(InferContext& context) = nullptr;
  bool deterministic = true;  // false: random operators; never folded or merged
  // Output 0 holds input 0's elements in the same order under another shape (Reshape, Squeeze...):
  // the runtime may let both share memory.
  bool aliases_input = false;
};

// The operator's definition, or null: unsupported.
const OpDef* FindOp(std::string_view domain, std::string_view name);
std::span<const OpDef* const> AllOps();

}  // namespace kheya

#endif  // KHEYA_OPS_OP_H_
