// absorb_bias: Conv or ConvTranspose and an Add of one constant for each channel become one, with
// that bias.
#ifndef KHEYA_PASSES_ABSORB_BIAS_H_
#define KHEYA_PASSES_ABSORB_BIAS_H_

#include "passes/pass.h"

namespace kheya {

Status AbsorbBias(Graph& graph, PassContext& context);

}  // namespace kheya

#endif  // KHEYA_PASSES_ABSORB_BIAS_H_
