#include "codec/npy.h"

#include <algorithm>
#include <cstring>

#include "base/string_util.h"
#include "codec/byte_reader.h"

namespace kheya {
namespace {

constexpr std::string_view kEnding = ".npy";

size_t ElementBytes(DType dtype) { return static_cast<size_t>(GetDTypeInfo(dtype).bits) / 8; }

// Copies an array whose first axis is contiguous into row-major order.
void CopyFortran(const Shape& shape, size_t element, const std::byte* in, std::byte* out) {
  std::array<int64_t, kMaxRank> strides{};
  int64_t stride = 1;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  std::array<int64_t, kMaxRank> index{};
  int64_t source = 0;
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    std::memcpy(out + i * element, in + source * element, element);
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      source += strides[axis];
      if (++index[axis] < shape[axis]) break;
      source -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

}  // namespace

void FixNpyElements(const NpyHeader& header, std::span<std::byte> raw) {
  if (header.dtype == DType::kBool) {
    for (std::byte& value : raw) value = std::byte{value != std::byte{0}};
  }
  if (!header.big_endian) return;
  size_t part = ElementBytes(header.dtype);
  if (header.dtype == DType::kComplex64 || header.dtype == DType::kComplex128) part /= 2;
  for (size_t at = 0; at + part <= raw.size(); at += part) {
    std::reverse(raw.data() + at, raw.data() + at + part);
  }
}

Result<Tensor> ReadNpy(std::span<const std::byte> bytes,
                       const std::shared_ptr<MemoryBudget>& budget) {
  KHEYA_ASSIGN_OR_RETURN(const NpyHeader header, ParseNpyHeader(bytes));
  const std::span<const std::byte> data = bytes.subspan(header.data_offset);
  if (data.size() != BytesFor(header.dtype, header.shape.num_elements())) {
    return InvalidArgumentError("found {} bytes of data, expected {} for {}{}", data.size(),
                                BytesFor(header.dtype, header.shape.num_elements()),
                                DTypeName(header.dtype), header.shape.ToString());
  }
  KHEYA_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(header.dtype, header.shape, budget));
  std::byte* out = static_cast<std::byte*>(tensor.mutable_view().data);
  if (header.fortran_order && header.shape.rank() > 1) {
    CopyFortran(header.shape, ElementBytes(header.dtype), data.data(), out);
  } else if (!data.empty()) {
    std::memcpy(out, data.data(), data.size());
  }
  FixNpyElements(header, {out, data.size()});
  return tensor;
}

Result<NamedTensors> ReadNpz(std::span<const std::byte> archive,
                             const std::shared_ptr<MemoryBudget>& budget, const ZipLimits& limits) {
  KHEYA_ASSIGN_OR_RETURN(const ZipReader zip, ZipReader::Open(archive, limits));
  NamedTensors tensors;
  for (const ZipEntry& entry : zip.entries()) {
    const std::string shown = EscapeControls(Abbreviate(entry.name));
    if (!EndsWith(entry.name, kEnding)) {
      return InvalidArgumentError("found zip entry '{}', expected arrays ending in .npy", shown);
    }
    KHEYA_ASSIGN_OR_RETURN(const Buffer content, zip.Read(entry, budget));
    Result<Tensor> tensor = ReadNpy(content.bytes(), budget);
    if (!tensor.ok()) return std::move(tensor).status().WithContext("array '{}'", shown);
    tensors.emplace_back(entry.name.substr(0, entry.name.size() - kEnding.size()),
                         std::move(tensor).value());
  }
  return tensors;
}

Result<std::string> WriteNpz(const NamedTensors& tensors) {
  ZipWriter writer;
  uint64_t total = 0;
  for (const auto& [name, tensor] : tensors) {
    Result<std::string> file = WriteNpy(tensor);
    if (!file.ok()) return std::move(file).status().WithContext("array '{}'", name);
    total += file->size() + 2 * name.size() + 200;
    if (total >= uint64_t{1} << 32 || name.size() > 4000 || tensors.size() > 65000) {
      return ResourceExhaustedError("arrays of {} bytes do not fit one .npz of 4 GiB", total);
    }
    writer.Add(name + std::string(kEnding), AsBytes(*file));
  }
  return writer.Finish();
}

}  // namespace kheya
