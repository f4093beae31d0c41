#include "formats/onnx/tensor_reader.h"

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "base/string_util.h"
#include "formats/limits.h"
#include "formats/onnx/typed_data.h"

namespace kheya::onnx {
namespace {

Result<DType> DTypeOfTensor(const TensorProto& proto) {
  std::optional<DType> dtype = DTypeFromOnnx(proto.data_type);
  if (dtype && *dtype != DType::kUndefined) return *dtype;
  return InvalidArgumentError("element type {} is not supported", proto.data_type);
}

// The dimensions are hostile: neither their product nor the bytes may overflow.
Result<Shape> ShapeOfTensor(const std::vector<int64_t>& dims, DType dtype) {
  KHEYA_ASSIGN_OR_RETURN(Shape shape, Shape::Create(dims));
  int64_t bits;
  const int64_t element_bits = std::max<int64_t>(GetDTypeInfo(dtype).bits, 8 * sizeof(std::string));
  if (CheckedMul(shape.num_elements(), element_bits, &bits)) return shape;
  return ResourceExhaustedError("a tensor of {} elements is too large", shape.num_elements());
}

bool HoldsOnlyBools(ByteSpan bytes) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [](std::byte byte) { return std::to_integer<int>(byte) <= 1; });
}

Result<uint64_t> EntryNumber(const TensorProto& proto, std::string_view key, uint64_t missing) {
  for (const auto& [name, text] : proto.external_data) {
    if (name == key) return ParseUint64(text).WithContext("external data: {}", key);
  }
  return missing;
}

std::string_view EntryText(const TensorProto& proto, std::string_view key) {
  for (const auto& [name, text] : proto.external_data) {
    if (name == key) return text;
  }
  return {};
}

// Where element `i` of a sparse tensor lies in the dense one. Indices are [count] or [count, rank].
Result<int64_t> DensePosition(const Tensor& indices, int64_t i, const Shape& dense) {
  const bool linear = indices.shape().rank() == 1;
  const int columns = linear ? 1 : dense.rank();
  int64_t position = 0;
  for (int axis = 0; axis < columns; ++axis) {
    const int64_t index = indices.At<int64_t>(i * columns + axis);
    const int64_t limit = linear ? dense.num_elements() : dense[axis];
    if (index < 0 || index >= limit) {
      return InvalidArgumentError("found sparse index {}, expected 0 to {}", index, limit - 1);
    }
    position = linear ? index : position * limit + index;
  }
  return position;
}

}  // namespace

Result<MappedFile> ExternalFiles::Open(std::string_view location) {
  if (auto it = files_.find(location); it != files_.end()) return it->second;
  if (static_cast<int64_t>(files_.size()) >= limits::kExternalFiles) {
    return ResourceExhaustedError("found more than {} files of external data",
                                  limits::kExternalFiles);
  }
  if (location.size() > limits::kPathBytes) {
    return ResourceExhaustedError("found a path of {} bytes, expected at most {}", location.size(),
                                  limits::kPathBytes);
  }
  KHEYA_ASSIGN_OR_RETURN(const std::string path, ResolveInside(folder_, std::string(location)));
  KHEYA_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path, options_));
  files_.emplace(location, file);
  return file;
}

std::vector<std::string> ExternalFiles::Paths() const {
  std::vector<std::string> paths;
  for (const auto& [location, file] : files_) paths.push_back(file.path());
  return paths;
}

Result<Tensor> TensorReader::Read(const TensorProto& proto) const {
  return ReadUnnamed(proto).WithContext("tensor {}", Quote(proto.name));
}

Result<Tensor> TensorReader::Read(const SparseTensorProto& proto) const {
  return ReadUnnamed(proto).WithContext("sparse tensor {}", Quote(proto.values.name));
}

Result<Tensor> TensorReader::ReadUnnamed(const TensorProto& proto) const {
  KHEYA_ASSIGN_OR_RETURN(const DType dtype, DTypeOfTensor(proto));
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, ShapeOfTensor(proto.dims, dtype));
  if (proto.has_segment) return UnimplementedError("tensors in segments are not supported");
  if (proto.external) return ReadExternal(proto, dtype, shape);
  if (!proto.raw_data || (proto.raw_data->empty() && shape.num_elements() > 0)) {
    return ReadTypedData(proto.message, dtype, shape);
  }
  return ReadBytes(dtype, shape, *proto.raw_data, owner_);
}

Result<Tensor> TensorReader::ReadBytes(DType dtype, const Shape& shape, ByteSpan bytes,
                                       const std::shared_ptr<const void>& owner) const {
  if (dtype == DType::kString) {
    return InvalidArgumentError("found strings as raw data, expected string_data");
  }
  const size_t expected = BytesFor(dtype, shape.num_elements());
  if (bytes.size() != expected) {
    return InvalidArgumentError("found {} bytes of data, expected {} for {}{}", bytes.size(),
                                expected, DTypeName(dtype), shape.ToString());
  }
  const bool bools = dtype == DType::kBool && !HoldsOnlyBools(bytes);
  if (owner && !bools) return Tensor::Borrow(dtype, shape, bytes, owner);
  KHEYA_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, shape));
  auto* out = static_cast<std::byte*>(tensor.mutable_view().data);
  if (!bytes.empty()) std::memcpy(out, bytes.data(), bytes.size());
  if (bools) {
    for (size_t i = 0; i < bytes.size(); ++i) out[i] = std::byte{bytes[i] != std::byte{0}};
  }
  return tensor;
}

Result<Tensor> TensorReader::ReadExternal(const TensorProto& proto, DType dtype,
                                          const Shape& shape) const {
  if (external_ == nullptr) return UnimplementedError("external data is not supported here");
  const std::string_view location = EntryText(proto, "location");
  if (location.empty()) return InvalidArgumentError("external data has no location");
  const uint64_t needed = BytesFor(dtype, shape.num_elements());
  KHEYA_ASSIGN_OR_RETURN(const uint64_t offset, EntryNumber(proto, "offset", 0));
  KHEYA_ASSIGN_OR_RETURN(const uint64_t length, EntryNumber(proto, "length", needed));
  Result<MappedFile> file = external_->Open(location);
  if (!file.ok()) return std::move(file).status().WithContext("external data");
  const ByteSpan bytes = file->bytes();
  if (offset > bytes.size() || length > bytes.size() - offset) {
    return InvalidArgumentError("external data in {} is cut off: found {} bytes, expected {} at {}",
                                Quote(location), bytes.size(), length, offset);
  }
  return ReadBytes(dtype, shape, bytes.subspan(offset, length), file->owner());
}

Result<Tensor> TensorReader::ReadUnnamed(const SparseTensorProto& proto) const {
  KHEYA_ASSIGN_OR_RETURN(const Tensor values, Read(proto.values));
  KHEYA_ASSIGN_OR_RETURN(const Tensor indices, Read(proto.indices));
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, ShapeOfTensor(proto.dims, values.dtype()));
  const size_t width = BytesFor(values.dtype(), 1);
  if (values.dtype() == DType::kString || GetDTypeInfo(values.dtype()).bits < 8) {
    return UnimplementedError("sparse tensors of {} are not supported", DTypeName(values.dtype()));
  }
  if (shape.num_elements() > static_cast<int64_t>(limits::kDenseBytes / width)) {
    return ResourceExhaustedError("{}{} has more than {} bytes when made dense",
                                  DTypeName(values.dtype()), shape.ToString(), limits::kDenseBytes);
  }
  const int64_t count = values.num_elements();
  const bool linear = indices.shape() == Shape{count};
  if (indices.dtype() != DType::kInt64 || values.shape().rank() != 1 ||
      (!linear && indices.shape() != Shape{count, shape.rank()})) {
    return InvalidArgumentError(
        "found values {} and indices {}, expected [n] and int64 [n] or "
        "[n,{}]",
        values.TypeString(), indices.TypeString(), shape.rank());
  }
  KHEYA_ASSIGN_OR_RETURN(Tensor dense, Tensor::Allocate(values.dtype(), shape));
  auto* out = static_cast<std::byte*>(dense.mutable_view().data);
  std::memset(out, 0, dense.num_bytes());
  for (int64_t i = 0; i < count; ++i) {
    KHEYA_ASSIGN_OR_RETURN(const int64_t position, DensePosition(indices, i, shape));
    std::memcpy(out + position * width, values.bytes().data() + i * width, width);
  }
  return dense;
}

}  // namespace kheya::onnx
