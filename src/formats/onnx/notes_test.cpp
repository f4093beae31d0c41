#include "formats/onnx/notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kheya::onnx {
namespace {

Result<Note> NoteOf(std::string_view message) {
  return ReadNote(std::as_bytes(std::span(message)), kNodeNote);
}

TEST(Notes, AreReadAmongOtherFields) {
  ProtobufWriter message;
  message.Bytes(4, "Relu");
  message.Message(9, EntryMessage("k", "v"));
  message.Bytes(6, "first");
  message.Bytes(6, "last");
  message.Message(9, EntryMessage("k", "again"));
  const Result<Note> note = NoteOf(message.bytes());
  ASSERT_TRUE(note.ok()) << note.status().message();
  EXPECT_EQ(note->doc, "last");
  EXPECT_THAT(note->metadata, ::testing::ElementsAre(std::pair("k", "v"), std::pair("k", "again")));
}

TEST(Notes, ThatAreNotUtf8AreLeftOut) {
  ProtobufWriter message;
  message.Bytes(6, "\xff");
  message.Message(9, EntryMessage("k", "\xff"));
  message.Message(9, EntryMessage("\xff", "v"));
  message.Message(9, EntryMessage("good", "v"));
  const Result<Note> note = NoteOf(message.bytes());
  ASSERT_TRUE(note.ok()) << note.status().message();
  EXPECT_EQ(note->doc, "");
  EXPECT_THAT(note->metadata, ::testing::ElementsAre(std::pair("good", "v")));
}

TEST(Notes, ThatAreBrokenAreErrors) {
  const std::string_view messages[] = {
      {"\x32\x05only", 6},       // 5 bytes of text, 4 are there
      {"\x30\x01", 2},           // a number as text
      {"\x4a\x03\x0a\x05k", 5},  // an entry whose key leaves it
      {"\x4a\x02\x08\x01", 4},   // a number as key
  };
  for (std::string_view message : messages) {
    EXPECT_EQ(NoteOf(message).status().code(), StatusCode::kInvalidArgument) << message;
  }
}

}  // namespace
}  // namespace kheya::onnx
