// Which places along an axis hold the same elements.
#ifndef KHEYA_KERNELS_REFERENCE_UNIQUE_H_
#define KHEYA_KERNELS_REFERENCE_UNIQUE_H_

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "kernels/reference/reduce.h"
#include "tensor/tensor.h"

namespace kheya::kernels {

struct UniquePlaces {
  std::vector<int64_t> first;    // the first place of each distinct slice
  std::vector<int64_t> inverse;  // for each place, the index in `first` of the slice that it holds
  std::vector<int64_t> counts;   // how many places hold it
};

// Slices of x [outer, count, inner] at the same place of the middle axis are compared element by
// element in row-major order; NaN is the largest and equals itself. Distinct slices are in
// ascending order when `sorted`, else in the order of their first places. Numbers, bool and
// strings.
Result<UniquePlaces> FindUnique(bool sorted, const ReduceRows& rows, const TensorView& x);

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_UNIQUE_H_
