// The tolerance contract: when two computations of the same tensor agree.
//
// Two figures are taken over the whole tensor, both relative to the expected one: the L2 norm of
// the difference over the L2 norm, and the largest difference over the largest magnitude. They
// agree when both are within one bound, which tolerance.inc gives by operator and element type.
// NaNs and infinities must stand at the same places and do not enter the figures.
#ifndef KHEYA_TENSOR_TOLERANCE_H_
#define KHEYA_TENSOR_TOLERANCE_H_

#include <cstdint>
#include <string_view>

#include "base/status.h"
#include "tensor/tensor.h"

namespace kheya {

struct Comparison {
  // Infinite where the expected tensor is all zeros and the other is not, and for unequal strings.
  double relative_l2 = 0;
  double relative_max = 0;
  int64_t worst = -1;    // the index of the largest difference; -1 when all are equal
  int64_t unequal = -1;  // the first index where only one is NaN, or infinities differ; -1: none

  bool Within(double bound) const {
    return unequal < 0 && relative_l2 <= bound && relative_max <= bound;
  }
};

// InvalidArgument when types or shapes differ, Unimplemented for types that are not numbers, bool
// or strings.
Result<Comparison> Compare(const Tensor& got, const Tensor& expected);

// The bound of the row for operator and type, else of the row "*", else 0.
double ToleranceOf(std::string_view op, DType dtype);

// InvalidArgument with both figures, the bound and the worst element when the tensors do not agree.
Status CheckWithin(const Tensor& got, const Tensor& expected, double bound);

}  // namespace kheya

#endif  // KHEYA_TENSOR_TOLERANCE_H_
