// Indices as the gathering and scattering operators read them.
#ifndef KHEYA_OPS_GATHER_INDICES_H_
#define KHEYA_OPS_GATHER_INDICES_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tensor/tensor.h"

namespace kheya {

// `index` of [-size, size) as one of [0, size). InvalidArgument naming index and range.
Result<int64_t> NormalizeIndex(int64_t index, int64_t size);

// The elements of an integer tensor, each normalized against `size`.
Result<std::vector<int64_t>> NormalizedIndices(const Tensor& indices, int64_t size);

// What a scatter does where an element already is.
enum class Reduction : uint8_t { kNone, kAdd, kMul, kMax, kMin };
Result<Reduction> ParseReduction(std::string_view text);

// to[to_index] = reduce(to[to_index], from[from_index]). Integer sums and products wrap, bool and
// string tensors take kNone alone (bool also kAdd and kMax as or, kMul and kMin as and).
Status ReduceInto(Reduction reduction, const TensorView& from, int64_t from_index,
                  const MutableTensorView& to, int64_t to_index, int64_t count);

}  // namespace kheya

#endif  // KHEYA_OPS_GATHER_INDICES_H_
