// Tensors of attention heads: [batch, heads, length, size], or [batch, length, heads * size].
#ifndef KHEYA_OPS_HEADS_H_
#define KHEYA_OPS_HEADS_H_

#include <cstdint>

#include "base/status.h"
#include "kernels/reference/attention.h"
#include "tensor/shape.h"

namespace kheya {

struct Heads {
  int64_t batch = 0;
  int64_t heads = 0;
  int64_t length = 0;
  int64_t size = 0;
  kernels::HeadStrides strides = {};
};

// `num_heads` is used with rank 3, and must divide the last axis. InvalidArgument naming `what`.
Result<Heads> HeadsOf(const Shape& shape, int64_t num_heads, const char* what);
// Of a dense tensor in the layout of rank 4, or of rank 3.
kernels::HeadStrides HeadStridesOf(int rank, int64_t heads, int64_t length, int64_t size);

}  // namespace kheya

#endif  // KHEYA_OPS_HEADS_H_
