// Metrics of accuracy.
#ifndef KHEYA_DATA_METRICS_H_
#define KHEYA_DATA_METRICS_H_

#include <cstdint>
#include <span>

#include "base/status.h"
#include "tensor/tensor.h"

namespace kheya {

// Counts how often the right class is among the k with the highest scores. Of equal scores the
// lower index wins; a NaN never does, and a row whose right score is NaN counts as wrong.
class TopKAccuracy {
 public:
  explicit TopKAccuracy(int64_t k) : k_(k) {}
  // `scores`: float32 [batch, classes], or [batch, classes, 1, 1]; one label a row.
  // InvalidArgument, counting none of them, when they do not fit or a label is not a class.
  Status Add(const Tensor& scores, std::span<const int64_t> labels);
  int64_t count() const { return count_; }
  int64_t correct() const { return correct_; }
  // 0 when nothing was added.
  double value() const {
    return count_ == 0 ? 0 : static_cast<double>(correct_) / static_cast<double>(count_);
  }

 private:
  const int64_t k_;
  int64_t count_ = 0;
  int64_t correct_ = 0;
};

}  // namespace kheya

#endif  // KHEYA_DATA_METRICS_H_
