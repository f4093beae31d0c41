// The negative log likelihood of labels, in double.
#ifndef KHEYA_KERNELS_REFERENCE_LOSS_H_
#define KHEYA_KERNELS_REFERENCE_LOSS_H_

#include <cstdint>
#include <optional>
#include <span>

#include "base/status.h"
#include "tensor/tensor.h"

namespace kheya::kernels {

// Log probabilities are [outer, classes, inner] in memory, labels [outer, inner].
struct LossParams {
  int64_t outer = 0;
  int64_t classes = 0;
  int64_t inner = 0;
  std::optional<int64_t> ignored;  // the label that counts for nothing
};

// losses[n, i] = -x[n, c, i] * w and weights[n, i] = w, with c = labels[n, i] and w =
// class_weights[c] (1 when its data is null); both are 0 for an ignored label. x and class_weights
// are float32 or float64. InvalidArgument for a label that is no class.
Status NegativeLogLikelihood(const LossParams& params, const TensorView& x,
                             std::span<const int64_t> labels, const TensorView& class_weights,
                             std::span<double> losses, std::span<double> weights);

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_LOSS_H_
