// A decoded picture becomes a model's input, as its ModelSpec says.
#ifndef KHEYA_DATA_PREPROCESS_H_
#define KHEYA_DATA_PREPROCESS_H_

#include <cstddef>
#include <memory>
#include <span>

#include "base/allocator.h"
#include "base/status.h"
#include "data/model_spec.h"
#include "tensor/tensor.h"

namespace kheya {

// [channels, height, width] or [height, width, channels] of one picture, by spec.layout. A spec
// without a size takes the picture's.
Shape PictureShape(const ModelSpec& spec, int64_t picture_height, int64_t picture_width);

// Resizes, orders the channels, scales and normalizes one uint8 picture [height, width, channels]
// (RGB, or gray as spec.color needs) and writes it into `out`: spec.dtype, in spec.layout, as many
// elements as PictureShape. Pixels on the way to the size are drawn from `budget`.
//
// Resizing is Pillow's BILINEAR, to the bit: separable triangle filtering. With s = in / out and
// r = max(1, s), output i is the sum over inputs k of w_k * x_k, w_k in proportion to
// max(0, 1 - |k + 0.5 - (i + 0.5) s| / r), summing to 1: when shrinking every pixel counts.
// Weights are rounded to 22 bits, values to whole pixels after each direction, width first.
// Crop and pad resize by one factor for both sides, round the sides to whole pixels and cut or
// fill (black) both ends alike; an odd pixel is cut from, or filled at, the end.
Status PreprocessPicture(const ModelSpec& spec, const TensorView& picture, void* out,
                         const std::shared_ptr<MemoryBudget>& budget = nullptr);

// Decodes a picture (codec/picture.h) and preprocesses it into a tensor with a batch axis of 1.
Result<Tensor> PictureToTensor(const ModelSpec& spec, std::span<const std::byte> file,
                               const std::shared_ptr<MemoryBudget>& budget = nullptr);

}  // namespace kheya

#endif  // KHEYA_DATA_PREPROCESS_H_
