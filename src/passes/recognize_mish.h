// recognize_mish: x * Tanh(Softplus(x)) becomes Mish(x).
#ifndef KHEYA_PASSES_RECOGNIZE_MISH_H_
#define KHEYA_PASSES_RECOGNIZE_MISH_H_

#include "passes/pass.h"

namespace kheya {

Status RecognizeMish(Graph& graph, PassContext& context);

}  // namespace kheya

#endif  // KHEYA_PASSES_RECOGNIZE_MISH_H_
