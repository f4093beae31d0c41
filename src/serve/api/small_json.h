// Between numbers in JSON and elements that JsonReader has no type for: those of small_types.h, and
// complex numbers, which are pairs [real, imaginary].
#ifndef KHEYA_SERVE_API_SMALL_JSON_H_
#define KHEYA_SERVE_API_SMALL_JSON_H_

#include "base/status.h"
#include "tensor/tensor.h"

namespace kheya {

// `wide` (float32 for floats, int32 for integers) as `dtype`, a small type: floats as the nearest
// number. OutOfRange for what the type cannot hold.
Result<Tensor> NarrowToSmall(const Tensor& wide, DType dtype);

// `parts` (float32 or float64) as `dtype`, complex64 or complex128, without its last dimension.
// InvalidArgument when that is not 2.
Result<Tensor> JoinComplex(const Tensor& parts, DType dtype);

}  // namespace kheya

#endif  // KHEYA_SERVE_API_SMALL_JSON_H_
