// absorb_batch_norm: a BatchNormalization (in inference, of constants) behind a Conv, ConvTranspose
// or Gemm with constant float32 weights goes into the weights and the bias:
// w' = w s, b' = (b - mean) s + B, with s = scale / sqrt(var + epsilon).
#ifndef KHEYA_PASSES_ABSORB_BATCH_NORM_H_
#define KHEYA_PASSES_ABSORB_BATCH_NORM_H_

#include "passes/pass.h"

namespace kheya {

Status AbsorbBatchNorm(Graph& graph, PassContext& context);

}  // namespace kheya

#endif  // KHEYA_PASSES_ABSORB_BATCH_NORM_H_
