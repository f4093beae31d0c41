// Finishing: what is done to sums while they are in registers.
#ifndef KHEYA_KERNELS_PORTABLE_FINISH_H_
#define KHEYA_KERNELS_PORTABLE_FINISH_H_

#include "kernels/call.h"

namespace kheya::simd {

// y = clamp(sum + residual, low, high); NaN stays NaN. The residual lies as y does.
struct Finishing {
  float* y = nullptr;
  const float* residual = nullptr;  // or null; may be y
  bool clamps = false;
  float low = 0;
  float high = 0;
};

// Makes the activation a part of it; false where that must be applied to y after.
bool SetClamp(const Elementwise& activation, Finishing* finishing);

}  // namespace kheya::simd

#endif  // KHEYA_KERNELS_PORTABLE_FINISH_H_
