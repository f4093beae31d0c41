// The typed fields of a TensorProto: float_data, int32_data, string_data and so on.
#ifndef KHEYA_FORMATS_ONNX_TYPED_DATA_H_
#define KHEYA_FORMATS_ONNX_TYPED_DATA_H_

#include "base/status.h"
#include "formats/wire/protobuf_reader.h"
#include "tensor/tensor.h"

namespace kheya::onnx {

// Which field of TensorProto holds elements of a type, as entries of how many bytes in the tensor.
// Complex numbers take two entries, types under 8 bits share one.
struct TypedField {
  uint32_t number;
  size_t entry_bytes;
};
TypedField TypedFieldOf(DType dtype);

// A new tensor from the typed field of `message`, a TensorProto. Memory is allocated once the
// number of entries is known to be right.
Result<Tensor> ReadTypedData(ByteSpan message, DType dtype, const Shape& shape);

}  // namespace kheya::onnx

#endif  // KHEYA_FORMATS_ONNX_TYPED_DATA_H_
