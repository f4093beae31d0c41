// Pools in plain loops, on float32 or float64 (maximum: also int8 and uint8). Sums are kept in
// double.
#ifndef KHEYA_KERNELS_REFERENCE_POOL_H_
#define KHEYA_KERNELS_REFERENCE_POOL_H_

#include <cstdint>
#include <span>

#include "base/status.h"
#include "kernels/params/pool.h"
#include "tensor/tensor.h"

namespace kheya::kernels {

// y shaped by PoolOutputShape. A NaN in a window is its maximum. A window that lies in the padding
// alone has the maximum minus infinity (integers: the lowest) and the average 0.
Status Pool(const PoolParams& params, const TensorView& x, const MutableTensorView& y);

// Maximum that also tells where: for each element of y the flat index into x, -1 for a window
// without elements. With `column_major`, indices within each image count height fastest (axes
// reversed).
Status MaxPoolWithIndices(const PoolParams& params, const TensorView& x, const MutableTensorView& y,
                          std::span<int64_t> indices, bool column_major);

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_POOL_H_
