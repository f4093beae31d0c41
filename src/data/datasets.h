// The kinds of datasets; OpenDataset chooses among them.
#ifndef KHEYA_DATA_DATASETS_H_
#define KHEYA_DATA_DATASETS_H_

#include <memory>
#include <string>

#include "data/dataset.h"

namespace kheya {

// The path of `name` in `folder`, or with ".gz"; empty when there is neither.
std::string FindIdxFile(const std::string& folder, const std::string& name);
// "t10k" or "train".
Result<std::string> IdxPrefix(const std::string& split);

Result<std::unique_ptr<Dataset>> OpenIdx(const std::string& folder, const std::string& prefix,
                                         const ModelSpec& spec);
Result<std::unique_ptr<Dataset>> OpenPictureFolder(const std::string& folder,
                                                   const ModelSpec& spec);
Result<std::unique_ptr<Dataset>> OpenNpz(const std::string& path, const ModelSpec& spec);

// A uint8 picture [height, width, 1 or 3] with as many channels as `channels` (gray is repeated).
// InvalidArgument for colour where gray is expected.
Result<Tensor> WithChannels(const Tensor& picture, int64_t channels);

// Collects preprocessed pictures into one batch.
class BatchBuilder {
 public:
  BatchBuilder(const ModelSpec& spec, int64_t capacity) : spec_(spec), capacity_(capacity) {}
  // `picture`: uint8 [height, width, spec.channels()]. All must give the same shape.
  Status Add(const Tensor& picture, int64_t label);
  Result<Batch> Finish();

 private:
  const ModelSpec& spec_;
  const int64_t capacity_;
  Shape sample_;
  Tensor input_;
  std::vector<int64_t> labels_;
};

}  // namespace kheya

#endif  // KHEYA_DATA_DATASETS_H_
