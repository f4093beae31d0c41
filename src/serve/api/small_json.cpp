#include "serve/api/small_json.h"

#include <cmath>
#include <vector>

#include "tensor/small_types.h"

namespace kheya {
namespace {

Result<uint8_t> SmallFloat(DType dtype, float value) {
  const uint8_t code =
      DoubleToSmall(dtype, value, {.saturate = false, .rounding = SmallRounding::kNearest});
  const double held = SmallToDouble(dtype, code);
  // The types without infinity and NaN hold their largest number, or 0, in place of them.
  const bool same_kind = std::isnan(value)   ? std::isnan(held)
                         : std::isinf(value) ? std::isinf(held)
                                             : std::isfinite(held);
  const int bits = GetDTypeInfo(dtype).bits;
  const auto largest = static_cast<uint8_t>((1 << (bits - 1)) - 1);  // of those types
  const bool beyond = bits < 8 && std::abs(value) > SmallToDouble(dtype, largest);
  if (same_kind && !beyond) return code;
  return OutOfRangeError("found {}, which does not fit in {}", value, DTypeName(dtype));
}

Result<uint8_t> SmallInteger(DType dtype, int32_t value) {
  if (value >= SmallLowest(dtype) && value <= SmallHighest(dtype)) {
    return IntegerToSmall(dtype, value);
  }
  return OutOfRangeError("found {}, expected {} to {} for {}", value, SmallLowest(dtype),
                         SmallHighest(dtype), DTypeName(dtype));
}

}  // namespace

Result<Tensor> NarrowToSmall(const Tensor& wide, DType dtype) {
  KHEYA_ASSIGN_OR_RETURN(Tensor out, Tensor::Zeros(dtype, wide.shape()));
  void* codes = out.mutable_view().data;
  for (int64_t i = 0; i < wide.num_elements(); ++i) {
    KHEYA_ASSIGN_OR_RETURN(const uint8_t code, IsSmallFloat(dtype)
                                                   ? SmallFloat(dtype, wide.At<float>(i))
                                                   : SmallInteger(dtype, wide.At<int32_t>(i)));
    SetCode(dtype, codes, i, code);
  }
  return out;
}

Result<Tensor> JoinComplex(const Tensor& parts, DType dtype) {
  const std::span<const int64_t> dims = parts.shape().dims();
  std::vector<int64_t> joined(dims.begin(), dims.end());
  if (!joined.empty() && joined.back() == 2) {
    joined.pop_back();
  } else if (parts.num_elements() > 0) {
    return InvalidArgumentError("found shape {}, expected pairs [real, imaginary] of {}",
                                parts.shape().ToString(), DTypeName(dtype));
  }
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(joined));
  return Tensor::Borrow(dtype, shape, parts.bytes(), parts.owner());
}

}  // namespace kheya
