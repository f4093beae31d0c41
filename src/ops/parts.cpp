#include "ops/parts.h"

#include "base/checked_math.h"
#include "kernels/reference/movement.h"

namespace kheya {

Result<Tensor> TakePart(const Tensor& tensor, int axis, int64_t start, int64_t size, bool drop_axis,
                        const std::shared_ptr<MemoryBudget>& budget) {
  const Shape& shape = tensor.shape();
  std::vector<int64_t> dims(shape.begin(), shape.end());
  dims[axis] = size;
  if (drop_axis) dims.erase(dims.begin() + axis);
  KHEYA_ASSIGN_OR_RETURN(const Shape part, Shape::Create(dims));
  KHEYA_ASSIGN_OR_RETURN(Tensor out, Tensor::Allocate(tensor.dtype(), part, budget));
  const int64_t row = shape.Product(axis, shape.rank());
  const int64_t inner = shape.Product(axis + 1, shape.rank());
  const int64_t block = size * inner;
  for (int64_t outer = 0; block > 0 && outer < shape.Product(0, axis); ++outer) {
    kernels::CopyElements(tensor.view(), outer * row + start * inner, out.mutable_view(),
                          outer * block, block);
  }
  return out;
}

Result<Shape> JoinedShape(std::span<const Tensor> parts, int axis, bool new_axis) {
  if (parts.empty()) return InvalidArgumentError("found no tensors to join, expected one or more");
  const Tensor& first = parts.front();
  std::vector<int64_t> dims(first.shape().begin(), first.shape().end());
  if (new_axis) dims.insert(dims.begin() + axis, 0);
  int64_t total = 0;
  for (const Tensor& part : parts) {
    bool same = part.dtype() == first.dtype() && part.shape().rank() == first.shape().rank();
    for (int a = 0; same && a < first.shape().rank(); ++a) {
      same = part.shape()[a] == first.shape()[a] || (a == axis && !new_axis);
    }
    if (!same) {
      return InvalidArgumentError("found {} and {}, which cannot be joined along axis {}",
                                  first.TypeString(), part.TypeString(), axis);
    }
    if (!CheckedAdd<int64_t>(total, new_axis ? 1 : part.shape()[axis], &total)) {
      return InvalidArgumentError("the joined size of axis {} overflows", axis);
    }
  }
  dims[axis] = total;
  return Shape::Create(dims);
}

void JoinParts(std::span<const Tensor> parts, int axis, const MutableTensorView& out) {
  const int64_t outer_count = out.shape.Product(0, axis);
  if (out.num_elements() == 0) return;
  const int64_t row = out.shape.Product(axis, out.shape.rank());
  int64_t start = 0;
  for (const Tensor& part : parts) {
    const int64_t block = part.num_elements() / outer_count;
    for (int64_t outer = 0; outer < outer_count; ++outer) {
      kernels::CopyElements(part.view(), outer * block, out, outer * row + start, block);
    }
    start += block;
  }
}

}  // namespace kheya
