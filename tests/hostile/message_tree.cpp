#include "hostile/message_tree.h"

#include <bit>

#include "formats/wire/protobuf_writer.h"

namespace kheya::test {
namespace {

// Deeper messages are kept as bytes.
constexpr int kMostDepth = 60;

// The messages of onnx.proto that are looked into.
struct Row {
  MessageKind parent;
  uint32_t number;
  MessageKind kind;
};
using enum MessageKind;
constexpr Row kRows[] = {
    {kModel, 7, kGraph},      {kModel, 8, kOpset},         {kModel, 25, kFunction},
    {kGraph, 1, kNode},       {kGraph, 5, kTensor},        {kGraph, 11, kValue},
    {kGraph, 12, kValue},     {kGraph, 13, kValue},        {kNode, 5, kAttribute},
    {kAttribute, 5, kTensor}, {kAttribute, 6, kGraph},     {kAttribute, 10, kTensor},
    {kAttribute, 11, kGraph}, {kAttribute, 14, kType},     {kValue, 2, kType},
    {kType, 1, kTensorType},  {kType, 4, kElementType},    {kType, 5, kElementType},
    {kType, 9, kElementType}, {kElementType, 1, kType},    {kElementType, 2, kType},
    {kTensorType, 2, kShape}, {kShape, 1, kDim},           {kFunction, 7, kNode},
    {kFunction, 9, kOpset},   {kFunction, 11, kAttribute}, {kFunction, 12, kValue},
};

MessageKind KindOf(MessageKind parent, uint32_t number) {
  for (const Row& row : kRows) {
    if (row.parent == parent && row.number == number) return row.kind;
  }
  return kNone;
}

std::string Text(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void Parse(ByteSpan bytes, int depth, MessageField& message) {
  ProtobufReader reader(bytes);
  for (WireField field; reader.Next(field);) {
    if (field.type == WireType::kFixed64) continue;
    MessageField read{field.number, field.type, field.scalar};
    if (field.type == WireType::kBytes) {
      if (depth < kMostDepth) read.kind = KindOf(message.kind, field.number);
      if (read.kind == kNone) {
        read.bytes = Text(field.bytes);
      } else {
        Parse(field.bytes, depth + 1, read);
      }
    }
    message.fields.push_back(std::move(read));
  }
}

std::string Write(const MessageField& message) {
  ProtobufWriter writer;
  for (const MessageField& field : message.fields) {
    if (field.type == WireType::kVarint) {
      writer.Int64(field.number, static_cast<int64_t>(field.scalar));
    } else if (field.type == WireType::kFixed32) {
      writer.Float(field.number, std::bit_cast<float>(static_cast<uint32_t>(field.scalar)));
    } else {
      writer.Bytes(field.number, field.kind == kNone ? field.bytes : Write(field));
    }
  }
  return writer.bytes();
}

}  // namespace

MessageField ParseModel(std::string_view bytes) {
  MessageField model{.kind = kModel};
  Parse({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()}, 0, model);
  return model;
}

std::string WriteModel(const MessageField& model) { return Write(model); }

MessageField* FindField(MessageField& message, uint32_t number) {
  for (MessageField& field : message.fields) {
    if (field.number == number) return &field;
  }
  return nullptr;
}

MessageField* FirstNode(MessageField& model) {
  MessageField* graph = FindField(model, 7);
  return graph == nullptr ? nullptr : FindField(*graph, 1);
}

}  // namespace kheya::test
