#include "kernels/reference/softmax.h"

#include <cmath>

#include "kernels/reference/float_dispatch.h"

namespace kheya::kernels {
namespace {

// Calls row(first, step) for the first element of each row and what is between its elements.
template <typename Function>
void ForEachRow(const ReduceRows& rows, Function row) {
  if (rows.count == 0) return;
  for (int64_t outer = 0; outer < rows.outer; ++outer) {
    for (int64_t inner = 0; inner < rows.inner; ++inner) {
      row(outer * rows.count * rows.inner + inner, rows.inner);
    }
  }
}

template <typename T>
int64_t LargestOf(const T* x, int64_t count, int64_t step) {
  int64_t best = 0;
  for (int64_t i = 1; i < count; ++i) {
    if (x[i * step] > x[best * step]) best = i;
  }
  return best;
}

template <typename T>
void SoftmaxRow(const T* x, T* y, int64_t count, int64_t step) {
  const T largest = x[LargestOf(x, count, step) * step];
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    y[i * step] = std::exp(x[i * step] - largest);
    sum += y[i * step];
  }
  const T scale = static_cast<T>(1 / sum);
  for (int64_t i = 0; i < count; ++i) y[i * step] *= scale;
}

template <typename T>
void LogSoftmaxRow(const T* x, T* y, int64_t count, int64_t step) {
  const T largest = x[LargestOf(x, count, step) * step];
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += std::exp(static_cast<double>(x[i * step] - largest));
  const double shift = largest + std::log(sum);
  for (int64_t i = 0; i < count; ++i) y[i * step] = static_cast<T>(x[i * step] - shift);
}

template <typename T>
void HardmaxRow(const T* x, T* y, int64_t count, int64_t step) {
  const int64_t best = LargestOf(x, count, step);
  for (int64_t i = 0; i < count; ++i) y[i * step] = i == best ? T{1} : T{0};
}

template <typename Function>
Status Run(const ReduceRows& rows, const TensorView& x, const MutableTensorView& y,
           Function function) {
  return CallWithFloatType(x.dtype, [&]<typename T>(const T&) {
    ForEachRow(rows, [&](int64_t first, int64_t step) {
      function(static_cast<const T*>(x.data) + first, static_cast<T*>(y.data) + first, rows.count,
               step);
    });
  });
}

}  // namespace

Status Softmax(const ReduceRows& rows, const TensorView& x, const MutableTensorView& y) {
  return Run(rows, x, y, [](auto... args) { SoftmaxRow(args...); });
}

Status LogSoftmax(const ReduceRows& rows, const TensorView& x, const MutableTensorView& y) {
  return Run(rows, x, y, [](auto... args) { LogSoftmaxRow(args...); });
}

Status Hardmax(const ReduceRows& rows, const TensorView& x, const MutableTensorView& y) {
  return Run(rows, x, y, [](auto... args) { HardmaxRow(args...); });
}

}  // namespace kheya::kernels
