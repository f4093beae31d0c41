// What the windowed pools share.
#ifndef KHEYA_OPS_POOL_ATTRIBUTES_H_
#define KHEYA_OPS_POOL_ATTRIBUTES_H_

#include "base/status.h"
#include "kernels/params/pool.h"
#include "ops/contexts.h"

namespace kheya {

// A pool's parameters with auto_pad resolved for x.
Result<kernels::PoolParams> ReadPool(const AttributeReader& attributes, kernels::PoolKind kind,
                                     const Shape& x);

// The shape of the output for the shape of input 0, which may be symbolic or unknown.
Result<std::optional<SymbolicShape>> InferPoolShape(InferContext& context);

// Inference and evaluation of a pool with one output.
Status InferPool(InferContext& context);
Status EvaluatePool(EvalContext& context, kernels::PoolKind kind);

}  // namespace kheya

#endif  // KHEYA_OPS_POOL_ATTRIBUTES_H_
