#include "formats/onnx/typed_data.h"

#include <cstring>

#include "tensor/small_types.h"

namespace kheya::onnx {
namespace {

constexpr uint32_t kFloatData = 4;
constexpr uint32_t kInt32Data = 5;
constexpr uint32_t kStringData = 6;
constexpr uint32_t kInt64Data = 7;
constexpr uint32_t kDoubleData = 10;
constexpr uint32_t kUint64Data = 11;

// Calls visit(uint64_t bits) for every entry of field `number`.
template <typename Visit>
Status VisitEntries(ByteSpan message, uint32_t number, Visit visit) {
  ProtobufReader reader(message);
  for (WireField field; reader.Next(field);) {
    if (field.number != number) continue;
    if (number == kFloatData) {
      KHEYA_RETURN_IF_ERROR(reader.VisitFixed32(field, visit));
    } else if (number == kDoubleData) {
      KHEYA_RETURN_IF_ERROR(reader.VisitFixed64(field, visit));
    } else {
      KHEYA_RETURN_IF_ERROR(reader.VisitVarints(field, visit));
    }
  }
  return reader.status();
}

Status CountError(int64_t found, int64_t expected, DType dtype, const Shape& shape) {
  return InvalidArgumentError("found {} values, expected {} for {}{}", found, expected,
                              DTypeName(dtype), shape.ToString());
}

Result<Tensor> ReadStrings(ByteSpan message, const Shape& shape) {
  int64_t count = 0;
  ProtobufReader counter(message);
  for (WireField field; counter.Next(field);) count += field.number == kStringData;
  KHEYA_RETURN_IF_ERROR(counter.status());
  if (count != shape.num_elements()) {
    return CountError(count, shape.num_elements(), DType::kString, shape);
  }
  KHEYA_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(DType::kString, shape));
  std::string* out = tensor.mutable_data<std::string>().data();
  ProtobufReader reader(message);
  for (WireField field; reader.Next(field);) {
    if (field.number != kStringData) continue;
    KHEYA_ASSIGN_OR_RETURN(const std::string_view text, reader.String(field));
    *out++ = std::string(text);
  }
  return tensor;
}

// False when a value of int32_data is outside what `bits` bits can hold, signed or not.
bool FitsInBits(uint64_t raw, size_t bits) {
  const int64_t value = static_cast<int32_t>(raw);
  return bits >= 32 || (value >= -(int64_t{1} << (bits - 1)) && value < (int64_t{1} << bits));
}

// Codes of 6 bits have a value of int32_data each.
Result<Tensor> ReadSixBits(ByteSpan message, DType dtype, const Shape& shape) {
  int64_t count = 0;
  KHEYA_RETURN_IF_ERROR(VisitEntries(message, kInt32Data, [&](uint64_t) { ++count; }));
  if (count != shape.num_elements()) {
    return CountError(count, shape.num_elements(), dtype, shape);
  }
  KHEYA_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Zeros(dtype, shape));
  void* out = tensor.mutable_view().data;
  int64_t at = 0;
  KHEYA_RETURN_IF_ERROR(VisitEntries(message, kInt32Data, [&](uint64_t value) {
    SetCode(dtype, out, at++, static_cast<uint8_t>(value & 0x3f));
  }));
  return tensor;
}

}  // namespace

TypedField TypedFieldOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
    case DType::kComplex64:
      return {kFloatData, 4};
    case DType::kFloat64:
    case DType::kComplex128:
      return {kDoubleData, 8};
    case DType::kInt64:
      return {kInt64Data, 8};
    case DType::kUint32:
      return {kUint64Data, 4};
    case DType::kUint64:
      return {kUint64Data, 8};
    case DType::kString:
      return {kStringData, 0};
    default:
      return {kInt32Data, BytesFor(dtype, 1)};
  }
}

Result<Tensor> ReadTypedData(ByteSpan message, DType dtype, const Shape& shape) {
  if (dtype == DType::kString) return ReadStrings(message, shape);
  const TypedField typed = TypedFieldOf(dtype);
  if (GetDTypeInfo(dtype).bits == 6) return ReadSixBits(message, dtype, shape);
  const uint64_t bytes = BytesFor(dtype, shape.num_elements());
  int64_t count = 0;
  bool fits = true;
  KHEYA_RETURN_IF_ERROR(VisitEntries(message, typed.number, [&](uint64_t value) {
    ++count;
    if (typed.number == kInt32Data) fits = fits && FitsInBits(value, 8 * typed.entry_bytes);
  }));
  const auto expected = static_cast<int64_t>(bytes / typed.entry_bytes);
  if (count != expected) return CountError(count, expected, dtype, shape);
  if (!fits) return InvalidArgumentError("found a value outside the range of {}", DTypeName(dtype));
  KHEYA_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, shape));
  auto* out = static_cast<std::byte*>(tensor.mutable_view().data);
  KHEYA_RETURN_IF_ERROR(VisitEntries(message, typed.number, [&](uint64_t value) {
    if (dtype == DType::kBool) value = value != 0;
    std::memcpy(out, &value, typed.entry_bytes);
    out += typed.entry_bytes;
  }));
  return tensor;
}

}  // namespace kheya::onnx
