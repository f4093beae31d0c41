#include "formats/onnx/proto.h"

#include "base/string_util.h"
#include "formats/onnx/proto_parser.h"

namespace kheya::onnx {

Result<ModelProto> ParseModel(ByteSpan bytes) {
  ModelProto model;
  KHEYA_RETURN_IF_ERROR(ProtoParser().Parse(ProtobufReader(bytes), model));
  return model;
}

Result<TensorProto> ParseTensor(ByteSpan bytes) {
  TensorProto tensor;
  KHEYA_RETURN_IF_ERROR(ProtoParser().Parse(ProtobufReader(bytes), tensor));
  return tensor;
}

std::string Quote(std::string_view name) { return fmt::format("'{}'", Abbreviate(name)); }

std::string Describe(const NodeProto& node) {
  const std::string op = Abbreviate(
      node.domain.empty() ? std::string(node.op) : fmt::format("{}.{}", node.domain, node.op));
  if (!node.name.empty()) return fmt::format("node {} ({})", Quote(node.name), op);
  if (!node.outputs.empty()) return fmt::format("node of {} ({})", Quote(node.outputs[0]), op);
  return fmt::format("node ({})", op);
}

}  // namespace kheya::onnx
