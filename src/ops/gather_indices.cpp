#include "ops/gather_indices.h"

#include <algorithm>
#include <type_traits>

#include "kernels/reference/movement.h"

namespace kheya {
namespace {

template <typename T>
T Combine(Reduction reduction, T a, T b) {
  // Integers wrap: their sums and products are made in uint64.
  using Wide = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;
  const Wide x = static_cast<Wide>(a), y = static_cast<Wide>(b);
  switch (reduction) {
    case Reduction::kAdd:
      return static_cast<T>(x + y);
    case Reduction::kMul:
      return static_cast<T>(x * y);
    case Reduction::kMax:
      return std::max(a, b);
    case Reduction::kMin:
      return std::min(a, b);
    default:
      return b;
  }
}

template <typename T>
void ReduceTyped(Reduction reduction, const void* from, void* to, int64_t count) {
  const T* source = static_cast<const T*>(from);
  T* target = static_cast<T*>(to);
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
      target[i] = T(Combine<float>(reduction, target[i], source[i]));
    } else {
      target[i] = Combine<T>(reduction, target[i], source[i]);
    }
  }
}

using ReduceFunction = void (*)(Reduction, const void*, void*, int64_t);

ReduceFunction ReduceFor(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return ReduceTyped<float>;
    case DType::kFloat64:
      return ReduceTyped<double>;
    case DType::kFloat16:
      return ReduceTyped<Float16>;
    case DType::kBFloat16:
      return ReduceTyped<BFloat16>;
    case DType::kInt8:
      return ReduceTyped<int8_t>;
    case DType::kInt16:
      return ReduceTyped<int16_t>;
    case DType::kInt32:
      return ReduceTyped<int32_t>;
    case DType::kInt64:
      return ReduceTyped<int64_t>;
    case DType::kUint8:
      return ReduceTyped<uint8_t>;
    case DType::kUint16:
      return ReduceTyped<uint16_t>;
    case DType::kUint32:
      return ReduceTyped<uint32_t>;
    case DType::kUint64:
      return ReduceTyped<uint64_t>;
    case DType::kBool:
      return ReduceTyped<bool>;
    default:
      return nullptr;
  }
}

}  // namespace

Result<int64_t> NormalizeIndex(int64_t index, int64_t size) {
  if (index < -size || index >= size) {
    return InvalidArgumentError("found index {}, expected one in [{}, {}]", index, -size, size - 1);
  }
  return index < 0 ? index + size : index;
}

Result<std::vector<int64_t>> NormalizedIndices(const Tensor& indices, int64_t size) {
  KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> values, ToInt64s(indices));
  for (int64_t& value : values) {
    KHEYA_ASSIGN_OR_RETURN(value, NormalizeIndex(value, size));
  }
  return values;
}

Result<Reduction> ParseReduction(std::string_view text) {
  if (text == "none" || text.empty()) return Reduction::kNone;
  if (text == "add") return Reduction::kAdd;
  if (text == "mul") return Reduction::kMul;
  if (text == "max") return Reduction::kMax;
  if (text == "min") return Reduction::kMin;
  return InvalidArgumentError("found reduction '{}', expected none, add, mul, max or min", text);
}

Status ReduceInto(Reduction reduction, const TensorView& from, int64_t from_index,
                  const MutableTensorView& to, int64_t to_index, int64_t count) {
  if (reduction == Reduction::kNone) {
    kernels::CopyElements(from, from_index, to, to_index, count);
    return OkStatus();
  }
  const ReduceFunction reduce = ReduceFor(to.dtype);
  if (reduce == nullptr) {
    return UnimplementedError("found a reduction of type {}, which is not supported",
                              DTypeName(to.dtype));
  }
  const size_t size = BytesFor(to.dtype, 1);
  reduce(reduction, static_cast<const std::byte*>(from.data) + from_index * size,
         static_cast<std::byte*>(to.data) + to_index * size, count);
  return OkStatus();
}

}  // namespace kheya
