// CompareValues of backend_cases.h.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "formats/conformance/backend_cases.h"
#include "kernels/reference/numeric_dispatch.h"
#include "tensor/small_types.h"

namespace kheya::conformance {
namespace {

struct Tolerance {
  double relative;
  double absolute;
};

template <typename T>
Status CompareFloats(const Tensor& found, const Tensor& expected, Tolerance tolerance) {
  for (int64_t i = 0; i < found.num_elements(); ++i) {
    const auto a = static_cast<double>(found.At<T>(i));
    const auto b = static_cast<double>(expected.At<T>(i));
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (std::abs(a - b) <= tolerance.absolute + tolerance.relative * std::abs(b) &&
        std::isfinite(b)) {
      continue;
    }
    return InvalidArgumentError("element {}: found {}, expected {}", i, a, b);
  }
  return OkStatus();
}

Status CompareExactly(const Tensor& found, const Tensor& expected) {
  if (BitwiseEqual(found, expected)) return OkStatus();
  if (found.dtype() == DType::kString) return InvalidArgumentError("strings differ");
  const std::span<const std::byte> a = found.bytes();
  const std::span<const std::byte> b = expected.bytes();
  size_t at = 0;
  while (at < a.size() && a[at] == b[at]) ++at;
  const size_t width = std::max<size_t>(BytesFor(found.dtype(), 1), 1);
  return InvalidArgumentError("element {} differs (first byte {} against {})", at / width,
                              std::to_integer<int>(a[at]), std::to_integer<int>(b[at]));
}

// The same numbers, NaN equal to NaN whatever its code.
Status CompareSmallFloats(const Tensor& found, const Tensor& expected) {
  for (int64_t i = 0; i < found.num_elements(); ++i) {
    const auto number = [&](const Tensor& tensor) {
      return SmallToDouble(tensor.dtype(), CodeAt(tensor.dtype(), tensor.bytes().data(), i));
    };
    const double a = number(found);
    const double b = number(expected);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    return InvalidArgumentError("element {}: found {}, expected {}", i, a, b);
  }
  return OkStatus();
}

Status CompareTensors(const Tensor& found, const Tensor& expected, Tolerance tolerance) {
  if (found.dtype() != expected.dtype() || found.shape() != expected.shape()) {
    return InvalidArgumentError("found {}, expected {}", found.TypeString(), expected.TypeString());
  }
  switch (found.dtype()) {
    case DType::kFloat32:
      return CompareFloats<float>(found, expected, tolerance);
    case DType::kFloat64:
      return CompareFloats<double>(found, expected, tolerance);
    case DType::kFloat16:
      return CompareFloats<Float16>(found, expected, tolerance);
    case DType::kBFloat16:
      // As ONNX's runner does: at least two units of the last place.
      tolerance.relative = std::max(tolerance.relative, 1.0 / 64);
      return CompareFloats<BFloat16>(found, expected, tolerance);
    default:
      return IsSmallFloat(found.dtype()) ? CompareSmallFloats(found, expected)
                                         : CompareExactly(found, expected);
  }
}

template <typename Map>
Status CompareMaps(const Map& found, const Map& expected, Tolerance tolerance) {
  if (found.size() != expected.size()) {
    return InvalidArgumentError("found {} keys, expected {}", found.size(), expected.size());
  }
  for (const auto& [key, value] : expected) {
    const auto other = found.find(key);
    if (other == found.end()) return InvalidArgumentError("found no key '{}'", key);
    KHEYA_RETURN_IF_ERROR(
        CompareValues(other->second, value, tolerance.relative, tolerance.absolute)
            .WithContext("key '{}'", key));
  }
  return OkStatus();
}

}  // namespace

Status CompareValues(const Value& found, const Value& expected, double relative, double absolute) {
  if (found.empty() || expected.empty()) {
    if (found.empty() && expected.empty()) return OkStatus();
    return InvalidArgumentError("found {}, expected {}", found.empty() ? "nothing" : "a value",
                                expected.empty() ? "nothing" : "a value");
  }
  if (found.is_tensor() && expected.is_tensor()) {
    return CompareTensors(found.tensor(), expected.tensor(), {relative, absolute});
  }
  if (found.int64_map() != nullptr && expected.int64_map() != nullptr) {
    return CompareMaps(*found.int64_map(), *expected.int64_map(), {relative, absolute});
  }
  if (found.string_map() != nullptr && expected.string_map() != nullptr) {
    return CompareMaps(*found.string_map(), *expected.string_map(), {relative, absolute});
  }
  const Sequence* a = found.sequence();
  const Sequence* b = expected.sequence();
  if (a == nullptr || b == nullptr) {
    return InvalidArgumentError("found {}, expected {}", TypeOf(found).ToString(),
                                TypeOf(expected).ToString());
  }
  if (a->size() != b->size()) {
    return InvalidArgumentError("found {} elements, expected {}", a->size(), b->size());
  }
  for (size_t i = 0; i < a->size(); ++i) {
    KHEYA_RETURN_IF_ERROR(
        CompareValues((*a)[i], (*b)[i], relative, absolute).WithContext("element {}", i));
  }
  return OkStatus();
}

namespace {

// The elements as double; nothing for types without numbers.
std::vector<double> Numbers(const Tensor& tensor) {
  std::vector<double> numbers;
  const auto collect = [&]<typename T>(const T&) {
    for (int64_t i = 0; i < tensor.num_elements(); ++i) {
      numbers.push_back(static_cast<double>(tensor.At<T>(i)));
    }
  };
  (void)kernels::CallWithNumericType(tensor.dtype(), collect);
  return numbers;
}

Status CompareRandomTensors(const Tensor& found, const Tensor& expected) {
  if (found.dtype() != expected.dtype() || found.shape() != expected.shape()) {
    return InvalidArgumentError("found {}, expected {}", found.TypeString(), expected.TypeString());
  }
  const std::vector<double> wanted = Numbers(expected);
  if (wanted.empty()) return OkStatus();
  const auto [low, high] = std::ranges::minmax_element(wanted);
  const double slack = IsFloatingPoint(found.dtype()) ? *high - *low : 0;
  for (double number : Numbers(found)) {
    if (number >= *low - slack && number <= *high + slack) continue;
    return InvalidArgumentError("found {}, expected a number of about {} to {}", number, *low,
                                *high);
  }
  return OkStatus();
}

}  // namespace

Status CompareRandomValues(const Value& found, const Value& expected) {
  if (found.is_tensor() && expected.is_tensor()) {
    return CompareRandomTensors(found.tensor(), expected.tensor());
  }
  return UnimplementedError("only tensors of random numbers can be compared");
}

}  // namespace kheya::conformance
