// lower_batch_norm: a BatchNormalization of constants, with an activation behind it, becomes
// kheya.FusedBatchNorm(x, scale, shift): y = activation(x scale + shift) for each channel.
#ifndef KHEYA_PASSES_LOWER_BATCH_NORM_H_
#define KHEYA_PASSES_LOWER_BATCH_NORM_H_

#include "passes/pass.h"

namespace kheya {

Status LowerBatchNorm(Graph& graph, PassContext& context);

}  // namespace kheya

#endif  // KHEYA_PASSES_LOWER_BATCH_NORM_H_
