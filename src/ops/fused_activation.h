// The activation that a fused operator applies last: attributes `activation` and
// `activation_params`.
//
//   ""           none
//   "Relu"       max(x, 0)
//   "Clip"       min(max(x, p[0]), p[1])
//   "LeakyRelu"  x < 0 ? p[0] x : x
//   "HardSwish"  x min(max(x / 6 + 1/2, 0), 1)
//   "Sigmoid"    1 / (1 + exp(-x))
//   "SiLU"       x / (1 + exp(-x))
//   "Gelu"       x / 2 (1 + erf(x / sqrt(2)))
//   "GeluTanh"   x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
//   "Mish"       x tanh(log(1 + exp(x)))
//   "Tanh"       tanh(x)
#ifndef KHEYA_OPS_FUSED_ACTIVATION_H_
#define KHEYA_OPS_FUSED_ACTIVATION_H_

#include <span>
#include <string_view>

#include "base/status.h"
#include "ops/contexts.h"
#include "tensor/tensor.h"

namespace kheya {

// InvalidArgument for a name that is not in the table or another number of parameters.
Status CheckActivation(std::string_view name, std::span<const float> params);

// The same for what the attributes of a node say.
Status CheckActivation(const AttributeReader& attributes);

// Applies it in place to float32 or float64 elements.
Status ApplyActivation(const AttributeReader& attributes, const MutableTensorView& y);

// y += addend, of the same type and shape; InvalidArgument otherwise. Nothing when the addend is
// undefined.
Status AddResidual(const Tensor& addend, const MutableTensorView& y);

}  // namespace kheya

#endif  // KHEYA_OPS_FUSED_ACTIVATION_H_
