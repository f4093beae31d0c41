// What a classifier's output says: probabilities and the best classes.
#ifndef KHEYA_DATA_POSTPROCESS_H_
#define KHEYA_DATA_POSTPROCESS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "data/model_spec.h"
#include "tensor/tensor.h"

namespace kheya {

struct RankedClass {
  int64_t index = 0;
  float score = 0;
  std::string label;  // empty: none known
};

// The scores of each row of a float32 output [batch, classes] (or [classes]: one row), as
// spec.postprocess says: softmax(x)_i = exp(x_i - max x) / sum_j exp(x_j - max x).
// InvalidArgument for another type or rank, or no classes.
Result<std::vector<std::vector<float>>> ClassScores(const ModelSpec& spec, const Tensor& output);

// The `count` highest scores, highest first; equal ones by index, NaN last.
std::vector<RankedClass> TopClasses(const ModelSpec& spec, std::span<const float> scores,
                                    int64_t count);

}  // namespace kheya

#endif  // KHEYA_DATA_POSTPROCESS_H_
