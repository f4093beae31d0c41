// Operators that carry a state from token to token: linear attention, causal convolution.
#ifndef KHEYA_KERNELS_REFERENCE_LINEAR_ATTENTION_H_
#define KHEYA_KERNELS_REFERENCE_LINEAR_ATTENTION_H_

#include <cstdint>

#include "tensor/tensor.h"

namespace kheya::kernels {

struct LinearAttentionParams {
  int64_t batch = 0;
  int64_t length = 0;       // tokens
  int64_t query_heads = 0;  // a multiple of `heads`: each head's state is read by several queries
  int64_t heads = 0;
  int64_t key_size = 0;
  int64_t value_size = 0;
  int64_t decays = 0;  // of a head and token: 0, 1 or key_size
  int64_t rates = 0;   // of a token: 0, 1 or heads
  double scale = 1;
};

// For every token in turn, per head, with the state S [key_size, value_size]:
//
//   S = diag(exp(decay)) S            where there is a decay
//   v = rate (v - S^T k)              where there is a rate
//   S = S + k v^T
//   output = scale q^T S
//
// All float32 and dense: query [batch, length, query_heads * key_size], key [batch, length,
// heads * key_size], value [batch, length, heads * value_size], decay [batch, length, heads *
// decays], rate [batch, length, rates]; output [batch, length, query_heads * value_size]. `state`
// [batch, heads, key_size, value_size] is read and written. Sums are made in double. Source: ONNX's
// LinearAttention.
void LinearAttention(const LinearAttentionParams& params, const TensorView& query,
                     const TensorView& key, const TensorView& value, const TensorView& decay,
                     const TensorView& rate, const MutableTensorView& state,
                     const MutableTensorView& output);

struct CausalConvParams {
  int64_t batch = 0;
  int64_t channels = 0;
  int64_t length = 0;
  int64_t window = 0;  // places of the kernel, 1 or more
};

// A convolution of each channel by itself over its places up to now: output[t] = bias +
// sum over i of weight[i] * x[t - window + 1 + i], where x before the start is `past`. All float32
// and dense: input and output [batch, channels, length], weight [channels, window], bias [channels]
// or without data, past and present [batch, channels, window - 1]; past without data is zeros.
// `present`, unless without data, becomes the last places of past and input together.
void CausalConv(const CausalConvParams& params, const TensorView& input, const TensorView& weight,
                const TensorView& bias, const TensorView& past, const MutableTensorView& output,
                const MutableTensorView& present);

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_LINEAR_ATTENTION_H_
