#include "tensor/tensor.h"

#include <algorithm>

namespace kheya {
namespace {

// Strings with the memory that their objects take from a budget.
struct StringStorage {
  StringStorage(size_t count, std::shared_ptr<MemoryBudget> drawn_from)
      : strings(count), budget(std::move(drawn_from)) {}
  ~StringStorage() { budget->Release(strings.size() * sizeof(std::string)); }
  std::vector<std::string> strings;
  std::shared_ptr<MemoryBudget> budget;
};

Result<std::shared_ptr<StringStorage>> AllocateStrings(int64_t count,
                                                       std::shared_ptr<MemoryBudget> budget) {
  if (budget == nullptr) budget = ProcessBudget();
  KHEYA_RETURN_IF_ERROR(budget->Reserve(BytesFor(DType::kString, count)));
  return std::make_shared<StringStorage>(static_cast<size_t>(count), std::move(budget));
}

size_t AlignmentOf(DType dtype) {
  if (dtype == DType::kString) return alignof(std::string);
  const auto bytes = static_cast<size_t>(GetDTypeInfo(dtype).bits) / 8;
  return std::clamp<size_t>(bytes, 1, 8);
}

template <typename T>
std::vector<int64_t> AsInt64s(const Tensor& tensor) {
  std::vector<int64_t> values(static_cast<size_t>(tensor.num_elements()));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<int64_t>(tensor.At<T>(static_cast<int64_t>(i)));
  }
  return values;
}

// Integers of 2 or 4 bits, packed low bits first.
std::vector<int64_t> UnpackInt64s(const Tensor& tensor, int bits, bool is_signed) {
  std::vector<int64_t> values(static_cast<size_t>(tensor.num_elements()));
  const int per_byte = 8 / bits;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto byte = static_cast<unsigned>(tensor.bytes()[i / per_byte]);
    const auto shift = static_cast<unsigned>(i % per_byte) * static_cast<unsigned>(bits);
    const auto value = static_cast<int64_t>((byte >> shift) & ((1u << bits) - 1));
    const int64_t sign = int64_t{1} << (bits - 1);
    values[i] = is_signed && value >= sign ? value - 2 * sign : value;
  }
  return values;
}

}  // namespace

Result<Tensor> Tensor::Allocate(DType dtype, const Shape& shape,
                                const std::shared_ptr<MemoryBudget>& budget) {
  Tensor tensor;
  tensor.dtype_ = dtype;
  tensor.shape_ = shape;
  if (dtype == DType::kUndefined) {
    return InvalidArgumentError("found no element type for a tensor of shape {}", shape.ToString());
  }
  if (dtype == DType::kString) {
    KHEYA_ASSIGN_OR_RETURN(auto storage, AllocateStrings(shape.num_elements(), budget));
    tensor.data_ = storage->strings.data();
    tensor.owner_ = std::move(storage);
    return tensor;
  }
  KHEYA_ASSIGN_OR_RETURN(Buffer allocated,
                         Buffer::Allocate(BytesFor(dtype, shape.num_elements()), budget));
  auto buffer = std::make_shared<Buffer>(std::move(allocated));
  tensor.data_ = buffer->data();
  tensor.owner_ = std::move(buffer);
  return tensor;
}

Result<Tensor> Tensor::Zeros(DType dtype, const Shape& shape,
                             const std::shared_ptr<MemoryBudget>& budget) {
  KHEYA_ASSIGN_OR_RETURN(Tensor tensor, Allocate(dtype, shape, budget));
  if (dtype != DType::kString && tensor.num_bytes() > 0) {
    std::memset(tensor.data_, 0, tensor.num_bytes());
  }
  return tensor;
}

Result<Tensor> Tensor::Borrow(DType dtype, const Shape& shape, std::span<const std::byte> bytes,
                              std::shared_ptr<const void> owner) {
  if (dtype == DType::kString || dtype == DType::kUndefined) {
    return InvalidArgumentError("found type {}, expected one whose elements are bytes",
                                DTypeName(dtype));
  }
  const size_t expected = BytesFor(dtype, shape.num_elements());
  if (bytes.size() != expected) {
    return InvalidArgumentError("found {} bytes, expected {} for {}{}", bytes.size(), expected,
                                DTypeName(dtype), shape.ToString());
  }
  Tensor tensor;
  tensor.dtype_ = dtype;
  tensor.shape_ = shape;
  tensor.data_ = const_cast<std::byte*>(bytes.data());
  tensor.owner_ = std::move(owner);
  return tensor;
}

bool Tensor::aligned() const {
  return reinterpret_cast<uintptr_t>(data_) % AlignmentOf(dtype_) == 0;
}

Result<Tensor> Tensor::Aligned(const std::shared_ptr<MemoryBudget>& budget) const {
  if (aligned()) return *this;
  KHEYA_ASSIGN_OR_RETURN(Tensor copy, Allocate(dtype_, shape_, budget));
  std::memcpy(copy.data_, data_, num_bytes());
  return copy;
}

Result<Tensor> Tensor::Reshaped(const Shape& shape) const {
  if (shape.num_elements() != num_elements()) {
    return InvalidArgumentError("found {} elements of {}, expected {} for shape {}", num_elements(),
                                TypeString(), shape.num_elements(), shape.ToString());
  }
  Tensor reshaped = *this;
  reshaped.shape_ = shape;
  return reshaped;
}

std::string Tensor::TypeString() const { return DTypeName(dtype_) + shape_.ToString(); }

bool BitwiseEqual(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) return false;
  if (a.dtype() == DType::kString) {
    return std::ranges::equal(a.data<std::string>(), b.data<std::string>());
  }
  return a.num_bytes() == 0 || std::memcmp(a.bytes().data(), b.bytes().data(), a.num_bytes()) == 0;
}

Result<std::vector<int64_t>> ToInt64s(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::kInt64:
      return AsInt64s<int64_t>(tensor);
    case DType::kInt32:
      return AsInt64s<int32_t>(tensor);
    case DType::kInt16:
      return AsInt64s<int16_t>(tensor);
    case DType::kInt8:
      return AsInt64s<int8_t>(tensor);
    case DType::kUint8:
    case DType::kBool:
      return AsInt64s<uint8_t>(tensor);
    case DType::kUint16:
      return AsInt64s<uint16_t>(tensor);
    case DType::kUint32:
      return AsInt64s<uint32_t>(tensor);
    case DType::kUint64: {
      std::vector<int64_t> values = AsInt64s<uint64_t>(tensor);
      const auto it = std::find_if(values.begin(), values.end(), [](int64_t v) { return v < 0; });
      if (it == values.end()) return values;
      return OutOfRangeError("found {}, expected an integer that int64 holds",
                             static_cast<uint64_t>(*it));
    }
    case DType::kInt4:
      return UnpackInt64s(tensor, 4, true);
    case DType::kUint4:
      return UnpackInt64s(tensor, 4, false);
    case DType::kInt2:
      return UnpackInt64s(tensor, 2, true);
    case DType::kUint2:
      return UnpackInt64s(tensor, 2, false);
    default:
      return InvalidArgumentError("found {}, expected integers", tensor.TypeString());
  }
}

}  // namespace kheya
