// fold_constants: nodes whose inputs are all constants become constants, by their reference
// evaluation; so do small integer values that inference knows in full (shapes, mostly).
//
// Left alone: random operators, QuantizeLinear and DequantizeLinear (compressed weights stay so),
// control flow, what fails, what takes too many multiply-accumulates, and what would make the model
// larger than PassOptions::fold_bytes allows.
#ifndef KHEYA_PASSES_FOLD_CONSTANTS_H_
#define KHEYA_PASSES_FOLD_CONSTANTS_H_

#include "passes/pass.h"

namespace kheya {

Status FoldConstants(Graph& graph, PassContext& context);

}  // namespace kheya

#endif  // KHEYA_PASSES_FOLD_CONSTANTS_H_
