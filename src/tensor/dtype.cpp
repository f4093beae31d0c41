#include "tensor/dtype.h"

#include <algorithm>
#include <limits>

namespace kheya {
namespace {

constexpr DTypeInfo kTypes[] = {
    {DType::kUndefined, 0, "undefined", "", ""},
#define KHEYA_DTYPE(name, number, bits, onnx, kserve, numpy) \
  {DType::k##name, bits, onnx, kserve, numpy},
#include "tensor/dtypes.inc"
#undef KHEYA_DTYPE
};

template <typename Matches>
std::optional<DType> FindType(Matches matches) {
  for (const DTypeInfo& info : kTypes) {
    if (info.dtype != DType::kUndefined && matches(info)) return info.dtype;
  }
  return std::nullopt;
}

}  // namespace

const DTypeInfo& GetDTypeInfo(DType dtype) {
  const auto index = static_cast<size_t>(dtype);
  return index < std::size(kTypes) ? kTypes[index] : kTypes[0];
}

std::optional<DType> DTypeFromName(std::string_view name) {
  return FindType([&](const DTypeInfo& info) { return name == info.name; });
}

std::optional<DType> DTypeFromKServe(std::string_view name) {
  return FindType([&](const DTypeInfo& info) { return !name.empty() && name == info.kserve; });
}

std::optional<DType> DTypeFromNumpy(std::string_view descr) {
  return FindType([&](const DTypeInfo& info) { return !descr.empty() && descr == info.numpy; });
}

std::optional<DType> DTypeFromOnnx(int64_t number) {
  return FindType(
      [&](const DTypeInfo& info) { return number == static_cast<int64_t>(info.dtype); });
}

size_t BytesFor(DType dtype, int64_t count) {
  constexpr size_t kMost = std::numeric_limits<size_t>::max();
  if (count < 0) return kMost;
  const auto elements = static_cast<size_t>(count);
  if (dtype == DType::kString) {
    return elements > kMost / sizeof(std::string) ? kMost : elements * sizeof(std::string);
  }
  const auto bits = static_cast<size_t>(GetDTypeInfo(dtype).bits);
  if (bits == 0) return 0;
  if (bits >= 8) return elements > kMost / (bits / 8) ? kMost : elements * (bits / 8);
  return elements / 8 * bits + (elements % 8 * bits + 7) / 8;
}

bool IsFloatingPoint(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
    case DType::kFloat64:
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E4M3FNUZ:
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FNUZ:
    case DType::kFloat8E8M0:
    case DType::kFloat4E2M1:
    case DType::kFloat6E2M3:
    case DType::kFloat6E3M2:
      return true;
    default:
      return false;
  }
}

bool IsInteger(DType dtype) {
  switch (dtype) {
    case DType::kUint8:
    case DType::kInt8:
    case DType::kUint16:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64:
    case DType::kUint32:
    case DType::kUint64:
    case DType::kUint4:
    case DType::kInt4:
    case DType::kUint2:
    case DType::kInt2:
      return true;
    default:
      return false;
  }
}

}  // namespace kheya
