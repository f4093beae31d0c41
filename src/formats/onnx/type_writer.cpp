#include "formats/onnx/type_writer.h"

namespace kheya::onnx {
namespace {

using Kind = ValueType::Kind;

ProtobufWriter ShapeMessage(const SymbolicShape& shape) {
  ProtobufWriter message;
  for (const Dim& dim : shape) {
    ProtobufWriter size;
    if (dim.known()) {
      size.Int64(1, dim.value());
    } else if (!dim.unknown()) {
      size.Bytes(2, dim.ToString());
    }
    message.Message(1, std::move(size));
  }
  return message;
}

// The field of TypeProto for each kind, in the order of ValueType::Kind; 0: none.
constexpr uint32_t kTypeFields[] = {0, 1, 8, 4, 9, 5};

}  // namespace

std::optional<ProtobufWriter> TypeMessage(const ValueType& type) {
  ProtobufWriter body;
  if (type.kind == Kind::kTensor || type.kind == Kind::kSparseTensor) {
    if (type.dtype == DType::kUndefined) return std::nullopt;
    body.Int64(1, static_cast<int64_t>(type.dtype));
    if (type.shape) body.Message(2, ShapeMessage(*type.shape));
  } else {
    if (type.element == nullptr) return std::nullopt;
    std::optional<ProtobufWriter> element = TypeMessage(*type.element);
    if (!element) return std::nullopt;
    if (type.kind == Kind::kMap) body.Int64(1, static_cast<int64_t>(type.dtype));
    body.Message(type.kind == Kind::kMap ? 2 : 1, *std::move(element));
  }
  ProtobufWriter message;
  message.Message(kTypeFields[static_cast<int>(type.kind)], std::move(body));
  return message;
}

ProtobufWriter ValueInfoMessage(std::string_view name, const ValueType& type) {
  ProtobufWriter message;
  message.Bytes(1, name);
  if (std::optional<ProtobufWriter> known = TypeMessage(type)) {
    message.Message(2, *std::move(known));
  }
  return message;
}

std::string_view BytesOf(const Tensor& tensor) {
  const std::span<const std::byte> bytes = tensor.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

ProtobufWriter TensorHead(const Tensor& tensor, std::string_view name) {
  ProtobufWriter message;
  for (int64_t dim : tensor.shape().dims()) message.Int64(1, dim);
  message.Int64(2, static_cast<int64_t>(tensor.dtype()));
  if (!name.empty()) message.Bytes(8, name);
  return message;
}

ProtobufWriter TensorMessage(const Tensor& tensor, std::string_view name) {
  constexpr size_t kBorrowedBytes = 4096;
  ProtobufWriter message = TensorHead(tensor, name);
  if (tensor.dtype() == DType::kString) {
    for (const std::string& text : tensor.data<std::string>()) message.Bytes(6, text);
  } else if (tensor.num_bytes() >= kBorrowedBytes) {
    message.Borrow(9, BytesOf(tensor));
  } else {
    message.Bytes(9, BytesOf(tensor));
  }
  return message;
}

}  // namespace kheya::onnx
