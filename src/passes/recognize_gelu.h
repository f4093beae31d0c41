// recognize_gelu: x * 0.5 * (1 + Erf(x / sqrt(2))), in any order of its products, becomes Gelu(x).
#ifndef KHEYA_PASSES_RECOGNIZE_GELU_H_
#define KHEYA_PASSES_RECOGNIZE_GELU_H_

#include "passes/pass.h"

namespace kheya {

Status RecognizeGelu(Graph& graph, PassContext& context);

}  // namespace kheya

#endif  // KHEYA_PASSES_RECOGNIZE_GELU_H_
