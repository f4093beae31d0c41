// TensorView: typed, shaped, borrowed memory. Tensor: the same with shared ownership.
//
//   KHEYA_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(DType::kFloat32, Shape{2, 3}));
//   std::span<float> values = t.mutable_data<float>();
//
// Layout is row-major and dense. Types under 8 bits are packed, low bits first. String tensors
// hold std::string objects.
#ifndef KHEYA_TENSOR_TENSOR_H_
#define KHEYA_TENSOR_TENSOR_H_

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/allocator.h"
#include "base/status.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace kheya {

// Borrowed, read-only. Aligned for its type unless said otherwise where it is used.
struct TensorView {
  DType dtype = DType::kUndefined;
  Shape shape;
  const void* data = nullptr;

  int64_t num_elements() const { return shape.num_elements(); }
  size_t num_bytes() const { return BytesFor(dtype, num_elements()); }
  // T must be the type of `dtype`.
  template <typename T>
  std::span<const T> as() const {
    return {static_cast<const T*>(data), static_cast<size_t>(num_elements())};
  }
};

// Borrowed, writable.
struct MutableTensorView {
  DType dtype = DType::kUndefined;
  Shape shape;
  void* data = nullptr;

  int64_t num_elements() const { return shape.num_elements(); }
  size_t num_bytes() const { return BytesFor(dtype, num_elements()); }
  template <typename T>
  std::span<T> as() const {
    return {static_cast<T*>(data), static_cast<size_t>(num_elements())};
  }
  operator TensorView() const { return {dtype, shape, data}; }
};

// Copies share the memory. Writing is the business of whoever allocated it, before sharing.
class Tensor {
 public:
  Tensor() = default;  // undefined: no type, no memory
  // Contents not initialized (strings: empty). Aligned to kAlignment with a readable tail.
  // ResourceExhausted when the budget (null: the process's) refuses.
  static Result<Tensor> Allocate(DType dtype, const Shape& shape,
                                 const std::shared_ptr<MemoryBudget>& budget = nullptr);
  // The same with every element 0, false or the empty string.
  static Result<Tensor> Zeros(DType dtype, const Shape& shape,
                              const std::shared_ptr<MemoryBudget>& budget = nullptr);
  // Shares `bytes`, kept alive by `owner`. May be unaligned and has no readable tail.
  // InvalidArgument when the size is not what type and shape need. Not for strings.
  static Result<Tensor> Borrow(DType dtype, const Shape& shape, std::span<const std::byte> bytes,
                               std::shared_ptr<const void> owner);
  // Copies of values; for constants and tests.
  template <typename T>
  static Tensor FromValues(const Shape& shape, std::span<const T> values);
  template <typename T>
  static Tensor FromValues(const Shape& shape, std::initializer_list<T> values) {
    return FromValues<T>(shape, std::span<const T>(values.begin(), values.size()));
  }
  template <typename T>
  static Tensor Scalar(T value) {
    return FromValues<T>(Shape{}, std::span<const T>(&value, 1));
  }

  bool defined() const { return dtype_ != DType::kUndefined; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t num_elements() const { return shape_.num_elements(); }
  size_t num_bytes() const { return BytesFor(dtype_, num_elements()); }
  // Raw bytes; not for strings.
  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(data_), num_bytes()};
  }
  // True when data() may be read through typed pointers.
  bool aligned() const;
  // This tensor when aligned, else an aligned copy.
  Result<Tensor> Aligned(const std::shared_ptr<MemoryBudget>& budget = nullptr) const;

  // Typed elements; must be aligned and T the tensor's type.
  template <typename T>
  std::span<const T> data() const {
    return {static_cast<const T*>(data_), static_cast<size_t>(num_elements())};
  }
  template <typename T>
  std::span<T> mutable_data() {
    return {static_cast<T*>(data_), static_cast<size_t>(num_elements())};
  }
  // One element, whatever the alignment. Not for strings.
  template <typename T>
  T At(int64_t index) const {
    T value;
    std::memcpy(&value, static_cast<const std::byte*>(data_) + index * sizeof(T), sizeof(T));
    return value;
  }

  TensorView view() const { return {dtype_, shape_, data_}; }
  MutableTensorView mutable_view() { return {dtype_, shape_, data_}; }
  // The same memory under another shape of as many elements.
  Result<Tensor> Reshaped(const Shape& shape) const;
  // What keeps the memory alive.
  const std::shared_ptr<const void>& owner() const { return owner_; }
  // "float32[1,3,224,224]"
  std::string TypeString() const;

 private:
  DType dtype_ = DType::kUndefined;
  Shape shape_;
  void* data_ = nullptr;
  std::shared_ptr<const void> owner_;
};

// Same type, shape and bytes (strings: same text). NaNs with equal bits are equal.
bool BitwiseEqual(const Tensor& a, const Tensor& b);

// The elements of an integer tensor (any integer type or bool) as int64.
Result<std::vector<int64_t>> ToInt64s(const Tensor& tensor);

template <typename T>
Tensor Tensor::FromValues(const Shape& shape, std::span<const T> values) {
  Result<Tensor> tensor = Allocate(DTypeOf<T>, shape);
  if (!tensor.ok()) return Tensor();
  std::span<T> out = tensor->mutable_data<T>();
  for (size_t i = 0; i < out.size() && i < values.size(); ++i) out[i] = values[i];
  return std::move(tensor).value();
}

}  // namespace kheya

#endif  // KHEYA_TENSOR_TENSOR_H_
