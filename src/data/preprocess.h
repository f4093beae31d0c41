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
// elements as PictureShape.
//
// Resizing is separable triangle filtering: when shrinking by s the filter is s pixels wide at each
// side of the centre (so that every pixel counts), when growing 1 pixel; the centre of output i is
// (i + 0.5) * in / out - 0.5; weights are normalized; values are rounded to whole pixels after each
// direction, width first (as Pillow's BILINEAR). Same size: pixels stay as they are.
Status PreprocessPicture(const ModelSpec& spec, const TensorView& picture, void* out);

// Decodes a JPEG, PNG or WebP file and preprocesses it into a tensor with a batch axis of 1.
Result<Tensor> PictureToTensor(const ModelSpec& spec, std::span<const std::byte> file,
                               const std::shared_ptr<MemoryBudget>& budget = nullptr);

}  // namespace kheya

#endif  // KHEYA_DATA_PREPROCESS_H_
