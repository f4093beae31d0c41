// recognize_silu: x * Sigmoid(x) becomes Swish(x).
#ifndef KHEYA_PASSES_RECOGNIZE_SILU_H_
#define KHEYA_PASSES_RECOGNIZE_SILU_H_

#include "passes/pass.h"

namespace kheya {

Status RecognizeSilu(Graph& graph, PassContext& context);

}  // namespace kheya

#endif  // KHEYA_PASSES_RECOGNIZE_SILU_H_
