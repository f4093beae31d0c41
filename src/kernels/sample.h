// One element of a call's output by the definition, in double: what fast kernels are checked
// against where the whole reference would take too long.
#ifndef KHEYA_KERNELS_SAMPLE_H_
#define KHEYA_KERNELS_SAMPLE_H_

#include <cstdint>
#include <optional>
#include <span>

#include "kernels/call.h"

namespace kheya {

// Element `index` of output 0, counted in the operator's order whatever the layout. `inputs` are
// float32, in the layouts of the call; null where the call has none. nullopt for families other
// than convolutions and matrix products.
std::optional<double> SampleOutput(const KernelCall& call, std::span<const float* const> inputs,
                                   int64_t index);

// Where that element lies in memory.
int64_t MemoryIndex(const TensorDesc& desc, int64_t index);

}  // namespace kheya

#endif  // KHEYA_KERNELS_SAMPLE_H_
