// Copies of pieces of memory that lie evenly apart.
#ifndef KHEYA_KERNELS_PORTABLE_PIECES_H_
#define KHEYA_KERNELS_PORTABLE_PIECES_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace kheya {

// y[i] = x[i * step], of elements T.
template <typename T>
inline void CopyEvery(const std::byte* from, int64_t step, std::byte* to, int64_t count) {
  const T* x = reinterpret_cast<const T*>(from);
  T* y = reinterpret_cast<T*>(to);
  for (int64_t i = 0; i < count; ++i) y[i] = x[i * step];
}

// Copies `count` pieces of `bytes`, `stride` bytes apart in `from`; both are multiples of the
// `element` bytes that `from` and `to` are aligned for.
inline void CopyPieces(const std::byte* from, int64_t stride, std::byte* to, int64_t count,
                       int64_t bytes, int64_t element) {
  if (stride == bytes) {
    std::memcpy(to, from, static_cast<size_t>(count * bytes));
    return;
  }
  switch (bytes == element ? bytes : 0) {
    case 1:
      return CopyEvery<uint8_t>(from, stride, to, count);
    case 2:
      return CopyEvery<uint16_t>(from, stride / 2, to, count);
    case 4:
      return CopyEvery<uint32_t>(from, stride / 4, to, count);
    case 8:
      return CopyEvery<uint64_t>(from, stride / 8, to, count);
    default:
      for (int64_t i = 0; i < count; ++i) {
        std::memcpy(to + i * bytes, from + i * stride, static_cast<size_t>(bytes));
      }
  }
}

}  // namespace kheya

#endif  // KHEYA_KERNELS_PORTABLE_PIECES_H_
