// absorb_scale: a constant factor for each channel behind Conv or ConvTranspose goes into weights
// and bias; a constant factor or addend behind BatchNormalization goes into its scale and bias.
#ifndef KHEYA_PASSES_ABSORB_SCALE_H_
#define KHEYA_PASSES_ABSORB_SCALE_H_

#include "passes/pass.h"

namespace kheya {

Status AbsorbScale(Graph& graph, PassContext& context);

}  // namespace kheya

#endif  // KHEYA_PASSES_ABSORB_SCALE_H_
