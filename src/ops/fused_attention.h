// What the attributes and shapes of a kheya.FusedAttention mean, for its evaluation and its
// kernels.
#ifndef KHEYA_OPS_FUSED_ATTENTION_H_
#define KHEYA_OPS_FUSED_ATTENTION_H_

#include "base/status.h"
#include "kernels/params/attention.h"
#include "ops/contexts.h"
#include "tensor/shape.h"

namespace kheya {

struct FusedAttention {
  kernels::FusedAttentionParams params;
  Shape output;
};

// `mask` is null where there is none. InvalidArgument for what does not fit together.
Result<FusedAttention> ReadFusedAttention(const AttributeReader& attributes, const Shape& q,
                                          const Shape& k, const Shape& v, const Shape* mask);

}  // namespace kheya

#endif  // KHEYA_OPS_FUSED_ATTENTION_H_
