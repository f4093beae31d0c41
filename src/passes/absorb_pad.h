// absorb_pad: Pad with zeros along the spatial axes becomes padding of the Conv or
// AveragePool behind it.
#ifndef KHEYA_PASSES_ABSORB_PAD_H_
#define KHEYA_PASSES_ABSORB_PAD_H_

#include "passes/pass.h"

namespace kheya {

Status AbsorbPad(Graph& graph, PassContext& context);

}  // namespace kheya

#endif  // KHEYA_PASSES_ABSORB_PAD_H_
