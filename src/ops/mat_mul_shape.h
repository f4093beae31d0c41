// The shape of a matrix product, as MatMul and its quantized kin infer it.
#ifndef KHEYA_OPS_MAT_MUL_SHAPE_H_
#define KHEYA_OPS_MAT_MUL_SHAPE_H_

#include <optional>

#include "base/status.h"
#include "ops/contexts.h"
#include "tensor/shape.h"

namespace kheya {

// Of inputs `a_index` and `b_index` by NumPy's rules; nullopt when a rank is not known.
// InvalidArgument for scalars and inner sizes that differ.
Result<std::optional<SymbolicShape>> InferMatMulShape(const InferContext& context, int a_index,
                                                      int b_index);

}  // namespace kheya

#endif  // KHEYA_OPS_MAT_MUL_SHAPE_H_
