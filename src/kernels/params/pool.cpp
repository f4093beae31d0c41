#include "kernels/params/pool.h"

#include <array>

namespace kheya::kernels {

Result<Shape> PoolOutputShape(const PoolParams& params, const Shape& x) {
  KHEYA_RETURN_IF_ERROR(CheckWindow(params.window));
  if (x.rank() != params.window.rank + 2) {
    return InvalidArgumentError("found input {} under a window of {} axes, expected rank {}",
                                x.ToString(), params.window.rank, params.window.rank + 2);
  }
  KHEYA_ASSIGN_OR_RETURN(Spatial positions,
                         WindowPositions(params.window, SpatialOf(x, 2), params.ceil_mode));
  return JoinSpatial(std::array{x[0], x[1]}, positions, params.window.rank);
}

}  // namespace kheya::kernels
