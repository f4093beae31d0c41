// MurmurHash3 of 32 bits (Austin Appleby, public domain), as com.microsoft's operator uses it.
#ifndef KHEYA_KERNELS_REFERENCE_HASH_H_
#define KHEYA_KERNELS_REFERENCE_HASH_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace kheya::kernels {

uint32_t MurmurHash3(std::span<const std::byte> bytes, uint32_t seed);

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_HASH_H_
