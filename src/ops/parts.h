// Cutting tensors along an axis and joining them again, as values of their own.
#ifndef KHEYA_OPS_PARTS_H_
#define KHEYA_OPS_PARTS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/allocator.h"
#include "base/status.h"
#include "tensor/tensor.h"

namespace kheya {

// `size` places of `axis` from `start`, which are inside. With `drop_axis`, of size 1, the axis
// goes.
Result<Tensor> TakePart(const Tensor& tensor, int axis, int64_t start, int64_t size, bool drop_axis,
                        const std::shared_ptr<MemoryBudget>& budget);

// The shape of tensors joined along `axis`, or stacked along a new one. InvalidArgument when there
// are none, and when types or other sizes differ.
Result<Shape> JoinedShape(std::span<const Tensor> parts, int axis, bool new_axis);
// The parts one after the other along `axis`, in `out` of the joined shape.
void JoinParts(std::span<const Tensor> parts, int axis, const MutableTensorView& out);

}  // namespace kheya

#endif  // KHEYA_OPS_PARTS_H_
