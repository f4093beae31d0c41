// Reductions: a function of all elements along some axes, for each index of the others.
#ifndef KHEYA_KERNELS_REFERENCE_REDUCE_H_
#define KHEYA_KERNELS_REFERENCE_REDUCE_H_

#include <cstdint>
#include <span>

#include "base/status.h"
#include "tensor/tensor.h"

namespace kheya::kernels {

// Sums of float types are kept in double and rounded once; sums of integers wrap. Over no elements:
// 0 for the sums, 1 for the product, NaN for the mean of floats, minus infinity for the logarithms,
// the lowest (highest) value of the type, infinities included, for the maximum (minimum).
enum class Reduction : uint8_t {
  kSum,
  kMean,
  kMax,
  kMin,
  kProd,
  kL1,         // sum of |x|
  kL2,         // sqrt of the sum of x^2
  kSumSquare,  // sum of x^2
  kLogSum,     // log of the sum
  kLogSumExp,  // log of the sum of exp(x), the maximum taken out first
};

// x as [outer, count, inner] with `count` elements, `inner` apart, reduced for each of the
// outer * inner results.
struct ReduceRows {
  int64_t outer = 1;
  int64_t count = 1;
  int64_t inner = 1;
};

// y: outer * inner elements of x's type. InvalidArgument for the mean of no integers, Unimplemented
// for bool (save kMax and kMin) and what is no number.
Status Reduce(Reduction reduction, const ReduceRows& rows, const TensorView& x,
              const MutableTensorView& y);

// y (int64): the position of the largest (or smallest) element, the first such or the last one.
// NaN counts as larger (smaller) than all others. InvalidArgument for a count of 0.
Status ArgReduce(bool largest, bool last, const ReduceRows& rows, const TensorView& x,
                 const MutableTensorView& y);

// Running sums or products along the axis, in double for float types; those of integers wrap.
enum class Running : uint8_t { kSum, kProduct };
struct RunningParams {
  Running what = Running::kSum;
  bool exclusive = false;  // without the element itself
  bool reverse = false;
};
Status RunAlong(const RunningParams& params, const ReduceRows& rows, const TensorView& x,
                const MutableTensorView& y);

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_REDUCE_H_
