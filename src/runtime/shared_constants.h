// Constants as steps read them, shared by the plans of a model.
#ifndef KHEYA_RUNTIME_SHARED_CONSTANTS_H_
#define KHEYA_RUNTIME_SHARED_CONSTANTS_H_

#include "base/status.h"
#include "kernels/pack_cache.h"
#include "tensor/tensor.h"

namespace kheya {

// The constant itself where it is aligned for its type, else a copy; where `narrow` float32 as
// bfloat16, rounded to the nearest. Large copies are made once for each content that `cache` (may
// be null) knows, and live as long as a tensor that was given.
Result<Tensor> ReadableConstant(const Tensor& constant, bool narrow, PackCache* cache);

}  // namespace kheya

#endif  // KHEYA_RUNTIME_SHARED_CONSTANTS_H_
