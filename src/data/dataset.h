// Dataset: labelled samples, read in batches and in order.
//
//   KHEYA_ASSIGN_OR_RETURN(auto data, OpenDataset("pictures/", spec, DatasetOptions()));
//   for (;;) {
//     KHEYA_ASSIGN_OR_RETURN(Batch batch, data->Next(64));
//     if (batch.labels.empty()) break;
//     ...
//   }
#ifndef KHEYA_DATA_DATASET_H_
#define KHEYA_DATA_DATASET_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "data/model_spec.h"
#include "tensor/tensor.h"

namespace kheya {

// Samples of one batch: `input` has their number as its first dimension.
struct Batch {
  Tensor input;
  std::vector<int64_t> labels;  // class indices
};

// Thread safety: none.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual int64_t size() const = 0;
  virtual const char* kind() const = 0;  // "idx", "pictures", "npz"
  // The next samples, at most `count` (1 or more); no labels at the end.
  virtual Result<Batch> Next(int64_t count) = 0;
};

struct DatasetOptions {
  std::string split = "test";  // of an IDX folder: "test" (t10k-*) or "train"
};

// What `path` is decides:
// - a folder with IDX files by the names of MNIST (t10k-images-idx3-ubyte and -labels-idx1-ubyte,
//   also .gz): gray pictures, preprocessed by `spec`;
// - a folder with one folder of pictures for each class, preprocessed by `spec`. Folders are named
//   by label of the spec (case and signs do not matter: "t-shirt-top" is "T-shirt/top") or all by
//   class index; when the spec has no labels, they are numbered in the order of their names;
// - an .npz file with the arrays x and y (or images and labels): x [count, ...] as it is, or
//   preprocessed when it is uint8 pictures [count, height, width(, channels)] and the spec has a
//   size; y [count] of integers.
// NotFound or InvalidArgument says what was found.
Result<std::unique_ptr<Dataset>> OpenDataset(const std::string& path, const ModelSpec& spec,
                                             const DatasetOptions& options);

}  // namespace kheya

#endif  // KHEYA_DATA_DATASET_H_
