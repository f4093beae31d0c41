#include "formats/package/constants.h"

#include <algorithm>
#include <utility>

#include "base/byte_stream.h"
#include "formats/limits.h"

namespace kheya {
namespace {

// Type, rank, offset, bytes and hash.
constexpr size_t kLeastEntryBytes = 1 + 1 + 8 + 8 + 16;

std::string StringsOf(const Tensor& tensor) {
  ByteWriter writer;
  for (const std::string& text : tensor.data<std::string>()) writer.PutText(text);
  return writer.bytes();
}

Result<Tensor> ReadStrings(const Shape& shape, std::span<const std::byte> bytes) {
  // Each string has at least its length.
  if (static_cast<uint64_t>(shape.num_elements()) > bytes.size() / sizeof(uint64_t)) {
    return InvalidArgumentError("strings are cut");
  }
  KHEYA_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(DType::kString, shape));
  ByteReader reader(bytes);
  for (std::string& text : tensor.mutable_data<std::string>()) text = reader.GetText();
  KHEYA_RETURN_IF_ERROR(reader.Finish());
  return tensor;
}

Result<PackageConstant> ReadOne(ByteReader& reader, std::span<const std::byte> data,
                                const std::shared_ptr<const void>& owner) {
  const auto type = reader.Get<uint8_t>();
  const auto rank = reader.Get<uint8_t>();
  if (rank > kMaxRank) return InvalidArgumentError("found rank {}", rank);
  std::vector<int64_t> dims(rank);
  for (int64_t& dim : dims) dim = reader.Get<int64_t>();
  const auto offset = reader.Get<uint64_t>();
  const auto bytes = reader.Get<uint64_t>();
  PackageConstant constant;
  constant.hash = reader.GetHash();
  if (!reader.ok()) return InvalidArgumentError("the table is cut");
  const DType dtype = GetDTypeInfo(static_cast<DType>(type)).dtype;
  if (dtype == DType::kUndefined) {
    return InvalidArgumentError("found element type {}", type);
  }
  if (offset > data.size() || bytes > data.size() - offset || offset % kAlignment != 0) {
    return InvalidArgumentError("found {} bytes at {}, expected less than {}", bytes, offset,
                                data.size());
  }
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(dims));
  const std::span<const std::byte> content = data.subspan(offset, bytes);
  const bool strings = dtype == DType::kString;
  if ((strings || bytes <= kConstantCheckedAtOnce) && HashBytes(content) != constant.hash) {
    return InvalidArgumentError("its content was changed");
  }
  const auto is_bool = [](std::byte byte) { return byte <= std::byte{1}; };
  if (dtype == DType::kBool && !std::all_of(content.begin(), content.end(), is_bool)) {
    return InvalidArgumentError("found a bool that is neither 0 nor 1");
  }
  if (strings) {
    KHEYA_ASSIGN_OR_RETURN(constant.tensor, ReadStrings(shape, content));
  } else {
    KHEYA_ASSIGN_OR_RETURN(constant.tensor, Tensor::Borrow(dtype, shape, content, owner));
  }
  return constant;
}

std::string_view Zeros(size_t count) {
  static const std::string zeros(kAlignment + kReadableTail, '\0');
  return std::string_view(zeros).substr(0, count);
}

uint64_t Aligned(uint64_t offset) { return (offset + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

Result<std::vector<PackageConstant>> ReadPackageConstants(
    std::span<const std::byte> table, std::span<const std::byte> data,
    const std::shared_ptr<const void>& owner) {
  ByteReader reader(table);
  const size_t count = reader.GetCount(kLeastEntryBytes);
  if (count > static_cast<size_t>(limits::kTensors)) {
    return ResourceExhaustedError("found {} constants, expected at most {}", count,
                                  limits::kTensors);
  }
  std::vector<PackageConstant> constants;
  for (size_t i = 0; i < count; ++i) {
    Result<PackageConstant> constant = ReadOne(reader, data, owner);
    if (!constant.ok()) return std::move(constant).status().WithContext("constant {}", i);
    constants.push_back(std::move(constant).value());
  }
  KHEYA_RETURN_IF_ERROR(reader.Finish().WithContext("the table of constants"));
  return constants;
}

std::string_view ConstantWriter::Entry::Content() const {
  if (tensor.dtype() == DType::kString) return strings;
  return {reinterpret_cast<const char*>(tensor.bytes().data()), tensor.num_bytes()};
}

uint32_t ConstantWriter::Add(const Tensor& tensor) {
  if (tensor.dtype() != DType::kString) {
    return AddEntry({tensor, HashBytes(tensor.bytes()), {}, 0});
  }
  std::string strings = StringsOf(tensor);
  const Hash128 hash = HashString(strings);
  return AddEntry({tensor, hash, std::move(strings), 0});
}

uint32_t ConstantWriter::Add(const PackageConstant& constant) {
  if (constant.tensor.dtype() == DType::kString) return Add(constant.tensor);
  return AddEntry({constant.tensor, constant.hash, {}, 0});
}

uint32_t ConstantWriter::AddEntry(Entry entry) {
  const Shape& shape = entry.tensor.shape();
  const auto [found, added] = index_.emplace(
      Key{entry.tensor.dtype(), {shape.begin(), shape.end()}, entry.hash}, entries_.size());
  if (added) {
    entry.offset = Aligned(end_);
    end_ = entry.offset + entry.Content().size() + kReadableTail;
    entries_.push_back(std::move(entry));
  }
  return found->second;
}

std::string ConstantWriter::Table() const {
  ByteWriter writer;
  writer.Put<uint64_t>(entries_.size());
  for (const Entry& entry : entries_) {
    const Shape& shape = entry.tensor.shape();
    writer.Put(static_cast<uint8_t>(entry.tensor.dtype()));
    writer.Put(static_cast<uint8_t>(shape.rank()));
    for (const int64_t dim : shape) writer.Put(dim);
    writer.Put(entry.offset);
    writer.Put<uint64_t>(entry.Content().size());
    writer.PutHash(entry.hash);
  }
  return writer.bytes();
}

std::vector<std::string_view> ConstantWriter::Pieces() const {
  std::vector<std::string_view> pieces;
  uint64_t end = 0;
  for (const Entry& entry : entries_) {
    pieces.push_back(Zeros(entry.offset - end));
    pieces.push_back(entry.Content());
    end = entry.offset + entry.Content().size();
  }
  pieces.push_back(Zeros(kReadableTail));
  return pieces;
}

}  // namespace kheya
