#include "kernels/reference/cast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "base/string_util.h"
#include "kernels/reference/convert.h"
#include "kernels/reference/elementwise.h"

namespace kheya::kernels {
namespace {

template <typename From>
std::string ToText(From value) {
  if constexpr (kIsHalf<From>) {
    return ToText(static_cast<float>(value));
  } else if constexpr (std::is_same_v<From, bool>) {
    return value ? "True" : "False";
  } else if constexpr (std::is_floating_point_v<From>) {
    if (std::isnan(value)) return "nan";
    std::string text = fmt::format("{}", value);
    const bool plain = text.find_first_not_of("-0123456789") == std::string::npos;
    return plain ? text + ".0" : text;
  } else {
    return fmt::format("{}", +value);
  }
}

template <typename To>
Status FromText(const std::string& text, To& out) {
  if constexpr (std::is_same_v<To, bool>) {
    if (EqualsIgnoreCase(text, "true") || EqualsIgnoreCase(text, "false")) {
      out = EqualsIgnoreCase(text, "true");
      return OkStatus();
    }
  }
  if constexpr (std::is_integral_v<To> && std::is_signed_v<To>) {
    KHEYA_ASSIGN_OR_RETURN(int64_t value, ParseInt64(Trim(text)));
    out = ConvertNumber<To>(value);
  } else if constexpr (std::is_integral_v<To> && !std::is_same_v<To, bool>) {
    KHEYA_ASSIGN_OR_RETURN(uint64_t value, ParseUint64(Trim(text)));
    out = ConvertNumber<To>(value);
  } else {
    KHEYA_ASSIGN_OR_RETURN(double value, ParseDouble(ToLower(Trim(text))));
    out = ConvertNumber<To>(value);
  }
  return OkStatus();
}

Status FromStrings(const TensorView& x, const MutableTensorView& y) {
  const auto texts = x.as<std::string>();
  Status status;
  KHEYA_RETURN_IF_ERROR(CallWithNumericType(y.dtype, [&]<typename To>(const To&) {
    const auto to = y.as<To>();
    for (size_t i = 0; i < to.size() && status.ok(); ++i) status = FromText(texts[i], to[i]);
  }));
  return status;
}

Status ToStrings(const TensorView& x, const MutableTensorView& y) {
  return CallWithNumericType(x.dtype, [&]<typename From>(const From&) {
    const auto from = x.as<From>();
    const auto to = y.as<std::string>();
    for (size_t i = 0; i < to.size(); ++i) to[i] = ToText(from[i]);
  });
}

template <typename From>
Status FromNumbers(const TensorView& x, const MutableTensorView& y) {
  return CallWithNumericType(y.dtype, [&]<typename To>(const To&) {
    const auto from = x.as<From>();
    const auto to = y.as<To>();
    for (size_t i = 0; i < to.size(); ++i) to[i] = ConvertNumber<To>(from[i]);
  });
}

template <typename From>
uint8_t ToCode(DType dtype, From value, const SmallOptions& options) {
  if constexpr (kIsHalf<From>) {
    return ToCode(dtype, static_cast<float>(value), options);
  } else {
    if (IsSmallFloat(dtype)) return DoubleToSmall(dtype, static_cast<double>(value), options);
    if constexpr (std::is_floating_point_v<From>) {
      return IntegerToSmall(dtype, FloatToInteger<int64_t>(static_cast<double>(value)));
    } else {
      return IntegerToSmall(dtype, static_cast<int64_t>(value));
    }
  }
}

// To a small type.
Status ToSmall(const TensorView& x, const MutableTensorView& y, const SmallOptions& options) {
  if (y.num_elements() > 0) std::memset(y.data, 0, y.num_bytes());
  return CallWithNumericType(x.dtype, [&]<typename From>(const From&) {
    const auto from = x.as<From>();
    for (size_t i = 0; i < from.size(); ++i) {
      SetCode(y.dtype, y.data, static_cast<int64_t>(i), ToCode(y.dtype, from[i], options));
    }
  });
}

// The elements of a small or a string tensor as doubles, which hold every one exactly that a small
// type can be made from.
Result<std::vector<double>> ToDoubles(const TensorView& x) {
  std::vector<double> numbers(static_cast<size_t>(x.num_elements()));
  if (x.dtype == DType::kString) {
    KHEYA_RETURN_IF_ERROR(FromStrings(x, {DType::kFloat64, x.shape, numbers.data()}));
    return numbers;
  }
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = SmallToDouble(x.dtype, CodeAt(x.dtype, x.data, static_cast<int64_t>(i)));
  }
  return numbers;
}

// From or to a small type.
Status CastSmall(const TensorView& x, const MutableTensorView& y, const SmallOptions& options) {
  if (!IsSmall(x.dtype) && x.dtype != DType::kString) return ToSmall(x, y, options);
  KHEYA_ASSIGN_OR_RETURN(const std::vector<double> numbers, ToDoubles(x));
  if (IsSmallInteger(x.dtype)) {
    const std::vector<int64_t> whole(numbers.begin(), numbers.end());
    return Cast({DType::kInt64, x.shape, whole.data()}, y, options);
  }
  const TensorView wide = {DType::kFloat64, x.shape, numbers.data()};
  if (IsSmall(y.dtype)) return ToSmall(wide, y, options);
  if (y.dtype != DType::kString) return Cast(wide, y);
  const std::vector<float> narrow(numbers.begin(), numbers.end());
  return ToStrings({DType::kFloat32, x.shape, narrow.data()}, y);
}

}  // namespace

Status Cast(const TensorView& x, const MutableTensorView& y, const SmallOptions& options) {
  if (IsSmall(x.dtype) || IsSmall(y.dtype)) return CastSmall(x, y, options);
  if (x.dtype == DType::kString && y.dtype == DType::kString) {
    const auto from = x.as<std::string>();
    std::copy(from.begin(), from.end(), y.as<std::string>().begin());
    return OkStatus();
  }
  if (x.dtype == DType::kString) return FromStrings(x, y);
  if (y.dtype == DType::kString) return ToStrings(x, y);
  Status status;
  KHEYA_RETURN_IF_ERROR(CallWithNumericType(
      x.dtype, [&]<typename From>(const From&) { status = FromNumbers<From>(x, y); }));
  return status;
}

}  // namespace kheya::kernels
