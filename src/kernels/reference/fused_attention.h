// Attention as one step, on float32 or float64.
#ifndef KHEYA_KERNELS_REFERENCE_FUSED_ATTENTION_H_
#define KHEYA_KERNELS_REFERENCE_FUSED_ATTENTION_H_

#include "base/status.h"
#include "kernels/params/attention.h"
#include "tensor/tensor.h"

namespace kheya::kernels {

// q, k, v and y of one type; the mask of that type or bool, its data null where there is none. In
// double inside. The caller has checked that the strides stay inside the views.
Status FusedAttention(const FusedAttentionParams& params, const TensorView& q, const TensorView& k,
                      const TensorView& v, const TensorView& mask, const MutableTensorView& y);

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_FUSED_ATTENTION_H_
