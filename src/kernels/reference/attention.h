// Scaled dot product attention and rotary position embedding, on float32 or float64.
#ifndef KHEYA_KERNELS_REFERENCE_ATTENTION_H_
#define KHEYA_KERNELS_REFERENCE_ATTENTION_H_

#include <cstdint>
#include <span>

#include "base/status.h"
#include "kernels/params/attention.h"
#include "tensor/tensor.h"

namespace kheya::kernels {

// What is given out as scores besides the answer.
enum class AttentionScores : uint8_t { kProducts, kCapped, kWithBias, kProbabilities };

struct AttentionParams {
  int64_t batch = 0;
  int64_t heads = 0;     // of queries
  int64_t kv_heads = 0;  // divides `heads`: neighbours share
  int64_t queries = 0;
  int64_t keys = 0;
  int64_t head_size = 0;
  int64_t value_size = 0;
  double scale = 1;    // of the products
  double softcap = 0;  // 0: none
  bool causal = false;
  int64_t left_window = -1;   // keys seen before a query's own place; -1: all
  int64_t right_window = -1;  // and after it
  // The place of query 0 among the keys; from the end: query 0 stands `queries` before the end of
  // the valid keys.
  int64_t first_query = 0;
  bool first_query_from_end = false;
  std::span<const double> sinks = {};  // by head, the score of a key without a value; empty: none
  AttentionScores scores = AttentionScores::kProducts;
  HeadStrides query_strides = {};
  HeadStrides key_strides = {};
  HeadStrides value_strides = {};
  HeadStrides output_strides = {};
  // Of the bias; 0 along an axis that is broadcast. Keys from `bias_keys` on are masked.
  HeadStrides bias_strides = {};
  int64_t bias_key_stride = 1;
  int64_t bias_keys = 0;
};

// For each query, with s over the keys:
//   s = scale * (q . k);  s = softcap * tanh(s / softcap) + bias;  y = softmax(s) v
// in double. A query may see keys up to its own place when `causal`, those of its window, and only
// the first valid_keys[b] (empty: all); one that sees none answers 0. All views but `bias`
// (doubles; its data may be null) are of one type. `scores` [batch, heads, queries, keys]; its data
// may be null.
Status Attention(const AttentionParams& params, const TensorView& q, const TensorView& k,
                 const TensorView& v, std::span<const double> bias,
                 std::span<const int64_t> valid_keys, const MutableTensorView& y,
                 const MutableTensorView& scores);

struct RotaryParams {
  int64_t batch = 0;
  int64_t heads = 0;
  int64_t length = 0;
  int64_t head_size = 0;
  int64_t rotated = 0;  // the first elements of a head, an even number
  bool interleaved = false;
  HeadStrides strides = {};  // of x and y
};

// y = x with pairs (a, b) of the rotated elements as (a cos - b sin, a sin + b cos). A pair is two
// neighbours when interleaved, else elements i and rotated / 2 + i. `angle_rows` gives the row of
// the caches [rows, rotated / 2] for each token [batch, length].
Status RotaryEmbedding(const RotaryParams& params, std::span<const int64_t> angle_rows,
                       const TensorView& x, const TensorView& cos_cache,
                       const TensorView& sin_cache, const MutableTensorView& y);

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_ATTENTION_H_
