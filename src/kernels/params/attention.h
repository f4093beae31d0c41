// Parameters of attention as one step.
#ifndef KHEYA_KERNELS_PARAMS_ATTENTION_H_
#define KHEYA_KERNELS_PARAMS_ATTENTION_H_

#include <cstdint>

namespace kheya::kernels {

// Where row `row` of head `head` of batch `batch` begins, in elements; the elements of a row are
// dense.
struct HeadStrides {
  int64_t batch = 0;
  int64_t head = 0;
  int64_t row = 0;
  int64_t At(int64_t b, int64_t h, int64_t r) const { return b * batch + h * head + r * row; }
};

// What becomes of the weights of a query whose softmax is NaN.
enum class UndefinedRows : uint8_t {
  kNan,       // they stay NaN
  kZeroed,    // they are 0 where every score is -inf: a query that sees no key
  kAllZeroed  // they are 0 wherever the softmax is NaN
};

// For each query, with s over the keys:
//   s = scale (q . k);  s += mask, or s = mask ? s : masked_score;  y = softmax(s) v
// A product with a weight of 0 is a product: 0 times infinity is NaN.
struct FusedAttentionParams {
  int64_t batch = 0;
  int64_t heads = 0;
  int64_t queries = 0;
  int64_t keys = 0;
  int64_t qk_size = 0;  // elements of a row of q and of k
  int64_t v_size = 0;
  float scale = 1;
  bool causal = false;     // query i sees keys 0 to i alone: the others' scores are -inf
  float masked_score = 0;  // for a mask of bool
  UndefinedRows undefined = UndefinedRows::kNan;
  int64_t q_offset = 0;  // where the first row begins
  int64_t k_offset = 0;
  int64_t v_offset = 0;
  HeadStrides q_strides = {};
  HeadStrides k_strides = {};
  HeadStrides v_strides = {};
  HeadStrides y_strides = {};
  HeadStrides mask_strides = {};  // 0 along an axis that is broadcast
  int64_t mask_key_stride = 0;
};

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_PARAMS_ATTENTION_H_
