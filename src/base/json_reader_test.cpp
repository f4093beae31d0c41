#include "base/json_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"

namespace kheya {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <typename T>
struct Numbers {
  std::vector<int64_t> shape;
  std::vector<T> values;
};

template <typename T>
Result<Numbers<T>> ReadAll(std::string_view text, const JsonReader::Options& options = {}) {
  KHEYA_ASSIGN_OR_RETURN(JsonReader reader, JsonReader::Open(text, options));
  Numbers<T> out;
  std::unique_ptr<T[]> room;  // std::vector<bool> has no spans
  size_t size = 0;
  auto grow = [&](int64_t count) -> Result<std::span<T>> {
    const auto larger = static_cast<size_t>(count) * 2;
    auto next = std::make_unique<T[]>(larger);
    std::copy(room.get(), room.get() + size, next.get());
    room = std::move(next);
    size = larger;
    return std::span<T>(room.get(), size);
  };
  KHEYA_ASSIGN_OR_RETURN(out.shape, reader.ReadNumbers<T>(grow));
  KHEYA_RETURN_IF_ERROR(reader.Finish());
  size_t count = 1;
  for (const int64_t dim : out.shape) count *= static_cast<size_t>(dim);
  out.values.assign(room.get(), room.get() + count);
  return out;
}

template <typename T>
StatusCode CodeOf(std::string_view text) {
  return ReadAll<T>(text).status().code();
}

TEST(JsonReaderTest, ReadsNestedNumbersWithTheirShape) {
  Result<Numbers<float>> numbers = ReadAll<float>(" [[1, 2.5 ,-3e1],\n[4,5,6]] ");
  ASSERT_TRUE(numbers.ok()) << numbers.status().message();
  EXPECT_THAT(numbers->shape, ElementsAre(2, 3));
  EXPECT_THAT(numbers->values, ElementsAre(1.0f, 2.5f, -30.0f, 4.0f, 5.0f, 6.0f));
  EXPECT_THAT(ReadAll<float>("7")->shape, IsEmpty());
  EXPECT_THAT(ReadAll<float>("[]")->shape, ElementsAre(0));
  EXPECT_THAT(ReadAll<float>("[[],[]]")->shape, ElementsAre(2, 0));
  EXPECT_THAT(ReadAll<float>("[[[1],[2]]]")->shape, ElementsAre(1, 2, 1));
}

TEST(JsonReaderTest, RefusesRaggedArrays) {
  for (const char* bad : {"[[1,2],[3]]", "[[1],[2,3]]", "[1,[2]]", "[[1],2]", "[[],[1]]",
                          "[[1],[]]", "[[[]],[]]", "[[[]],[1]]", "[[],[[]]]"}) {
    const Status status = ReadAll<float>(bad).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << bad;
    EXPECT_THAT(status.message(), HasSubstr("ragged")) << bad;
  }
}

TEST(JsonReaderTest, RefusesMalformedNumbersAndArrays) {
  for (const char* bad :
       {"",       "[",     "[1",      "[1,", "[1,]",     "[,1]",      "[1 2]", "]",
        "[1]]",   "[1}",   "01",      "-",   "1.",       ".5",        "+1",    "1e",
        "1e+",    "--1",   "0x1",     "NaN", "Infinity", "-Infinity", "nan",   "null",
        "[null]", "\"1\"", "[\"1\"]", "{}",  "[{}]",     "true",      "1a",    "[1][2]"}) {
    EXPECT_EQ(CodeOf<float>(bad), StatusCode::kInvalidArgument) << bad;
  }
}

TEST(JsonReaderTest, IntegersAreExact) {
  EXPECT_THAT(
      ReadAll<int64_t>("[9223372036854775807,-9223372036854775808,-0]")->values,
      ElementsAre(std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min(), 0));
  EXPECT_THAT(ReadAll<uint64_t>("[18446744073709551615]")->values,
              ElementsAre(std::numeric_limits<uint64_t>::max()));
  EXPECT_THAT(ReadAll<int8_t>("[-128,127]")->values, ElementsAre(-128, 127));
  EXPECT_EQ(CodeOf<int8_t>("128"), StatusCode::kOutOfRange);
  EXPECT_EQ(CodeOf<int8_t>("-129"), StatusCode::kOutOfRange);
  EXPECT_EQ(CodeOf<uint8_t>("-1"), StatusCode::kOutOfRange);
  EXPECT_EQ(CodeOf<int64_t>("9223372036854775808"), StatusCode::kOutOfRange);
  EXPECT_EQ(CodeOf<int64_t>("-9223372036854775809"), StatusCode::kOutOfRange);
  EXPECT_EQ(CodeOf<uint64_t>("18446744073709551616"), StatusCode::kOutOfRange);
  EXPECT_EQ(CodeOf<int32_t>("1.0"), StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf<int32_t>("1e3"), StatusCode::kInvalidArgument);
}

TEST(JsonReaderTest, BoolsAreWordsOrZeroAndOne) {
  EXPECT_THAT(ReadAll<bool>("[true,false,1,0]")->values, ElementsAre(true, false, true, false));
  EXPECT_EQ(CodeOf<bool>("2"), StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf<bool>("10"), StatusCode::kInvalidArgument);
}

TEST(JsonReaderTest, DoublesAreTheNearestOnes) {
  Random random(3);
  for (int i = 0; i < 20000; ++i) {
    const double size =
        std::ldexp(random.Uniform() - 0.5, static_cast<int>(random.UniformInt(600)) - 300);
    const std::string text = fmt::format("{:.{}e}", size, random.UniformInt(20));
    ASSERT_EQ(ReadAll<double>(text)->values[0], std::strtod(text.c_str(), nullptr)) << text;
  }
  for (const char* text :
       {"0.1", "1e22", "1e23", "9007199254740993", "123456789012345678901234567890",
        "0.000000000000000000000000000001", "4.9e-324", "1.7976931348623157e308", "1e-400",
        "0e99999999999", "0.00000000000000000000000000000e5"}) {
    EXPECT_EQ(ReadAll<double>(text)->values[0], std::strtod(text, nullptr)) << text;
  }
  EXPECT_TRUE(std::signbit(ReadAll<double>("-0")->values[0]));
  EXPECT_EQ(CodeOf<double>("1e400"), StatusCode::kOutOfRange);
  EXPECT_EQ(CodeOf<double>("-1e99999999999999999999"), StatusCode::kOutOfRange);
  EXPECT_EQ(CodeOf<float>("1e39"), StatusCode::kOutOfRange);
}

TEST(JsonReaderTest, NanIsReadWhenAsked) {
  const JsonReader::Options options{.allow_nan = true};
  const std::vector<float> values = ReadAll<float>("[NaN,Infinity,-Infinity,-1]", options)->values;
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_THAT(std::vector<float>(values.begin() + 1, values.end()),
              ElementsAre(INFINITY, -INFINITY, -1.0f));
  EXPECT_FALSE(ReadAll<int32_t>("NaN", options).ok());
  EXPECT_TRUE(JsonReader::Open("[NaN,-Infinity]", options)->Skip().ok());
}

TEST(JsonReaderTest, WalksAnObjectAndComesBackToAValue) {
  Result<JsonReader> reader = JsonReader::Open(
      R"({"data":[1,2],"name":"in\u00e9\ud83d\ude00\n","shape":[2],"more":{"x":[null,true]},"n":-5})");
  ASSERT_TRUE(reader.ok());
  size_t data = 0;
  std::string name;
  int64_t n = 0;
  const Status status = reader->ReadObject([&](std::string_view key) -> Status {
    if (key == "name") {
      KHEYA_ASSIGN_OR_RETURN(name, reader->ReadString());
      return OkStatus();
    }
    if (key == "n") {
      KHEYA_ASSIGN_OR_RETURN(n, reader->ReadInt64());
      return OkStatus();
    }
    if (key == "data") data = reader->position();
    return reader->Skip();
  });
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(name, "iné😀\n");
  EXPECT_EQ(n, -5);
  reader->Seek(data);
  EXPECT_EQ(reader->Peek(), JsonReader::Type::kArray);
  int64_t sum = 0;
  const Status items = reader->ReadArray([&](int64_t index) -> Status {
    KHEYA_ASSIGN_OR_RETURN(const int64_t value, reader->ReadInt64());
    sum += value * (index + 1);
    return OkStatus();
  });
  EXPECT_TRUE(items.ok());
  EXPECT_EQ(sum, 5);
}

TEST(JsonReaderTest, ReadsStringsAndRefusesBrokenOnes) {
  Result<JsonReader> reader = JsonReader::Open(R"([["a","b"],["c",""]])");
  std::vector<std::string> texts;
  EXPECT_THAT(*reader->ReadStrings(&texts), ElementsAre(2, 2));
  EXPECT_THAT(texts, ElementsAre("a", "b", "c", ""));
  for (const char* bad : {"\"", "\"a", "\"\\", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\ud800\"",
                          "\"\\udc00\"", "\"\\ud800\\u0041\"", "\"\n\"", "a"}) {
    EXPECT_FALSE(JsonReader::Open(bad)->ReadString().ok()) << bad;
  }
  EXPECT_FALSE(JsonReader::Open("\"\xC0\x80\"").ok());
}

TEST(JsonReaderTest, ObjectsMustBeWellFormed) {
  for (const char* bad : {"{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{a:1}",
                          "{\"a\" 1}", "{1:1}", "{\"a\":1 \"b\":2}", "{\"a\":}", "{\"a\":nul}"}) {
    EXPECT_EQ(JsonReader::Open(bad)->Skip().code(), StatusCode::kInvalidArgument) << bad;
  }
  // A callback that does not consume its value is an error, not a hang.
  Result<JsonReader> reader = JsonReader::Open("{\"a\":1}");
  EXPECT_FALSE(reader->ReadObject([](std::string_view) { return OkStatus(); }).ok());
}

TEST(JsonReaderTest, KeepsItsLimits) {
  EXPECT_EQ(JsonReader::Open("[1,2]", {.max_bytes = 4}).status().code(),
            StatusCode::kResourceExhausted);
  EXPECT_EQ(CodeOf<float>(std::string(1000000, '[')), StatusCode::kResourceExhausted);
  EXPECT_EQ(JsonReader::Open(std::string(1000000, '['))->Skip().code(),
            StatusCode::kResourceExhausted);
  std::string objects;
  for (int i = 0; i < 101; ++i) objects += "{\"a\":";
  EXPECT_EQ(JsonReader::Open(objects)->Skip().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(ReadAll<float>("[1,2,3]").status().ToString(), "OK");
}

TEST(JsonReaderTest, AFullRoomEndsTheReading) {
  Result<JsonReader> reader = JsonReader::Open("[1,2,3]");
  float room[2];
  auto grow = [&](int64_t count) -> Result<std::span<float>> {
    if (count > 2) return InvalidArgumentError("found more than 2 numbers");
    return std::span<float>(room);
  };
  EXPECT_EQ(reader->ReadNumbers<float>(grow).status().message(), "found more than 2 numbers");
}

TEST(JsonReaderTest, ErrorsSayWhere) {
  EXPECT_EQ(ReadAll<float>("[1, abc, 2]").status().message(),
            "json: found 'abc' at byte 4, expected a number");
  EXPECT_EQ(ReadAll<uint8_t>("[300]").status().message(),
            "json: found 300 at byte 1, expected a number that fits in uint8");
  EXPECT_EQ(ReadAll<float>("[1").status().message(),
            "json: found the end at byte 2, expected ',' or ']'");
}

}  // namespace
}  // namespace kheya
