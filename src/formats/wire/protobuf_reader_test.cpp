#include "formats/wire/protobuf_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/limits.h"
#include "formats/wire/protobuf_writer.h"

namespace kheya {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ByteSpan BytesOf(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

// Reads every field; the error that stopped it, or ok.
Status ReadAll(std::string_view message) {
  ProtobufReader reader(BytesOf(message));
  for (WireField field; reader.Next(field);) {
  }
  return reader.status();
}

TEST(ProtobufReader, ReadsEveryWireType) {
  ProtobufWriter writer;
  writer.Int64(1, -5);
  writer.Float(2, 1.5f);
  writer.Bytes(3, "abc");
  const std::string written = writer.bytes();
  ProtobufReader reader(BytesOf(written));
  WireField field;
  ASSERT_TRUE(reader.Next(field));
  EXPECT_EQ(reader.Int64(field).value(), -5);
  ASSERT_TRUE(reader.Next(field));
  EXPECT_EQ(reader.Float(field).value(), 1.5f);
  ASSERT_TRUE(reader.Next(field));
  EXPECT_EQ(field.number, 3u);
  EXPECT_EQ(reader.String(field).value(), "abc");
  EXPECT_FALSE(reader.Next(field));
  EXPECT_TRUE(reader.status().ok());
}

TEST(ProtobufReader, GivesSpansIntoTheMessage) {
  ProtobufWriter writer;
  writer.Bytes(3, "abc");
  const std::string written = writer.bytes();
  ProtobufReader reader(BytesOf(written));
  WireField field;
  ASSERT_TRUE(reader.Next(field));
  EXPECT_EQ(reinterpret_cast<const char*>(field.bytes.data()), written.data() + 2);
}

TEST(ProtobufReader, ReadsRepeatedScalarsPackedOrNot) {
  ProtobufWriter writer;
  writer.Int64(1, 7);
  writer.Bytes(1, std::string_view("\x01\x80\x01", 3));
  const std::string written = writer.bytes();
  ProtobufReader reader(BytesOf(written));
  std::vector<uint64_t> values;
  for (WireField field; reader.Next(field);) {
    ASSERT_TRUE(reader.VisitVarints(field, [&](uint64_t value) { values.push_back(value); }).ok());
  }
  EXPECT_THAT(values, ElementsAre(7, 1, 128));
}

TEST(ProtobufReader, RefusesDamage) {
  struct Case {
    std::string_view bytes;
    const char* error;
  };
  using namespace std::string_view_literals;
  const Case cases[] = {
      {"\x08"sv, "varint at byte 1 is cut off"},
      {"\x08\x80"sv, "varint at byte 1 is cut off"},
      {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"sv, "varint at byte 1 does not fit 64 bits"},
      {"\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"sv, "does not fit 64 bits"},
      {"\x00\x01"sv, "found field number 0 at byte 0"},
      {"\x0b"sv, "found wire type 3 in field 1 at byte 0"},
      {"\x08\x01\x0c"sv, "found wire type 4 in field 1 at byte 2"},
      {"\x0d\x01\x02"sv, "found 2 bytes, expected 4"},
      {"\x09\x01\x02"sv, "found 2 bytes, expected 8"},
      {"\x12\x05gh"sv, "field 2 at byte 0 is cut off: found 2 bytes, expected 5"},
      {"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv, "expected 18446744073709551615"},
      {"\xf8\xff\xff\xff\xff\x01\x01"sv, "expected 1 to 536870911"},
  };
  for (const Case& each : cases) {
    EXPECT_THAT(ReadAll(each.bytes).message(), HasSubstr(each.error));
  }
}

TEST(ProtobufReader, RefusesTheWrongWireType) {
  ProtobufWriter writer;
  writer.Int64(4, 1);
  const std::string written = writer.bytes();
  ProtobufReader reader(BytesOf(written));
  WireField field;
  ASSERT_TRUE(reader.Next(field));
  EXPECT_THAT(reader.String(field).status().message(),
              HasSubstr("found wire type 0 in field 4 at byte 0, expected a string"));
  EXPECT_FALSE(reader.Message(field).ok());
  EXPECT_FALSE(reader.Float(field).ok());
}

TEST(ProtobufReader, LimitsNestingAndCountsOffsetsFromTheStart) {
  std::string message = "x";
  for (int i = 0; i < limits::kMessageDepth + 5; ++i) {
    ProtobufWriter writer;
    writer.Bytes(1, message);
    message = writer.bytes();
  }
  ProtobufReader reader(BytesOf(message));
  int depth = 0;
  WireField field;
  while (reader.Next(field)) {
    Result<ProtobufReader> inner = reader.Message(field);
    if (!inner.ok()) {
      EXPECT_EQ(inner.status().code(), StatusCode::kResourceExhausted);
      break;
    }
    EXPECT_GE(field.offset, static_cast<uint64_t>(2 * depth));
    reader = std::move(inner).value();
    ++depth;
  }
  EXPECT_EQ(depth, limits::kMessageDepth);
}

}  // namespace
}  // namespace kheya
