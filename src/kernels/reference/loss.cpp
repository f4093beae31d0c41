#include "kernels/reference/loss.h"

#include "kernels/reference/float_dispatch.h"

namespace kheya::kernels {
namespace {

template <typename T>
double Likelihood(const LossParams& params, const T* values, int64_t n, int64_t label, int64_t i) {
  return static_cast<double>(values[(n * params.classes + label) * params.inner + i]);
}

}  // namespace

Status NegativeLogLikelihood(const LossParams& params, const TensorView& x,
                             std::span<const int64_t> labels, const TensorView& class_weights,
                             std::span<double> losses, std::span<double> weights) {
  for (int64_t label : labels) {
    const bool inside = label >= 0 && label < params.classes;
    if (inside || label == params.ignored) continue;
    return InvalidArgumentError("found label {}, expected one in [0, {}]", label,
                                params.classes - 1);
  }
  return CallWithFloatType(x.dtype, [&]<typename T>(const T&) {
    const T* values = static_cast<const T*>(x.data);
    const T* by_class = static_cast<const T*>(class_weights.data);
    for (int64_t n = 0; n < params.outer; ++n) {
      for (int64_t i = 0; i < params.inner; ++i) {
        const int64_t at = n * params.inner + i;
        const int64_t label = labels[at];
        const bool counts = label != params.ignored;
        double weight = counts ? 1.0 : 0.0;
        if (counts && by_class != nullptr) weight = static_cast<double>(by_class[label]);
        weights[at] = weight;
        losses[at] = counts ? -weight * Likelihood(params, values, n, label, i) : 0.0;
      }
    }
  });
}

}  // namespace kheya::kernels
