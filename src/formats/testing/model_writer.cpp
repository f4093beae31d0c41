#include "formats/testing/model_writer.h"

namespace kheya::test {
namespace {

// AttributeProto with its name and AttributeType.
ProtobufWriter Attribute(std::string_view name, int64_t type) {
  ProtobufWriter writer;
  writer.Bytes(1, name);
  writer.Int64(20, type);
  return writer;
}

ProtobufWriter TensorHead(std::string_view name, int64_t data_type,
                          const std::vector<int64_t>& dims) {
  ProtobufWriter writer;
  for (int64_t dim : dims) writer.Int64(1, dim);
  writer.Int64(2, data_type);
  writer.Bytes(8, name);
  return writer;
}

std::string OpsetMessage(std::string_view domain, int64_t version) {
  ProtobufWriter writer;
  writer.Bytes(1, domain);
  writer.Int64(2, version);
  return writer.bytes();
}

void All(ProtobufWriter& writer, uint32_t field, const std::vector<std::string>& messages) {
  for (const std::string& message : messages) writer.Bytes(field, message);
}

}  // namespace

std::string IntAttribute(std::string_view name, int64_t value) {
  ProtobufWriter writer = Attribute(name, 2);
  writer.Int64(3, value);
  return writer.bytes();
}

std::string FloatAttribute(std::string_view name, float value) {
  ProtobufWriter writer = Attribute(name, 1);
  writer.Float(2, value);
  return writer.bytes();
}

std::string StringAttribute(std::string_view name, std::string_view value) {
  ProtobufWriter writer = Attribute(name, 3);
  writer.Bytes(4, value);
  return writer.bytes();
}

std::string IntsAttribute(std::string_view name, const std::vector<int64_t>& values) {
  ProtobufWriter writer = Attribute(name, 7);
  for (int64_t value : values) writer.Int64(8, value);
  return writer.bytes();
}

std::string FloatsAttribute(std::string_view name, const std::vector<float>& values) {
  ProtobufWriter writer = Attribute(name, 6);
  for (float value : values) writer.Float(7, value);
  return writer.bytes();
}

std::string StringsAttribute(std::string_view name, const std::vector<std::string>& values) {
  ProtobufWriter writer = Attribute(name, 8);
  for (const std::string& value : values) writer.Bytes(9, value);
  return writer.bytes();
}

std::string TensorAttribute(std::string_view name, std::string_view tensor) {
  ProtobufWriter writer = Attribute(name, 4);
  writer.Bytes(5, tensor);
  return writer.bytes();
}

std::string GraphAttribute(std::string_view name, std::string_view graph) {
  ProtobufWriter writer = Attribute(name, 5);
  writer.Bytes(6, graph);
  return writer.bytes();
}

std::string TypeAttribute(std::string_view name, std::string_view type) {
  ProtobufWriter writer = Attribute(name, 13);
  writer.Bytes(14, type);
  return writer.bytes();
}

std::string ReferenceAttribute(std::string_view name, std::string_view reference, int64_t type) {
  ProtobufWriter writer = Attribute(name, type);
  writer.Bytes(21, reference);
  return writer.bytes();
}

std::string NodeMessage(const NodeText& node) {
  ProtobufWriter writer;
  All(writer, 1, node.inputs);
  All(writer, 2, node.outputs);
  writer.Bytes(3, node.name);
  writer.Bytes(4, node.op);
  All(writer, 5, node.attributes);
  writer.Bytes(7, node.domain);
  return writer.bytes();
}

std::string ValueMessage(std::string_view name, DType dtype, const std::vector<int64_t>& dims) {
  ProtobufWriter shape;
  for (int64_t dim : dims) {
    ProtobufWriter size;
    if (dim < 0) {
      size.Bytes(2, "N");
    } else {
      size.Int64(1, dim);
    }
    shape.Message(1, size);
  }
  ProtobufWriter tensor;
  tensor.Int64(1, static_cast<int64_t>(dtype));
  tensor.Message(2, shape);
  ProtobufWriter type;
  type.Message(1, tensor);
  ProtobufWriter value;
  value.Bytes(1, name);
  value.Message(2, type);
  return value.bytes();
}

std::string UntypedValueMessage(std::string_view name) {
  ProtobufWriter value;
  value.Bytes(1, name);
  return value.bytes();
}

std::string RawTensorMessage(std::string_view name, int64_t data_type,
                             const std::vector<int64_t>& dims, std::string_view raw) {
  ProtobufWriter writer = TensorHead(name, data_type, dims);
  writer.Bytes(9, raw);
  return writer.bytes();
}

std::string ExternalTensorMessage(std::string_view name, DType dtype,
                                  const std::vector<int64_t>& dims,
                                  const std::vector<std::pair<std::string, std::string>>& entries) {
  ProtobufWriter writer = TensorHead(name, static_cast<int64_t>(dtype), dims);
  for (const auto& [key, value] : entries) {
    ProtobufWriter entry;
    entry.Bytes(1, key);
    entry.Bytes(2, value);
    writer.Message(13, entry);
  }
  writer.Int64(14, 1);
  return writer.bytes();
}

std::string GraphMessage(const GraphText& graph) {
  ProtobufWriter writer;
  All(writer, 1, graph.nodes);
  writer.Bytes(2, graph.name);
  All(writer, 5, graph.initializers);
  All(writer, 11, graph.inputs);
  All(writer, 12, graph.outputs);
  All(writer, 13, graph.value_infos);
  return writer.bytes();
}

std::string ModelMessage(std::string_view graph, int64_t opset,
                         const std::vector<std::string>& functions) {
  ProtobufWriter writer;
  writer.Int64(1, 8);
  writer.Bytes(7, graph);
  if (opset != 0) writer.Bytes(8, OpsetMessage("", opset));
  All(writer, 25, functions);
  return writer.bytes();
}

std::string FunctionMessage(std::string_view name, const std::vector<std::string>& inputs,
                            const std::vector<std::string>& outputs,
                            const std::vector<std::string>& nodes, int64_t opset) {
  ProtobufWriter writer;
  writer.Bytes(1, name);
  All(writer, 4, inputs);
  All(writer, 5, outputs);
  All(writer, 7, nodes);
  writer.Bytes(9, OpsetMessage("", opset));
  writer.Bytes(10, "local");
  return writer.bytes();
}

}  // namespace kheya::test
