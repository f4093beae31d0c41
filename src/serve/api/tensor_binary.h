// Tensors in KServe's binary form: little-endian, row-major, without padding; a BOOL is one byte,
// an element of BYTES is its length as 4 bytes and then itself.
#ifndef KHEYA_SERVE_API_TENSOR_BINARY_H_
#define KHEYA_SERVE_API_TENSOR_BINARY_H_

#include <string_view>

#include "base/status.h"
#include "serve/api/answer_body.h"
#include "tensor/tensor.h"

namespace kheya {

// A copy, aligned and checked. InvalidArgument when the size is not what type and shape need, or
// the bytes are no value of the type (a BOOL other than 0 and 1).
Result<Tensor> ReadBinaryTensor(std::string_view bytes, DType dtype, const Shape& shape);

// Appends the bytes and returns how many there are. OutOfRange for a string of 4 GiB;
// and what stops the body.
Result<size_t> AppendBinaryTensor(const Tensor& tensor, AnswerBody* out);

}  // namespace kheya

#endif  // KHEYA_SERVE_API_TENSOR_BINARY_H_
