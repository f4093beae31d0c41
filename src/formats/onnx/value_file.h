// Values as files of their own, as in ONNX's test data: TensorProto, SequenceProto, OptionalProto
// and MapProto (.pb).
#ifndef KHEYA_FORMATS_ONNX_VALUE_FILE_H_
#define KHEYA_FORMATS_ONNX_VALUE_FILE_H_

#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "tensor/value.h"

namespace kheya {

// The bytes do not say which message they are: `type` does, as far as its kinds; of kind kUnknown
// it means a tensor. Memory is copied, but for ReadValueFile, where tensors borrow the mapping.
Result<Value> ReadValueProto(std::span<const std::byte> bytes, const ValueType& type);
Result<Value> ReadValueFile(const std::string& path, const ValueType& type);
// The tensor of a TensorProto, and its name if `name` is not null.
Result<Tensor> ReadTensorFile(const std::string& path, std::string* name = nullptr);

// A TensorProto: raw data, or string_data.
std::string WriteTensorProto(const Tensor& tensor, std::string_view name);

}  // namespace kheya

#endif  // KHEYA_FORMATS_ONNX_VALUE_FILE_H_
