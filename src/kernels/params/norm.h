// Parameters of the normalizations.
#ifndef KHEYA_KERNELS_PARAMS_NORM_H_
#define KHEYA_KERNELS_PARAMS_NORM_H_

#include <cstdint>

namespace kheya::kernels {

// Layer, RMS, instance and group normalization: x is `rows` runs of `size` elements, each
// normalized by its own mean and variance.
struct NormParams {
  int64_t rows = 0;
  int64_t size = 0;
  float epsilon = 1e-5f;
};

// Local response normalization across `size` channels of x [N, C, ...].
struct LrnParams {
  int64_t size = 1;
  float alpha = 1e-4f;
  float beta = 0.75f;
  float bias = 1.0f;
};

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_PARAMS_NORM_H_
