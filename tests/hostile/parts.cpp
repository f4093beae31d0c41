#include "hostile/parts.h"

#include <algorithm>
#include <cstdlib>

#include "formats/onnx/type_writer.h"
#include "formats/wire/protobuf_writer.h"
#include "hostile/message_tree.h"
#include "tensor/value.h"

namespace kheya::test {
namespace {

std::string Opset(std::string_view domain) {
  ProtobufWriter writer;
  writer.Bytes(1, domain);
  writer.Int64(2, domain == "ai.onnx.ml" ? 5 : 1);
  return writer.bytes();
}

// `text` up to the separator; takes both away from it.
std::string_view TakeUntil(std::string_view& text, std::string_view separator) {
  const size_t at = text.find(separator);
  const std::string_view part = text.substr(0, at);
  text = at == std::string_view::npos ? "" : text.substr(at + separator.size());
  return part;
}

std::string ValueInfo(std::string_view name, const std::string& type) {
  ProtobufWriter writer;
  writer.Bytes(1, name);
  writer.Bytes(2, type);
  return writer.bytes();
}

MessageField Leaf(uint32_t number, std::string bytes) {
  return {.number = number, .bytes = std::move(bytes)};
}

template <typename T>
Operand Numbers(DType dtype, const Ints& dims, const std::vector<T>& values) {
  return Raw(dtype, dims,
             {reinterpret_cast<const char*>(values.data()), sizeof(T) * values.size()});
}

// The attribute's name, AttributeProto's field 1.
bool IsNamed(MessageField& attribute, const std::string& name) {
  const MessageField* found = FindField(attribute, 1);
  return attribute.number == 5 && found != nullptr && found->bytes == name;
}

}  // namespace

Operand In(std::string_view type) {
  const Result<ValueType> parsed = ValueType::Parse(type);
  if (!parsed.ok()) std::abort();
  return {.type = onnx::TypeMessage(*parsed)->bytes()};
}

Operand None() { return {}; }

Operand K(const Ints& values) {
  return Numbers(DType::kInt64, {static_cast<int64_t>(values.size())}, values);
}

Operand K(const Floats& values) {
  return Numbers(DType::kFloat32, {static_cast<int64_t>(values.size())}, values);
}

Operand K(const Strings& values) {
  ProtobufWriter writer;
  writer.Int64(1, static_cast<int64_t>(values.size()));
  writer.Int64(2, 8);
  for (const std::string& value : values) writer.Bytes(6, value);
  return {.tensor = writer.bytes()};
}

Operand Scalar(int64_t value) { return Numbers(DType::kInt64, {}, Ints{value}); }
Operand ScalarFloat(float value) { return Numbers(DType::kFloat32, {}, Floats{value}); }
Operand ScalarBool(bool value) {
  return Raw(DType::kBool, {}, value ? "\1" : std::string(1, '\0'));
}

Operand Raw(DType dtype, const Ints& dims, std::string_view data) {
  ProtobufWriter writer;
  for (int64_t dim : dims) writer.Int64(1, dim);
  writer.Int64(2, static_cast<int64_t>(dtype));
  writer.Bytes(9, data);
  return {.tensor = writer.bytes()};
}

Operand Filled(DType dtype, const Ints& dims, size_t count) {
  return Raw(dtype, dims, std::string(count, '\x11'));
}

HostileModel OneNode(const NodeRow& row) {
  std::string_view op = row.op;
  const std::string domain(op.find("::") == std::string_view::npos ? "" : TakeUntil(op, "::"));
  NodeText node{
      .op = std::string(op), .attributes = row.attributes, .name = "node", .domain = domain};
  GraphText graph;
  for (const Operand& operand : row.operands) {
    const std::string name = "x" + std::to_string(node.inputs.size());
    node.inputs.push_back(operand.left_out() ? "" : name);
    if (!operand.type.empty()) graph.inputs.push_back(ValueInfo(name, operand.type));
    if (!operand.tensor.empty()) graph.initializers.push_back(Named(operand, name));
  }
  node.inputs.resize(node.inputs.size() - row.captured);
  for (int i = 0; i < row.outputs; ++i) {
    node.outputs.push_back("y" + std::to_string(i));
    graph.outputs.push_back(UntypedValueMessage(node.outputs.back()));
  }
  graph.nodes = {NodeMessage(node)};
  ProtobufWriter opset;
  if (!domain.empty()) opset.Bytes(8, Opset(domain));
  return {row.name, ModelMessage(GraphMessage(graph), 24) + opset.bytes()};
}

void AddRows(std::vector<HostileModel>& models, const std::vector<NodeRow>& rows) {
  for (const NodeRow& row : rows) models.push_back(OneNode(row));
}

std::string N(std::string_view text, const Strings& attributes) {
  const std::string_view head = TakeUntil(text, " -> ");
  std::string_view rest = head;
  std::string_view op = TakeUntil(rest, "(");
  const std::string domain(op.find("::") == std::string_view::npos ? "" : TakeUntil(op, "::"));
  return NodeMessage({.op = std::string(op),
                      .inputs = SplitNames(TakeUntil(rest, ")")),
                      .outputs = SplitNames(text),
                      .attributes = attributes,
                      .domain = domain});
}

std::string Body(std::string_view inputs, const Strings& nodes, std::string_view outputs,
                 const Strings& initializers) {
  GraphText graph{.nodes = nodes, .initializers = initializers, .name = "body"};
  for (const std::string& name : SplitNames(inputs)) {
    graph.inputs.push_back(UntypedValueMessage(name));
  }
  for (const std::string& name : SplitNames(outputs)) {
    graph.outputs.push_back(UntypedValueMessage(name));
  }
  return GraphMessage(graph);
}

Strings SplitNames(std::string_view list) {
  Strings names;
  while (!list.empty()) names.emplace_back(TakeUntil(list, ", "));
  return names;
}

std::string Named(const Operand& constant, std::string_view name) {
  ProtobufWriter writer;
  writer.Bytes(8, name);
  return constant.tensor + writer.bytes();
}

std::string WithAttribute(std::string_view model, const std::string& name,
                          const std::string& attribute) {
  MessageField tree = ParseModel(model);
  MessageField* node = FirstNode(tree);
  if (node == nullptr) std::abort();
  std::erase_if(node->fields, [&](MessageField& field) { return IsNamed(field, name); });
  if (!attribute.empty()) node->fields.push_back(Leaf(5, attribute));
  return WriteModel(tree);
}

std::string WithOperand(std::string_view model, size_t place, const Operand& operand) {
  MessageField tree = ParseModel(model);
  MessageField* node = FirstNode(tree);
  if (node == nullptr) std::abort();
  size_t inputs = 0;
  for (MessageField& field : node->fields) {
    if (field.number == 1 && inputs++ == place) field.bytes = operand.left_out() ? "" : "odd";
  }
  for (; inputs <= place; ++inputs) {
    node->fields.push_back(Leaf(1, inputs < place || operand.left_out() ? "" : "odd"));
  }
  MessageField* graph = FindField(tree, 7);
  if (!operand.type.empty()) graph->fields.push_back(Leaf(11, ValueInfo("odd", operand.type)));
  if (!operand.tensor.empty()) graph->fields.push_back(Leaf(5, Named(operand, "odd")));
  return WriteModel(tree);
}

}  // namespace kheya::test
