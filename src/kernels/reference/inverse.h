// Inverses of square matrices.
#ifndef KHEYA_KERNELS_REFERENCE_INVERSE_H_
#define KHEYA_KERNELS_REFERENCE_INVERSE_H_

#include <cstdint>
#include <span>

namespace kheya::kernels {

// Gauss-Jordan elimination with the largest pivot of a column. `a` [size, size] is destroyed;
// `inverse` receives the answer. False when a pivot is 0: there is no inverse.
bool Invert(int64_t size, std::span<double> a, std::span<double> inverse);

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_INVERSE_H_
