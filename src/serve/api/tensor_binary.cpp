#include "serve/api/tensor_binary.h"

#include <bit>
#include <cstring>
#include <limits>

namespace kheya {
namespace {

static_assert(std::endian::native == std::endian::little);

Result<Tensor> ReadStrings(std::string_view bytes, const Shape& shape) {
  // Every element takes at least the 4 bytes of its length.
  if (static_cast<uint64_t>(shape.num_elements()) > bytes.size() / sizeof(uint32_t)) {
    return InvalidArgumentError("found {} bytes, too few for {} elements", bytes.size(),
                                shape.num_elements());
  }
  KHEYA_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(DType::kString, shape));
  for (std::string& text : tensor.mutable_data<std::string>()) {
    uint32_t length = 0;
    if (bytes.size() < sizeof(length)) {
      return InvalidArgumentError("found the end of the data, expected the length of an element");
    }
    std::memcpy(&length, bytes.data(), sizeof(length));
    bytes.remove_prefix(sizeof(length));
    if (length > bytes.size()) {
      return InvalidArgumentError("found an element of {} bytes with {} bytes left", length,
                                  bytes.size());
    }
    text.assign(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  if (!bytes.empty()) {
    return InvalidArgumentError("found {} bytes behind the last element", bytes.size());
  }
  return tensor;
}

Status CheckBooleans(std::string_view bytes) {
  for (const char byte : bytes) {
    if (byte != 0 && byte != 1) {
      return InvalidArgumentError("found byte {} for a BOOL, expected 0 or 1",
                                  static_cast<unsigned char>(byte));
    }
  }
  return OkStatus();
}

Result<size_t> AppendStrings(const Tensor& tensor, AnswerBody* out) {
  const size_t before = out->text().size();
  for (const std::string& text : tensor.data<std::string>()) {
    if (text.size() > std::numeric_limits<uint32_t>::max()) {
      return OutOfRangeError("found a string of {} bytes, expected less than 4 GiB", text.size());
    }
    const uint32_t length = static_cast<uint32_t>(text.size());
    KHEYA_RETURN_IF_ERROR(out->Append({reinterpret_cast<const char*>(&length), sizeof(length)}));
    KHEYA_RETURN_IF_ERROR(out->Append(text));
  }
  return out->text().size() - before;
}

}  // namespace

Result<Tensor> ReadBinaryTensor(std::string_view bytes, DType dtype, const Shape& shape) {
  if (dtype == DType::kString) return ReadStrings(bytes, shape);
  const size_t expected = BytesFor(dtype, shape.num_elements());
  if (bytes.size() != expected) {
    return InvalidArgumentError("found {} bytes, expected {} for {}{}", bytes.size(), expected,
                                GetDTypeInfo(dtype).kserve, shape.ToString());
  }
  if (dtype == DType::kBool) KHEYA_RETURN_IF_ERROR(CheckBooleans(bytes));
  KHEYA_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, shape));
  if (!bytes.empty()) std::memcpy(tensor.mutable_view().data, bytes.data(), bytes.size());
  return tensor;
}

Result<size_t> AppendBinaryTensor(const Tensor& tensor, AnswerBody* out) {
  if (tensor.dtype() == DType::kString) return AppendStrings(tensor, out);
  const std::span<const std::byte> bytes = tensor.bytes();
  KHEYA_RETURN_IF_ERROR(out->Append({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  return bytes.size();
}

}  // namespace kheya
