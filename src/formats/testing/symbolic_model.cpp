#include "formats/testing/symbolic_model.h"

#include <vector>

#include "formats/wire/protobuf_reader.h"
#include "formats/wire/protobuf_writer.h"

namespace kheya::test {
namespace {

enum class Message : uint8_t {
  kModel,
  kGraph,
  kFunction,
  kNode,
  kAttribute,
  kValueInfo,
  kType,
  kElement,  // of a sequence or an optional
  kMap,
  kTensor,
  kShape,
  kDimension
};

// Which fields of onnx.proto lead to a dimension.
struct Step {
  Message from;
  uint32_t field;
  Message to;
};
constexpr Step kSteps[] = {
    {Message::kModel, 7, Message::kGraph},      {Message::kModel, 25, Message::kFunction},
    {Message::kGraph, 1, Message::kNode},       {Message::kGraph, 11, Message::kValueInfo},
    {Message::kGraph, 12, Message::kValueInfo}, {Message::kGraph, 13, Message::kValueInfo},
    {Message::kFunction, 7, Message::kNode},    {Message::kFunction, 12, Message::kValueInfo},
    {Message::kNode, 5, Message::kAttribute},   {Message::kAttribute, 6, Message::kGraph},
    {Message::kAttribute, 11, Message::kGraph}, {Message::kValueInfo, 2, Message::kType},
    {Message::kType, 1, Message::kTensor},      {Message::kType, 4, Message::kElement},
    {Message::kType, 5, Message::kMap},         {Message::kType, 9, Message::kElement},
    {Message::kElement, 1, Message::kType},     {Message::kMap, 2, Message::kType},
    {Message::kTensor, 2, Message::kShape},     {Message::kShape, 1, Message::kDimension},
};

std::string_view TextOf(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class Rewriter {
 public:
  Result<std::string> Rewrite(Message kind, ByteSpan message) {
    if (kind == Message::kDimension) {
      ProtobufWriter dimension;
      dimension.Bytes(2, "d" + std::to_string(symbols_++));
      return dimension.bytes();
    }
    std::vector<WireField> fields;
    ProtobufReader reader(message);
    for (WireField field; reader.Next(field);) fields.push_back(field);
    KHEYA_RETURN_IF_ERROR(reader.status());
    std::string rewritten;
    for (size_t i = 0; i < fields.size(); ++i) {
      const Step* step = Find(kind, fields[i].number);
      if (step == nullptr) {
        const size_t end = i + 1 < fields.size() ? fields[i + 1].offset : message.size();
        rewritten += TextOf(message.subspan(fields[i].offset, end - fields[i].offset));
        continue;
      }
      KHEYA_ASSIGN_OR_RETURN(const std::string inner, Rewrite(step->to, fields[i].bytes));
      ProtobufWriter field;
      field.Bytes(step->field, inner);
      rewritten += field.bytes();
    }
    return rewritten;
  }

 private:
  static const Step* Find(Message from, uint32_t field) {
    for (const Step& step : kSteps) {
      if (step.from == from && step.field == field) return &step;
    }
    return nullptr;
  }

  int symbols_ = 0;
};

}  // namespace

Result<std::string> WithSymbolicDimensions(std::string_view model) {
  return Rewriter().Rewrite(Message::kModel, std::as_bytes(std::span(model)));
}

}  // namespace kheya::test
