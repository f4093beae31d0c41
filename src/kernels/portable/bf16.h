// bfloat16 as a storage type: inner loops on runs of it, and float operands of either type read and
// written as float32. Elements are their bits, as in tensor/float16.h; conversions are exact or
// round to nearest even, NaN stays NaN.
#ifndef KHEYA_KERNELS_PORTABLE_BF16_H_
#define KHEYA_KERNELS_PORTABLE_BF16_H_

#include <cstddef>
#include <cstdint>

#include "kernels/call.h"

namespace kheya {

// This processor multiplies bfloat16 and adds in float32.
bool HasBf16Arithmetic();

// float32 or bfloat16.
inline bool IsFloat(const TensorDesc& desc) {
  return desc.dtype == DType::kFloat32 || desc.dtype == DType::kBFloat16;
}
// Every input and output that is present is float32 or bfloat16, and at least one is bfloat16.
bool MixesBf16(const KernelCall& call);

namespace simd {

void Widen(const uint16_t* x, float* y, size_t count);
void Narrow(const float* x, uint16_t* y, size_t count);
// y[i] = f(x[i]) in float32, rounded; x may be y.
void UnaryBf16(const Elementwise& function, const uint16_t* x, uint16_t* y, size_t count);
// y[i] = the largest of taps[t][i].
void MaxOfBf16(const uint16_t* const* taps, size_t num_taps, uint16_t* y, size_t count);
// y[i] += x[i]
void AccumulateBf16(const uint16_t* x, float* y, size_t count);

}  // namespace simd

// A run of an operand of float32 or bfloat16 as float32: the memory itself, or a copy in `room`.
inline const float* ReadRun(const std::byte* data, DType dtype, int64_t first, int64_t count,
                            float* room) {
  if (dtype == DType::kFloat32) return reinterpret_cast<const float*>(data) + first;
  simd::Widen(reinterpret_cast<const uint16_t*>(data) + first, room, static_cast<size_t>(count));
  return room;
}

// Where to compute a run of such an output; WriteRun then puts it into its place.
inline float* RoomFor(std::byte* data, DType dtype, int64_t first, float* room) {
  return dtype == DType::kFloat32 ? reinterpret_cast<float*>(data) + first : room;
}
inline void WriteRun(std::byte* data, DType dtype, int64_t first, int64_t count,
                     const float* room) {
  if (dtype == DType::kFloat32) return;
  simd::Narrow(room, reinterpret_cast<uint16_t*>(data) + first, static_cast<size_t>(count));
}

}  // namespace kheya

#endif  // KHEYA_KERNELS_PORTABLE_BF16_H_
