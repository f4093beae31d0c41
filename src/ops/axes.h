// Axes and small integer inputs, as operators read them.
#ifndef KHEYA_OPS_AXES_H_
#define KHEYA_OPS_AXES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "ops/contexts.h"
#include "tensor/shape.h"

namespace kheya {

// An axis of [-rank, rank) as one of [0, rank). InvalidArgument naming axis and range.
Result<int> NormalizeAxis(int64_t axis, int rank);
// The same for a list, in its order; InvalidArgument also when an axis comes twice.
Result<std::vector<int>> NormalizeAxes(std::span<const int64_t> axes, int rank);

// The elements of input `index` when all are known.
std::optional<std::vector<int64_t>> KnownElements(const InferContext& context, int index);
// The number of elements of input `index`, a list, when its shape tells.
std::optional<int64_t> KnownLength(const InferContext& context, int index);
// The elements of input `index`, of an integer type and of rank 1 (or 0: one element).
Result<std::vector<int64_t>> IntListInput(const EvalContext& context, int index);
// The only element of input `index`, an integer tensor of one element.
Result<int64_t> IntScalarInput(const EvalContext& context, int index);

// `rank` unknown dimensions.
SymbolicShape UnknownDims(int rank);
Dim ProductOf(std::span<const Dim> dims);
// A copy of the shape of input `index`; nullopt when its rank is unknown.
std::optional<SymbolicShape> ShapeOrNull(const InferContext& context, int index);

}  // namespace kheya

#endif  // KHEYA_OPS_AXES_H_
