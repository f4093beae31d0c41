#include "tensor/tolerance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tensor/small_types.h"

namespace kheya {
namespace {

struct Row {
  std::string_view op;
  DType dtype;
  double bound;
};

constexpr Row kRows[] = {
#define KHEYA_TOLERANCE(op, dtype, bound) {op, DType::k##dtype, bound},
#include "tensor/tolerance.inc"
#undef KHEYA_TOLERANCE
};

const Row* FindRow(std::string_view op, DType dtype) {
  const auto found = std::ranges::find_if(
      kRows, [&](const Row& row) { return row.op == op && row.dtype == dtype; });
  return found == std::end(kRows) ? nullptr : found;
}

template <typename T>
std::vector<double> Widened(const Tensor& tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    values.push_back(static_cast<double>(tensor.At<T>(i)));
  }
  return values;
}

std::vector<double> Decoded(const Tensor& tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    values.push_back(
        SmallToDouble(tensor.dtype(), CodeAt(tensor.dtype(), tensor.bytes().data(), i)));
  }
  return values;
}

Result<std::vector<double>> ToDoubles(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::kFloat32:
      return Widened<float>(tensor);
    case DType::kFloat64:
      return Widened<double>(tensor);
    case DType::kFloat16:
      return Widened<Float16>(tensor);
    case DType::kBFloat16:
      return Widened<BFloat16>(tensor);
    default:
      if (IsSmallFloat(tensor.dtype())) return Decoded(tensor);
      return UnimplementedError("found element type {}, expected numbers, bool or strings",
                                DTypeName(tensor.dtype()));
  }
}

// An exact comparison: any difference is infinitely large.
template <typename Equal>
Comparison CompareExactly(int64_t count, Equal equal) {
  Comparison comparison;
  for (int64_t i = 0; i < count; ++i) {
    if (equal(i)) continue;
    comparison.worst = i;
    comparison.relative_l2 = comparison.relative_max = std::numeric_limits<double>::infinity();
    break;
  }
  return comparison;
}

double Ratio(double difference, double reference) {
  if (difference == 0) return 0;
  return reference == 0 ? std::numeric_limits<double>::infinity() : difference / reference;
}

Comparison CompareNumbers(const std::vector<double>& got, const std::vector<double>& expected) {
  Comparison comparison;
  double squares = 0, reference_squares = 0, largest = 0, reference_largest = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    if (!std::isfinite(got[i]) || !std::isfinite(expected[i])) {
      const bool same = got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i]));
      if (!same && comparison.unequal < 0) comparison.unequal = static_cast<int64_t>(i);
      continue;
    }
    const double difference = std::fabs(got[i] - expected[i]);
    if (difference > largest) comparison.worst = static_cast<int64_t>(i);
    largest = std::max(largest, difference);
    reference_largest = std::max(reference_largest, std::fabs(expected[i]));
    squares += difference * difference;
    reference_squares += expected[i] * expected[i];
  }
  comparison.relative_l2 = Ratio(std::sqrt(squares), std::sqrt(reference_squares));
  comparison.relative_max = Ratio(largest, reference_largest);
  return comparison;
}

std::string ElementText(const Tensor& tensor, int64_t index) {
  if (tensor.dtype() == DType::kString) return "'" + tensor.data<std::string>()[index] + "'";
  const Result<std::vector<double>> values = ToDoubles(tensor);
  if (values.ok()) return fmt::format("{}", (*values)[index]);
  const Result<std::vector<int64_t>> integers = ToInt64s(tensor);
  return integers.ok() ? fmt::format("{}", (*integers)[index]) : "another value";
}

}  // namespace

Result<Comparison> Compare(const Tensor& got, const Tensor& expected) {
  if (got.dtype() != expected.dtype() || !(got.shape() == expected.shape())) {
    return InvalidArgumentError("found {}, expected {}", got.TypeString(), expected.TypeString());
  }
  const int64_t count = got.num_elements();
  if (got.dtype() == DType::kString) {
    return CompareExactly(count, [&](int64_t i) {
      return got.data<std::string>()[i] == expected.data<std::string>()[i];
    });
  }
  if (IsInteger(got.dtype()) || got.dtype() == DType::kBool) {
    const size_t size = BytesFor(got.dtype(), 1);
    if (IsSmallInteger(got.dtype())) {
      return CompareExactly(count, [&](int64_t i) {
        return CodeAt(got.dtype(), got.bytes().data(), i) ==
               CodeAt(got.dtype(), expected.bytes().data(), i);
      });
    }
    return CompareExactly(count, [&](int64_t i) {
      return std::ranges::equal(got.bytes().subspan(i * size, size),
                                expected.bytes().subspan(i * size, size));
    });
  }
  KHEYA_ASSIGN_OR_RETURN(std::vector<double> values, ToDoubles(got));
  KHEYA_ASSIGN_OR_RETURN(std::vector<double> reference, ToDoubles(expected));
  return CompareNumbers(values, reference);
}

double ToleranceOf(std::string_view op, DType dtype) {
  const Row* row = FindRow(op, dtype);
  if (row == nullptr) row = FindRow("*", dtype);
  return row == nullptr ? 0 : row->bound;
}

Status CheckWithin(const Tensor& got, const Tensor& expected, double bound) {
  KHEYA_ASSIGN_OR_RETURN(Comparison comparison, Compare(got, expected));
  if (comparison.Within(bound)) return OkStatus();
  const int64_t at = comparison.unequal >= 0 ? comparison.unequal : comparison.worst;
  return InvalidArgumentError(
      "found relative errors of {:.3g} (L2) and {:.3g} (largest), expected at most {:.3g}; "
      "element {}: found {}, expected {}",
      comparison.relative_l2, comparison.relative_max, bound, at, ElementText(got, at),
      ElementText(expected, at));
}

}  // namespace kheya
