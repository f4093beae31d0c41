// Definitions of com.microsoft that are expansions, and what their expansions share.
#ifndef KHEYA_OPS_MICROSOFT_MICROSOFT_OP_H_
#define KHEYA_OPS_MICROSOFT_MICROSOFT_OP_H_

#include <span>

#include "ops/expansion.h"
#include "ops/op.h"

namespace kheya {

inline constexpr const char* kMicrosoftDomain = "com.microsoft";
inline constexpr TypeMask kBytes = MaskOf({DType::kInt8, DType::kUint8});
inline constexpr TypeMask kInt32 = MaskOf({DType::kInt32});
inline constexpr TypeMask kFloat32 = MaskOf({DType::kFloat32});

template <Expansion::Function expand>
constexpr OpDef MicrosoftOp(const char* name, const char* category,
                            std::span<const ParamDef> inputs, std::span<const ParamDef> outputs,
                            std::span<const AttributeDef> attributes) {
  return {.domain = kMicrosoftDomain,
          .name = name,
          .category = category,
          .inputs = inputs,
          .outputs = outputs,
          .attributes = attributes,
          .infer = InferBy<expand>,
          .evaluate = EvaluateBy<expand>};
}

// The attributes `names` that the node has, for a call of an operator that means the same by them.
Expansion::Attributes Copied(const Expansion& e, std::span<const char* const> names);
inline constexpr const char* kConvAttributes[] = {"auto_pad",     "dilations", "group",
                                                  "kernel_shape", "pads",      "strides"};

// The activation of attributes `activation` and `activation_params` (alpha, beta) on a value.
// InvalidArgument for one that is not known.
Result<ValueId> Activated(Expansion& e, ValueId value, const std::string& activation,
                          std::span<const float> params);

// InvalidArgument when input `input` is there and known not to have rank 1.
Status CheckVector(const Expansion& e, int input);

// Sum of the values that are valid; the first must be.
ValueId SumOf(Expansion& e, std::span<const ValueId> values);

}  // namespace kheya

#endif  // KHEYA_OPS_MICROSOFT_MICROSOFT_OP_H_
