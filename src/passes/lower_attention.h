// lower_attention: softmax(scale q k^T + mask) v, spelled out with the reshapes and transposes that
// make heads of columns and columns of heads, becomes one kheya.FusedAttention(q, k, v, mask), and
// so does ai.onnx's Attention where it has no cache, no cap and no windows.
#ifndef KHEYA_PASSES_LOWER_ATTENTION_H_
#define KHEYA_PASSES_LOWER_ATTENTION_H_

#include "passes/pass.h"

namespace kheya {

Status LowerAttention(Graph& graph, PassContext& context);

}  // namespace kheya

#endif  // KHEYA_PASSES_LOWER_ATTENTION_H_
