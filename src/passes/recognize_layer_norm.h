// recognize_layer_norm: (x - mean) / sqrt(mean((x - mean)^2) + epsilon) * scale + bias over the
// last axes, spelled out with a quotient or with TensorFlow's x m + (bias - mean m), becomes
// LayerNormalization. Scale and bias are constants of the shape of those axes; either may be
// missing.
#ifndef KHEYA_PASSES_RECOGNIZE_LAYER_NORM_H_
#define KHEYA_PASSES_RECOGNIZE_LAYER_NORM_H_

#include "passes/pass.h"

namespace kheya {

Status RecognizeLayerNorm(Graph& graph, PassContext& context);

}  // namespace kheya

#endif  // KHEYA_PASSES_RECOGNIZE_LAYER_NORM_H_
