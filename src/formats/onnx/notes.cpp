#include "formats/onnx/notes.h"

#include "base/string_util.h"

namespace kheya::onnx {

Result<Note> ReadNote(ByteSpan message, NoteFields fields) {
  Note note;
  ProtobufReader reader(message);
  for (WireField field; reader.Next(field);) {
    if (field.number == fields.doc) {
      KHEYA_ASSIGN_OR_RETURN(const std::string_view doc, reader.String(field));
      if (IsValidUtf8(doc)) note.doc = doc;
    }
    if (field.number != fields.metadata) continue;
    KHEYA_ASSIGN_OR_RETURN(ProtobufReader entry, reader.Message(field));
    std::string_view texts[2];
    for (WireField part; entry.Next(part);) {
      if (part.number != 1 && part.number != 2) continue;
      KHEYA_ASSIGN_OR_RETURN(texts[part.number - 1], entry.String(part));
    }
    KHEYA_RETURN_IF_ERROR(entry.status());
    if (IsValidUtf8(texts[0]) && IsValidUtf8(texts[1])) {
      note.metadata.emplace_back(texts[0], texts[1]);
    }
  }
  KHEYA_RETURN_IF_ERROR(reader.status());
  return note;
}

ProtobufWriter EntryMessage(std::string_view key, std::string_view value) {
  ProtobufWriter entry;
  entry.Bytes(1, key);
  entry.Bytes(2, value);
  return entry;
}

}  // namespace kheya::onnx
