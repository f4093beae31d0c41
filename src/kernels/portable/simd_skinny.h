// Products of a few rows with packed weights, for the best instruction set of this processor (by
// Highway): the weights are read once, in the order in which they lie.
#ifndef KHEYA_KERNELS_PORTABLE_SIMD_SKINNY_H_
#define KHEYA_KERNELS_PORTABLE_SIMD_SKINNY_H_

#include <cstddef>

namespace kheya::simd {

// Columns are cut into panels, the last of which is as wide as whole vectors that hold the rest.
struct SkinnyWidths {
  size_t vector = 0;
  size_t panel = 0;
};
SkinnyWidths SkinnyWidthsHere();

// y [m, n] = a [m, k] b + bias + residual, then Relu where asked. A panel is k rows of its columns,
// those behind n being 0. The bias (null: none) is filled up in the same way; `residual` (null:
// none) is of y's shape and may be y.
struct SkinnyProduct {
  size_t m = 0;
  size_t n = 0;
  size_t k = 0;
  const float* a = nullptr;
  const float* panels = nullptr;
  const float* bias = nullptr;
  const float* residual = nullptr;
  float* y = nullptr;
  bool relu = false;
};

// Panels [begin, end).
void Skinny(const SkinnyProduct& product, size_t begin, size_t end);

}  // namespace kheya::simd

#endif  // KHEYA_KERNELS_PORTABLE_SIMD_SKINNY_H_
