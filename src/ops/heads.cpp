#include "ops/heads.h"

namespace kheya {

kernels::HeadStrides HeadStridesOf(int rank, int64_t heads, int64_t length, int64_t size) {
  if (rank == 4) return {heads * length * size, length * size, size};
  return {heads * length * size, size, heads * size};
}

Result<Heads> HeadsOf(const Shape& shape, int64_t num_heads, const char* what) {
  Heads found;
  if (shape.rank() == 4) {
    found = {shape[0], shape[1], shape[2], shape[3], {}};
  } else if (shape.rank() == 3) {
    if (num_heads < 1 || shape[2] % num_heads != 0) {
      return InvalidArgumentError("found {} {} with {} heads, expected heads that divide {}", what,
                                  shape.ToString(), num_heads, shape[2]);
    }
    found = {shape[0], num_heads, shape[1], shape[2] / num_heads, {}};
  } else {
    return InvalidArgumentError("found {} {}, expected rank 3 or 4", what, shape.ToString());
  }
  found.strides = HeadStridesOf(shape.rank(), found.heads, found.length, found.size);
  return found;
}

}  // namespace kheya
