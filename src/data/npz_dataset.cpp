#include <algorithm>
#include <initializer_list>

#include "base/file.h"
#include "codec/npy.h"
#include "data/datasets.h"

namespace kheya {
namespace {

class NpzDataset : public Dataset {
 public:
  NpzDataset(Tensor x, std::vector<int64_t> y, const ModelSpec& spec)
      : x_(std::move(x)), y_(std::move(y)), spec_(spec) {}

  int64_t size() const override { return static_cast<int64_t>(y_.size()); }
  const char* kind() const override { return "npz"; }

  Result<Batch> Next(int64_t count) override {
    count = std::min(count, size() - at_);
    const int64_t first = at_;
    at_ += count;
    if (count == 0) return Batch();
    if (IsPictures()) return NextPictures(first, count);
    Batch batch;
    KHEYA_ASSIGN_OR_RETURN(batch.input, Rows(first, count, 0));
    batch.labels.assign(y_.begin() + first, y_.begin() + first + count);
    return batch;
  }

 private:
  bool IsPictures() const {
    const int rank = x_.shape().rank();
    return x_.dtype() == DType::kUint8 && spec_.has_picture() && (rank == 3 || rank == 4);
  }

  // Rows [first, first + count) of x; with `skip` 1 without the first axis (count 1).
  Result<Tensor> Rows(int64_t first, int64_t count, int skip) const {
    std::vector<int64_t> dims(x_.shape().begin() + skip, x_.shape().end());
    if (skip == 0) dims[0] = count;
    KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(dims));
    const size_t row = BytesFor(x_.dtype(), x_.shape().Product(1, x_.shape().rank()));
    return Tensor::Borrow(
        x_.dtype(), shape,
        x_.bytes().subspan(static_cast<size_t>(first) * row, static_cast<size_t>(count) * row),
        x_.owner());
  }

  Result<Batch> NextPictures(int64_t first, int64_t count) const {
    BatchBuilder builder(spec_, count);
    for (int64_t i = first; i < first + count; ++i) {
      KHEYA_ASSIGN_OR_RETURN(Tensor picture, Rows(i, 1, 1));
      if (picture.shape().rank() == 2) {
        KHEYA_ASSIGN_OR_RETURN(picture,
                               picture.Reshaped(Shape{picture.shape()[0], picture.shape()[1], 1}));
      }
      KHEYA_ASSIGN_OR_RETURN(picture, WithChannels(picture, spec_.channels()));
      KHEYA_RETURN_IF_ERROR(builder.Add(picture, y_[static_cast<size_t>(i)]));
    }
    return builder.Finish();
  }

  const Tensor x_;
  const std::vector<int64_t> y_;
  const ModelSpec spec_;
  int64_t at_ = 0;
};

Result<Tensor> FindArray(const NamedTensors& arrays, std::initializer_list<const char*> names) {
  std::string wanted, found;
  for (const char* name : names) {
    for (const auto& [key, tensor] : arrays) {
      if (key == name) return tensor;
    }
    wanted += (wanted.empty() ? "" : " or ") + std::string(name);
  }
  for (const auto& [key, tensor] : arrays) found += (found.empty() ? "" : ", ") + key;
  return InvalidArgumentError("found the arrays {}, expected {}", found, wanted);
}

}  // namespace

Result<std::unique_ptr<Dataset>> OpenNpz(const std::string& path, const ModelSpec& spec) {
  KHEYA_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  KHEYA_ASSIGN_OR_RETURN(const NamedTensors arrays, ReadNpz(file.bytes()));
  KHEYA_ASSIGN_OR_RETURN(Tensor x, FindArray(arrays, {"x", "images"}));
  KHEYA_ASSIGN_OR_RETURN(const Tensor y, FindArray(arrays, {"y", "labels"}));
  if (x.shape().rank() < 1 || y.shape().rank() != 1 || x.shape()[0] != y.shape()[0]) {
    return InvalidArgumentError("found samples {} and labels {}, expected [count,...] and [count]",
                                x.TypeString(), y.TypeString());
  }
  KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> labels,
                         ToInt64s(y).WithContext("the array of labels"));
  return std::unique_ptr<Dataset>(
      std::make_unique<NpzDataset>(std::move(x), std::move(labels), spec));
}

}  // namespace kheya
