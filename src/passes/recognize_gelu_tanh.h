// recognize_gelu_tanh: x * 0.5 * (1 + Tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))), in any order of
// its products and with x taken out of the bracket or not, becomes Gelu(x, approximate=tanh).
#ifndef KHEYA_PASSES_RECOGNIZE_GELU_TANH_H_
#define KHEYA_PASSES_RECOGNIZE_GELU_TANH_H_

#include "passes/pass.h"

namespace kheya {

Status RecognizeGeluTanh(Graph& graph, PassContext& context);

}  // namespace kheya

#endif  // KHEYA_PASSES_RECOGNIZE_GELU_TANH_H_
