// ONNX messages of types, tensors and attributes that hold no graph.
#ifndef KHEYA_FORMATS_ONNX_TYPE_WRITER_H_
#define KHEYA_FORMATS_ONNX_TYPE_WRITER_H_

#include <optional>
#include <string_view>

#include "formats/wire/protobuf_writer.h"
#include "tensor/value.h"

namespace kheya::onnx {

// TypeProto; nullopt for a type of which not even the elements are known.
std::optional<ProtobufWriter> TypeMessage(const ValueType& type);
// ValueInfoProto.
ProtobufWriter ValueInfoMessage(std::string_view name, const ValueType& type);

// TensorProto with its dims, type and name, without data.
ProtobufWriter TensorHead(const Tensor& tensor, std::string_view name);
// TensorProto with raw data or string_data. Large data are borrowed from the tensor.
ProtobufWriter TensorMessage(const Tensor& tensor, std::string_view name);
// The bytes of a tensor that is not of strings.
std::string_view BytesOf(const Tensor& tensor);

}  // namespace kheya::onnx

#endif  // KHEYA_FORMATS_ONNX_TYPE_WRITER_H_
