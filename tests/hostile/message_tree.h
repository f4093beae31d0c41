// The messages of an ONNX model as a tree of fields, to change one field and write it again.
#ifndef KHEYA_TESTS_HOSTILE_MESSAGE_TREE_H_
#define KHEYA_TESTS_HOSTILE_MESSAGE_TREE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/wire/protobuf_reader.h"

namespace kheya::test {

enum class MessageKind : uint8_t {
  kNone,  // a number, a text, or bytes that are not looked into
  kModel,
  kGraph,
  kNode,
  kAttribute,
  kTensor,
  kValue,
  kType,
  kTensorType,
  kShape,
  kDim,
  kElementType,  // of a sequence, an optional or a map
  kFunction,
  kOpset,
};

struct MessageField {
  uint32_t number = 0;
  WireType type = WireType::kBytes;
  uint64_t scalar = 0;                    // of numbers
  std::string bytes = {};                 // of kNone
  MessageKind kind = MessageKind::kNone;  // of kBytes
  std::vector<MessageField> fields = {};  // of a message
};

// A model's tree. What cannot be read is left out.
MessageField ParseModel(std::string_view bytes);
std::string WriteModel(const MessageField& model);

// The first field of the number in a message, or null.
MessageField* FindField(MessageField& message, uint32_t number);
// The first node of the model's graph, or null.
MessageField* FirstNode(MessageField& model);

// The model with one to four fields changed: dropped, repeated, exchanged with another of its kind
// here or in `other`, or with another number or text. The messages around them stay well formed.
std::string MutateFields(std::string_view model, std::string_view other, uint64_t random_seed);

}  // namespace kheya::test

#endif  // KHEYA_TESTS_HOSTILE_MESSAGE_TREE_H_
