#include "kernels/reference/reduce.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/reference/arithmetic.h"
#include "kernels/reference/convert.h"
#include "kernels/reference/elementwise.h"
#include "kernels/reference/scalar_functions.h"

namespace kheya::kernels {
namespace {

// One row: `count` elements of type T, `step` apart, read as ComputeType<T>.
template <typename T>
struct Row {
  const T* data;
  int64_t count;
  int64_t step;

  ComputeType<T> operator[](int64_t i) const { return static_cast<ComputeType<T>>(data[i * step]); }
};

// What sums are kept in.
template <typename T>
using SumType = std::conditional_t<std::is_floating_point_v<ComputeType<T>>, double,
                                   std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

template <typename T, typename Function>
SumType<T> SumOf(const Row<T>& row, Function function) {
  SumType<T> sum = 0;
  for (int64_t i = 0; i < row.count; ++i) {
    sum = AddFn()(sum, function(static_cast<SumType<T>>(row[i])));
  }
  return sum;
}

template <typename T>
SumType<T> Plain(const Row<T>& row) {
  return SumOf(row, [](auto x) { return x; });
}

template <typename T>
SumType<T> Squares(const Row<T>& row) {
  return SumOf(row, [](auto x) { return MulFn()(x, x); });
}

template <typename T>
SumType<T> Product(const Row<T>& row) {
  SumType<T> product = 1;
  for (int64_t i = 0; i < row.count; ++i) {
    product = MulFn()(product, static_cast<SumType<T>>(row[i]));
  }
  return product;
}

// The largest (smallest) element; NaN wins.
template <bool largest, typename T>
ComputeType<T> Extreme(const Row<T>& row) {
  using Compute = ComputeType<T>;
  using Limits = std::numeric_limits<Compute>;
  Compute best = largest ? Limits::lowest() : Limits::max();
  if constexpr (Limits::has_infinity) best = largest ? -Limits::infinity() : Limits::infinity();
  for (int64_t i = 0; i < row.count; ++i) {
    best = largest ? MaxFn()(best, row[i]) : MinFn()(best, row[i]);
    if (IsNan(best)) return best;
    if (IsNan(row[i])) return row[i];
  }
  return best;
}

template <typename T>
double LogSumExp(const Row<T>& row) {
  double largest = -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < row.count; ++i) {
    largest = std::fmax(largest, static_cast<double>(row[i]));
  }
  const double shift = std::isfinite(largest) ? largest : 0.0;
  double sum = 0;
  for (int64_t i = 0; i < row.count; ++i) sum += std::exp(static_cast<double>(row[i]) - shift);
  return std::log(sum) + shift;
}

template <typename T, typename Function>
void ForRows(const ReduceRows& rows, const TensorView& x, const MutableTensorView& y,
             Function function) {
  const T* from = static_cast<const T*>(x.data);
  const auto to = y.as<T>();
  for (int64_t outer = 0; outer < rows.outer; ++outer) {
    for (int64_t inner = 0; inner < rows.inner; ++inner) {
      const Row<T> row{from + outer * rows.count * rows.inner + inner, rows.count, rows.inner};
      const auto result = function(row);
      T& out = to[outer * rows.inner + inner];
      if constexpr (std::is_integral_v<T> && std::is_floating_point_v<decltype(function(row))>) {
        out = FloatToInteger<T>(result);  // the logarithm of a sum that is 0
      } else {
        out = static_cast<T>(result);
      }
    }
  }
}

template <typename T>
void ReduceTyped(Reduction reduction, const ReduceRows& rows, const TensorView& x,
                 const MutableTensorView& y) {
  const auto run = [&](auto function) { ForRows<T>(rows, x, y, function); };
  switch (reduction) {
    case Reduction::kSum:
      return run(Plain<T>);
    case Reduction::kMean:  // ReduceMean refuses the mean of no integers
      // NOLINTNEXTLINE(clang-analyzer-core.DivideZero)
      return run([](const Row<T>& row) { return Plain(row) / static_cast<SumType<T>>(row.count); });
    case Reduction::kMax:
      return run(Extreme<true, T>);
    case Reduction::kMin:
      return run(Extreme<false, T>);
    case Reduction::kProd:
      return run(Product<T>);
    case Reduction::kL1:
      return run([](const Row<T>& row) { return SumOf(row, AbsFn()); });
    case Reduction::kL2:
      return run([](const Row<T>& row) { return std::sqrt(static_cast<double>(Squares(row))); });
    case Reduction::kSumSquare:
      return run(Squares<T>);
    case Reduction::kLogSum:
      return run([](const Row<T>& row) { return std::log(static_cast<double>(Plain(row))); });
    case Reduction::kLogSumExp:
      return run(LogSumExp<T>);
  }
}

template <typename T>
int64_t ArgExtreme(const Row<T>& row, bool largest, bool last) {
  int64_t best = 0;
  for (int64_t i = 1; i < row.count; ++i) {
    const ComputeType<T> now = row[i], before = row[best];
    const bool better = largest ? now > before : now < before;
    const bool nan_wins = IsNan(now) && !IsNan(before);
    const bool equal = now == before || (IsNan(now) && IsNan(before));
    if (nan_wins || better || (equal && last)) best = i;
  }
  return best;
}

template <typename T, typename Function>
void RunAlongTyped(const RunningParams& params, Function function, SumType<T> start,
                   const ReduceRows& rows, const TensorView& x, const MutableTensorView& y) {
  const auto from = x.as<T>();
  const auto to = y.as<T>();
  for (int64_t outer = 0; outer < rows.outer; ++outer) {
    for (int64_t inner = 0; inner < rows.inner; ++inner) {
      SumType<T> running = start;
      for (int64_t i = 0; i < rows.count; ++i) {
        const int64_t along = params.reverse ? rows.count - 1 - i : i;
        const int64_t at = (outer * rows.count + along) * rows.inner + inner;
        const SumType<T> value = static_cast<SumType<T>>(static_cast<ComputeType<T>>(from[at]));
        if (params.exclusive) to[at] = static_cast<T>(running);
        running = function(running, value);
        if (!params.exclusive) to[at] = static_cast<T>(running);
      }
    }
  }
}

}  // namespace

Status Reduce(Reduction reduction, const ReduceRows& rows, const TensorView& x,
              const MutableTensorView& y) {
  const bool extreme = reduction == Reduction::kMax || reduction == Reduction::kMin;
  if (x.dtype == DType::kBool && !extreme) {
    return UnimplementedError("found bool, expected numbers to sum");
  }
  if (reduction == Reduction::kMean && rows.count == 0 && IsInteger(x.dtype)) {
    return InvalidArgumentError("found the mean of no integers");
  }
  return CallWithNumericType(x.dtype,
                             [&]<typename T>(const T&) { ReduceTyped<T>(reduction, rows, x, y); });
}

Status ArgReduce(bool largest, bool last, const ReduceRows& rows, const TensorView& x,
                 const MutableTensorView& y) {
  if (rows.count == 0) return InvalidArgumentError("found an axis of size 0, expected 1 or more");
  return CallWithNumericType(x.dtype, [&]<typename T>(const T&) {
    const T* from = static_cast<const T*>(x.data);
    int64_t* to = static_cast<int64_t*>(y.data);
    for (int64_t outer = 0; outer < rows.outer; ++outer) {
      for (int64_t inner = 0; inner < rows.inner; ++inner) {
        const Row<T> row{from + outer * rows.count * rows.inner + inner, rows.count, rows.inner};
        to[outer * rows.inner + inner] = ArgExtreme(row, largest, last);
      }
    }
  });
}

Status RunAlong(const RunningParams& params, const ReduceRows& rows, const TensorView& x,
                const MutableTensorView& y) {
  return CallWithNumericType(x.dtype, [&]<typename T>(const T&) {
    if (params.what == Running::kSum) {
      RunAlongTyped<T>(params, AddFn(), 0, rows, x, y);
    } else {
      RunAlongTyped<T>(params, MulFn(), 1, rows, x, y);
    }
  });
}

}  // namespace kheya::kernels
