#include "data/metrics.h"

#include <cmath>

namespace kheya {
namespace {

// How many classes come before `label`.
int64_t RankOf(std::span<const float> scores, size_t label) {
  int64_t before = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] > scores[label] || (scores[i] == scores[label] && i < label)) ++before;
  }
  return before;
}

}  // namespace

Status TopKAccuracy::Add(const Tensor& scores, std::span<const int64_t> labels) {
  const Shape& shape = scores.shape();
  if (scores.dtype() != DType::kFloat32 || shape.rank() < 2 ||
      shape[0] != static_cast<int64_t>(labels.size()) || shape.Product(2, shape.rank()) != 1) {
    return InvalidArgumentError("found scores {}, expected float32[{},classes]",
                                scores.TypeString(), labels.size());
  }
  for (const int64_t label : labels) {
    if (label < 0 || label >= shape[1]) {
      return InvalidArgumentError("found the label {}, expected 0 to {}", label, shape[1] - 1);
    }
  }
  const auto classes = static_cast<size_t>(shape[1]);
  const std::span<const float> all = scores.data<float>();
  for (size_t row = 0; row < labels.size(); ++row) {
    const std::span<const float> of_row = all.subspan(row * classes, classes);
    const auto label = static_cast<size_t>(labels[row]);
    if (!std::isnan(of_row[label]) && RankOf(of_row, label) < k_) ++correct_;
    ++count_;
  }
  return OkStatus();
}

}  // namespace kheya
