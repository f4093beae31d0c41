// recognize_hard_swish: x * HardSigmoid(x) with alpha 1/6 and beta 1/2 becomes HardSwish(x).
#ifndef KHEYA_PASSES_RECOGNIZE_HARD_SWISH_H_
#define KHEYA_PASSES_RECOGNIZE_HARD_SWISH_H_

#include "passes/pass.h"

namespace kheya {

Status RecognizeHardSwish(Graph& graph, PassContext& context);

}  // namespace kheya

#endif  // KHEYA_PASSES_RECOGNIZE_HARD_SWISH_H_
