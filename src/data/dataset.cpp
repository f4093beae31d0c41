#include "data/dataset.h"

#include <algorithm>
#include <cstring>

#include "base/file.h"
#include "data/datasets.h"
#include "data/preprocess.h"

namespace kheya {

Result<Tensor> WithChannels(const Tensor& picture, int64_t channels) {
  const Shape& shape = picture.shape();
  if (shape[2] == channels) return picture;
  if (shape[2] != 1) {
    return InvalidArgumentError("found a picture of {} channels, expected {}", shape[2], channels);
  }
  KHEYA_ASSIGN_OR_RETURN(Tensor wide,
                         Tensor::Allocate(DType::kUint8, Shape{shape[0], shape[1], channels}));
  const std::span<const uint8_t> from = picture.data<uint8_t>();
  const std::span<uint8_t> to = wide.mutable_data<uint8_t>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = from[i / static_cast<size_t>(channels)];
  return wide;
}

Status BatchBuilder::Add(const Tensor& picture, int64_t label) {
  const Shape sample = PictureShape(spec_, picture.shape()[0], picture.shape()[1]);
  if (labels_.empty()) {
    sample_ = sample;
    KHEYA_ASSIGN_OR_RETURN(
        input_, Tensor::Allocate(spec_.dtype, Shape{capacity_, sample[0], sample[1], sample[2]}));
  } else if (!(sample == sample_)) {
    return InvalidArgumentError(
        "found a picture {} after one {}, expected one size or a 'size' in the model's spec",
        sample.ToString(), sample_.ToString());
  }
  const size_t bytes = BytesFor(spec_.dtype, sample_.num_elements());
  auto* place = static_cast<std::byte*>(input_.mutable_view().data) + labels_.size() * bytes;
  KHEYA_RETURN_IF_ERROR(PreprocessPicture(spec_, picture.view(), place));
  labels_.push_back(label);
  return OkStatus();
}

Result<Batch> BatchBuilder::Finish() {
  Batch batch;
  if (labels_.empty()) return batch;
  const auto count = static_cast<int64_t>(labels_.size());
  const Shape shape{count, sample_[0], sample_[1], sample_[2]};
  KHEYA_ASSIGN_OR_RETURN(
      batch.input, Tensor::Borrow(spec_.dtype, shape,
                                  input_.bytes().first(BytesFor(spec_.dtype, shape.num_elements())),
                                  input_.owner()));
  batch.labels = std::move(labels_);
  return batch;
}

Result<std::string> IdxPrefix(const std::string& split) {
  if (split == "test") return std::string("t10k");
  if (split == "train") return std::string("train");
  return InvalidArgumentError("found split '{}', expected test or train", split);
}

std::string FindIdxFile(const std::string& folder, const std::string& name) {
  for (const char* ending : {"", ".gz"}) {
    std::string path = folder;
    path.append("/").append(name).append(ending);
    if (FileExists(path)) return path;
  }
  return "";
}

Result<std::unique_ptr<Dataset>> OpenDataset(const std::string& path, const ModelSpec& spec,
                                             const DatasetOptions& options) {
  if (!FileExists(path) && !IsDirectory(path)) return NotFoundError("there is no '{}'", path);
  if (!IsDirectory(path)) return OpenNpz(path, spec).WithContext("dataset '{}'", path);
  KHEYA_ASSIGN_OR_RETURN(const std::string prefix, IdxPrefix(options.split));
  if (!FindIdxFile(path, prefix + "-images-idx3-ubyte").empty()) {
    return OpenIdx(path, prefix, spec).WithContext("dataset '{}'", path);
  }
  return OpenPictureFolder(path, spec).WithContext("dataset '{}'", path);
}

}  // namespace kheya
