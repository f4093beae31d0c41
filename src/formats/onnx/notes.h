// Notes as messages have them: doc_string and metadata_props of a node, a value or a tensor.
#ifndef KHEYA_FORMATS_ONNX_NOTES_H_
#define KHEYA_FORMATS_ONNX_NOTES_H_

#include <cstdint>
#include <map>
#include <string_view>

#include "base/status.h"
#include "formats/wire/protobuf_reader.h"
#include "formats/wire/protobuf_writer.h"
#include "graph/graph.h"

namespace kheya::onnx {

// The numbers of a message's fields.
struct NoteFields {
  uint32_t doc;
  uint32_t metadata;
};
inline constexpr NoteFields kNodeNote = {6, 9};      // NodeProto
inline constexpr NoteFields kValueNote = {3, 4};     // ValueInfoProto
inline constexpr NoteFields kTensorNote = {12, 16};  // TensorProto

// Texts that are not UTF-8 are left out. InvalidArgument for a broken message.
Result<Note> ReadNote(ByteSpan message, NoteFields fields);

// StringStringEntryProto.
ProtobufWriter EntryMessage(std::string_view key, std::string_view value);

// Writes the note of `key`, where there is one, into a message.
template <typename Key>
void WriteNote(const std::map<Key, Note>& notes, const Key& key, NoteFields fields,
               ProtobufWriter& message) {
  const auto found = notes.find(key);
  if (found == notes.end()) return;
  const Note& note = found->second;
  if (!note.doc.empty()) message.Bytes(fields.doc, note.doc);
  for (const auto& [name, value] : note.metadata) {
    message.Message(fields.metadata, EntryMessage(name, value));
  }
}

}  // namespace kheya::onnx

#endif  // KHEYA_FORMATS_ONNX_NOTES_H_
