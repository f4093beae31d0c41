// The attentions that are operators already, for lower_attention.
#ifndef KHEYA_PASSES_LOWER_ATTENTION_OPS_H_
#define KHEYA_PASSES_LOWER_ATTENTION_OPS_H_

#include "passes/pass.h"

namespace kheya {

// ai.onnx's Attention and com.microsoft's MultiHeadAttention as kheya.FusedAttention, where they
// have no cache and give nothing but the answer; else a note that says why not.
Status LowerOnnxAttention(Graph& graph, const Node& node, PassContext& context);
Status LowerMultiHeadAttention(Graph& graph, const Node& node, PassContext& context);

}  // namespace kheya

#endif  // KHEYA_PASSES_LOWER_ATTENTION_OPS_H_
