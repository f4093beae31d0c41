// What operators along one axis share: its size and what is outside and inside of it.
#ifndef KHEYA_OPS_ONE_AXIS_H_
#define KHEYA_OPS_ONE_AXIS_H_

#include "base/status.h"
#include "kernels/reference/reduce.h"
#include "tensor/shape.h"

namespace kheya {

// `shape` as [outer, axis, inner].
inline kernels::ReduceRows RowsAlong(const Shape& shape, int axis) {
  return {shape.Product(0, axis), shape[axis], shape.Product(axis + 1, shape.rank())};
}

}  // namespace kheya

#endif  // KHEYA_OPS_ONE_AXIS_H_
