// Resizing of 8-bit pictures; the formula is in data/preprocess.h.
#ifndef KHEYA_DATA_RESIZE_H_
#define KHEYA_DATA_RESIZE_H_

#include <cstdint>
#include <vector>

namespace kheya {

struct PixelDims {
  int64_t height;
  int64_t width;
  int64_t channels;
};

// [height, width, channels] row-major in and out; all sides at least 1.
std::vector<uint8_t> ResizePixels(const uint8_t* pixels, const PixelDims& dims, int64_t height,
                                  int64_t width);

}  // namespace kheya

#endif  // KHEYA_DATA_RESIZE_H_
