// What the attentions of com.microsoft share, in expansions. All values are float32.
#ifndef KHEYA_OPS_MICROSOFT_ATTENTION_PARTS_H_
#define KHEYA_OPS_MICROSOFT_ATTENTION_PARTS_H_

#include <vector>

#include "ops/expansion.h"

namespace kheya {

// Inputs of ai.onnx.Attention; what is left out is invalid.
struct AttentionInputs {
  ValueId q, k, v;               // [batch, length, heads * size] or [batch, heads, length, size]
  ValueId bias;                  // broadcasts to [batch, heads, queries, keys]
  ValueId past_key, past_value;  // [batch, heads, length, size]
};

struct AttentionOutputs {
  ValueId y, present_key, present_value, scores;
};

// By attributes `num_heads`, `scale` and `unidirectional` of the node.
AttentionOutputs CallAttention(Expansion& e, const AttentionInputs& inputs);

// A mask of int32 as numbers to add, 0 or `mask_filter_value`: by its shape
//   [batch, keys], [batch, queries, keys], [batch, 1, queries, keys]   1 where a key may be seen
//   [batch]                                  how many keys may be seen
//   [2 * batch]                              the end of those that may be seen, then their begin
// `total`, a scalar of int64, is the number of keys. Unimplemented for other shapes; invalid at
// inference when the shape is not known.
Result<ValueId> MaskBias(Expansion& e, int mask, const Dim& batch, ValueId total);

// a + b, either of which may be invalid.
ValueId AddOrEither(Expansion& e, ValueId a, ValueId b);

// The size of `value` along `axis` as a scalar of int64.
ValueId SizeOf(Expansion& e, ValueId value, int64_t axis);

// The projected input [batch, length, parts] of Attention and QAttention (inputs 3 and 4 or 5 and
// 8 are mask and past), cut into q, k and v: outputs 0 and 1 are given.
struct SelfAttention {
  ValueId projected;
  std::vector<int64_t> sizes;  // of q, k, v; empty: equal parts
  int mask;
  int past;
  int bias;  // of the scores; -1: none
  DType dtype;
};
Status GiveSelfAttention(Expansion& e, const SelfAttention& self);

}  // namespace kheya

#endif  // KHEYA_OPS_MICROSOFT_ATTENTION_PARTS_H_
