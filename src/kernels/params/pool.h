// Parameters of the pools.
#ifndef KHEYA_KERNELS_PARAMS_POOL_H_
#define KHEYA_KERNELS_PARAMS_POOL_H_

#include <cstdint>

#include "base/status.h"
#include "kernels/params/window.h"
#include "tensor/shape.h"

namespace kheya::kernels {

enum class PoolKind : uint8_t { kMax, kAverage, kLp };

// Padding is explicit, as in ConvParams. Padding never takes part in a maximum.
struct PoolParams {
  Window window;
  PoolKind kind = PoolKind::kMax;
  bool ceil_mode = false;
  bool count_include_pad = false;  // kAverage: padding (not what ceil_mode adds) counts as zeros
  int64_t p = 2;                   // kLp
};

// Shape of y [N, C, positions...] for x [N, C, spatial...]. InvalidArgument naming what does not
// fit.
Result<Shape> PoolOutputShape(const PoolParams& params, const Shape& x);

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_PARAMS_POOL_H_
