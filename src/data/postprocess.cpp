#include "data/postprocess.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kheya {
namespace {

void Softmax(std::vector<float>& row) {
  const float max = *std::max_element(row.begin(), row.end());
  float sum = 0;
  for (float& value : row) {
    value = std::exp(value - max);
    sum += value;
  }
  for (float& value : row) value /= sum;
}

}  // namespace

Result<std::vector<std::vector<float>>> ClassScores(const ModelSpec& spec, const Tensor& output) {
  const int rank = output.shape().rank();
  if (output.dtype() != DType::kFloat32 || rank < 1 || output.shape()[rank - 1] == 0 ||
      output.shape().Product(1, rank) != (rank == 1 ? 1 : output.shape()[rank - 1])) {
    return InvalidArgumentError("found an output {}, expected scores float32[batch,classes]",
                                output.TypeString());
  }
  const int64_t classes = output.shape()[rank - 1];
  const std::span<const float> all = output.data<float>();
  std::vector<std::vector<float>> rows;
  for (int64_t at = 0; at < output.num_elements(); at += classes) {
    std::vector<float>& row = rows.emplace_back(all.begin() + at, all.begin() + at + classes);
    if (spec.postprocess == ModelSpec::Postprocess::kSoftmax) Softmax(row);
  }
  return rows;
}

std::vector<RankedClass> TopClasses(const ModelSpec& spec, std::span<const float> scores,
                                    int64_t count) {
  std::vector<int64_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  const auto better = [&](int64_t a, int64_t b) {
    const bool a_nan = std::isnan(scores[a]), b_nan = std::isnan(scores[b]);
    if (a_nan != b_nan) return b_nan;
    if (!a_nan && scores[a] != scores[b]) return scores[a] > scores[b];
    return a < b;
  };
  const auto kept =
      static_cast<size_t>(std::clamp<int64_t>(count, 0, static_cast<int64_t>(scores.size())));
  std::partial_sort(order.begin(), order.begin() + static_cast<int64_t>(kept), order.end(), better);
  std::vector<RankedClass> top;
  for (size_t i = 0; i < kept; ++i) {
    const auto index = static_cast<size_t>(order[i]);
    top.push_back(
        {order[i], scores[index], index < spec.labels.size() ? spec.labels[index] : std::string()});
  }
  return top;
}

}  // namespace kheya
