// IDX files, the format of MNIST: a big-endian header (0, 0, type 8: unsigned bytes, rank), the
// dimensions as 32-bit numbers, then the bytes.
#include <algorithm>
#include <array>
#include <optional>

#include "base/file.h"
#include "codec/inflate.h"
#include "data/datasets.h"

namespace kheya {
namespace {

constexpr int64_t kMaxSamples = int64_t{1} << 32;
constexpr int64_t kMaxSide = 16384;

// The bytes of a file, decompressed on the way when it is gzip.
class ByteSource {
 public:
  static Result<ByteSource> Open(const std::string& path) {
    KHEYA_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path));
    ByteSource source(std::move(file));
    if (IsGzip(source.file_.bytes())) {
      KHEYA_ASSIGN_OR_RETURN(source.inflate_,
                             InflateStream::Open(source.file_.bytes(), DeflateForm::kGzip));
    }
    return source;
  }

  // Fills `out`; InvalidArgument when the file ends before.
  Status ReadExactly(std::span<std::byte> out) {
    size_t got = 0;
    if (inflate_) {
      KHEYA_ASSIGN_OR_RETURN(got, inflate_->Read(out));
    } else {
      got = std::min(out.size(), file_.bytes().size() - at_);
      std::copy_n(file_.bytes().begin() + static_cast<int64_t>(at_), got, out.begin());
      at_ += got;
    }
    if (got == out.size()) return OkStatus();
    return InvalidArgumentError("found {} bytes more, expected {}: the file is cut off", got,
                                out.size());
  }

 private:
  explicit ByteSource(MappedFile file) : file_(std::move(file)) {}
  MappedFile file_;
  std::optional<InflateStream> inflate_;
  size_t at_ = 0;
};

struct IdxFile {
  ByteSource source;
  std::vector<int64_t> dims;
};

Result<IdxFile> OpenFile(const std::string& path, size_t rank) {
  KHEYA_ASSIGN_OR_RETURN(ByteSource source, ByteSource::Open(path));
  std::array<std::byte, 4> word{};
  KHEYA_RETURN_IF_ERROR(source.ReadExactly(word));
  const auto byte = [&](int i) { return std::to_integer<uint32_t>(word[i]); };
  if (byte(0) != 0 || byte(1) != 0 || byte(2) != 8 || byte(3) != rank) {
    return InvalidArgumentError(
        "found the header {:02x} {:02x} {:02x} {:02x}, expected 00 00 08 {:02x}", byte(0), byte(1),
        byte(2), byte(3), rank);
  }
  IdxFile file{std::move(source), {}};
  for (size_t i = 0; i < rank; ++i) {
    KHEYA_RETURN_IF_ERROR(file.source.ReadExactly(word));
    file.dims.push_back(byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3));
  }
  return file;
}

class IdxDataset : public Dataset {
 public:
  IdxDataset(IdxFile pictures, IdxFile labels, const ModelSpec& spec)
      : pictures_(std::move(pictures)), labels_(std::move(labels)), spec_(spec) {}

  int64_t size() const override { return pictures_.dims[0]; }
  const char* kind() const override { return "idx"; }

  Result<Batch> Next(int64_t count) override {
    count = std::min(count, size() - at_);
    BatchBuilder builder(spec_, count);
    const Shape shape{pictures_.dims[1], pictures_.dims[2], 1};
    for (int64_t i = 0; i < count; ++i) {
      KHEYA_ASSIGN_OR_RETURN(Tensor picture, Tensor::Allocate(DType::kUint8, shape));
      KHEYA_RETURN_IF_ERROR(
          pictures_.source.ReadExactly(std::as_writable_bytes(picture.mutable_data<uint8_t>())));
      std::byte label{};
      KHEYA_RETURN_IF_ERROR(labels_.source.ReadExactly({&label, 1}));
      KHEYA_ASSIGN_OR_RETURN(picture, WithChannels(picture, spec_.channels()));
      KHEYA_RETURN_IF_ERROR(builder.Add(picture, std::to_integer<int64_t>(label)));
    }
    at_ += count;
    return builder.Finish();
  }

 private:
  IdxFile pictures_;
  IdxFile labels_;
  const ModelSpec spec_;
  int64_t at_ = 0;
};

Result<IdxFile> OpenNamed(const std::string& folder, const std::string& name, size_t rank) {
  const std::string path = FindIdxFile(folder, name);
  if (path.empty()) return NotFoundError("there is no {} and no {}.gz", name, name);
  return OpenFile(path, rank).WithContext("file '{}'", path);
}

}  // namespace

Result<std::unique_ptr<Dataset>> OpenIdx(const std::string& folder, const std::string& prefix,
                                         const ModelSpec& spec) {
  KHEYA_ASSIGN_OR_RETURN(IdxFile pictures, OpenNamed(folder, prefix + "-images-idx3-ubyte", 3));
  KHEYA_ASSIGN_OR_RETURN(IdxFile labels, OpenNamed(folder, prefix + "-labels-idx1-ubyte", 1));
  if (pictures.dims[0] != labels.dims[0]) {
    return InvalidArgumentError("found {} pictures and {} labels, expected as many",
                                pictures.dims[0], labels.dims[0]);
  }
  if (pictures.dims[0] > kMaxSamples || pictures.dims[1] < 1 || pictures.dims[1] > kMaxSide ||
      pictures.dims[2] < 1 || pictures.dims[2] > kMaxSide) {
    return InvalidArgumentError("found pictures of {}x{}, expected sides of 1 to {}",
                                pictures.dims[1], pictures.dims[2], kMaxSide);
  }
  return std::unique_ptr<Dataset>(
      std::make_unique<IdxDataset>(std::move(pictures), std::move(labels), spec));
}

}  // namespace kheya
