// DType: the element types of ONNX, with their names in each convention, and their C++ types.
#ifndef KHEYA_TENSOR_DTYPE_H_
#define KHEYA_TENSOR_DTYPE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tensor/float16.h"

namespace kheya {

enum class DType : uint8_t {
  kUndefined = 0,
#define KHEYA_DTYPE(name, number, bits, onnx, kserve, numpy) k##name = number,
#include "tensor/dtypes.inc"
#undef KHEYA_DTYPE
};

struct DTypeInfo {
  DType dtype;
  int bits;
  const char* name;    // ONNX's, lower case: "float32"
  const char* kserve;  // "FP32"; empty when KServe has none
  const char* numpy;   // "<f4"; empty when numpy has none
};

// The row of a type; for kUndefined and unknown numbers a row named "undefined".
const DTypeInfo& GetDTypeInfo(DType dtype);
inline const char* DTypeName(DType dtype) { return GetDTypeInfo(dtype).name; }
std::optional<DType> DTypeFromName(std::string_view name);
std::optional<DType> DTypeFromKServe(std::string_view name);
std::optional<DType> DTypeFromNumpy(std::string_view descr);
// By TensorProto.DataType number.
std::optional<DType> DTypeFromOnnx(int64_t number);

// Bytes that `count` elements take: packed for types under 8 bits (low bits first, as in ONNX),
// sizeof(std::string) each for strings. The largest size_t when that overflows.
size_t BytesFor(DType dtype, int64_t count);

bool IsFloatingPoint(DType dtype);  // float32, float64, float16, bfloat16, float8*, float6*, float4
bool IsInteger(DType dtype);        // signed and unsigned, not bool

// DTypeOf<float> == DType::kFloat32, and so on.
template <typename T>
inline constexpr DType DTypeOf = DType::kUndefined;
template <>
inline constexpr DType DTypeOf<float> = DType::kFloat32;
template <>
inline constexpr DType DTypeOf<double> = DType::kFloat64;
template <>
inline constexpr DType DTypeOf<Float16> = DType::kFloat16;
template <>
inline constexpr DType DTypeOf<BFloat16> = DType::kBFloat16;
template <>
inline constexpr DType DTypeOf<uint8_t> = DType::kUint8;
template <>
inline constexpr DType DTypeOf<uint16_t> = DType::kUint16;
template <>
inline constexpr DType DTypeOf<uint32_t> = DType::kUint32;
template <>
inline constexpr DType DTypeOf<uint64_t> = DType::kUint64;
template <>
inline constexpr DType DTypeOf<int8_t> = DType::kInt8;
template <>
inline constexpr DType DTypeOf<int16_t> = DType::kInt16;
template <>
inline constexpr DType DTypeOf<int32_t> = DType::kInt32;
template <>
inline constexpr DType DTypeOf<int64_t> = DType::kInt64;
template <>
inline constexpr DType DTypeOf<bool> = DType::kBool;
template <>
inline constexpr DType DTypeOf<std::string> = DType::kString;

}  // namespace kheya

#endif  // KHEYA_TENSOR_DTYPE_H_
