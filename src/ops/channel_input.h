// Per-channel and broadcast inputs of the normalizations.
#ifndef KHEYA_OPS_CHANNEL_INPUT_H_
#define KHEYA_OPS_CHANNEL_INPUT_H_

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "ops/contexts.h"
#include "tensor/shape.h"
#include "tensor/tensor.h"

namespace kheya {

// Input `index`, of a float type and shape [channels], as doubles.
Result<std::vector<double>> ChannelInput(EvalContext& context, int index, int64_t channels);

// Input `index` widened, when its shape broadcasts to `shape` without changing it; an undefined
// tensor when left out.
Result<Tensor> BroadcastInput(EvalContext& context, int index, const Shape& shape);

}  // namespace kheya

#endif  // KHEYA_OPS_CHANNEL_INPUT_H_
