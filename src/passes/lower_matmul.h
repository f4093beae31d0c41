// lower_matmul: MatMul or Gemm, with transposed operands, a scaling, a bias of one for each column,
// a residual and an activation, become one kheya.FusedMatMul(a, b, bias, residual).
#ifndef KHEYA_PASSES_LOWER_MATMUL_H_
#define KHEYA_PASSES_LOWER_MATMUL_H_

#include "passes/pass.h"

namespace kheya {

Status LowerMatmul(Graph& graph, PassContext& context);

}  // namespace kheya

#endif  // KHEYA_PASSES_LOWER_MATMUL_H_
