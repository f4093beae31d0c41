// Parameters of Gemm, and the shapes of MatMul.
#ifndef KHEYA_KERNELS_PARAMS_GEMM_H_
#define KHEYA_KERNELS_PARAMS_GEMM_H_

#include <cstdint>

#include "base/status.h"
#include "tensor/shape.h"

namespace kheya::kernels {

// y [m, n] = alpha * op(a) * op(b) + beta * c, op(a) [m, k], op(b) [k, n], c broadcast to [m, n].
struct GemmParams {
  bool trans_a = false;
  bool trans_b = false;
  float alpha = 1.0f;
  float beta = 1.0f;
};

// Sizes of one matrix product.
struct GemmSizes {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
};
// InvalidArgument unless both are matrices whose inner sizes agree.
Result<GemmSizes> GemmSizesOf(const GemmParams& params, const Shape& a, const Shape& b);

// A MatMul with NumPy's rules: a stack of products [m, k] x [k, n] whose leading axes broadcast.
// An operand of rank 1 is a row (a) or a column (b), and its axis is gone from the output.
struct MatMulShapes {
  GemmSizes sizes;
  Shape batch;    // the broadcast leading axes: one product for each of its elements
  Shape a_batch;  // the operands' own leading axes
  Shape b_batch;
  Shape output;
};
// InvalidArgument for scalars, unequal inner sizes and leading axes that do not broadcast.
Result<MatMulShapes> MatMulShapesOf(const Shape& a, const Shape& b);

// The element of `operand` that broadcasting puts at element `index` of `batch`.
int64_t BroadcastIndex(const Shape& operand, const Shape& batch, int64_t index);

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_PARAMS_GEMM_H_
