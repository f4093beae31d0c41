// Matrix products in plain loops.
#ifndef KHEYA_KERNELS_REFERENCE_MATMUL_H_
#define KHEYA_KERNELS_REFERENCE_MATMUL_H_

#include "base/status.h"
#include "kernels/params/gemm.h"
#include "tensor/tensor.h"

namespace kheya::kernels {

// y = a x b for each product of `shapes`. float32, float64, int32, int64, uint32 or uint64;
// accumulates in the element type, integers wrap.
Status MatMul(const MatMulShapes& shapes, const TensorView& a, const TensorView& b,
              const MutableTensorView& y);

// y [m, n] as GemmParams says. The types of MatMul; for integers alpha and beta must be
// integers (Unimplemented). `c` (its data may be null: none) must broadcast to y, which the caller
// has checked.
Status Gemm(const GemmParams& params, const TensorView& a, const TensorView& b, const TensorView& c,
            const MutableTensorView& y);

// y[i] = the determinant of the i-th of y's matrices x [size, size], float32 or float64: by
// elimination with the largest pivot of each column, in double. Of no rows it is 1.
Status Determinants(int64_t size, const TensorView& x, const MutableTensorView& y);

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_MATMUL_H_
