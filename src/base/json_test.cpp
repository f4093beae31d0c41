#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace kheya {
namespace {

using ::testing::HasSubstr;

TEST(JsonTest, ReadsAndWritesEveryType) {
  const char* text =
      R"({"b":true,"n":null,"i":-9223372036854775808,"d":0.1,"s":"a\"é","a":[1,[],{}]})";
  Result<Json> json = Json::Parse(text);
  ASSERT_TRUE(json.ok()) << json.status().message();
  EXPECT_EQ(json->Dump(), text);
  EXPECT_EQ(*json->Find("i")->GetInt64(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(*json->Find("a")->items()[0].GetDouble(), 1.0);
  EXPECT_EQ(json->Find("none"), nullptr);
  EXPECT_EQ(*Json::Parse(json->Dump(2)), *json);
}

TEST(JsonTest, IsBuiltInOrder) {
  Json json = Json::Object();
  json["z"] = std::vector<int>{1, 2};
  json["a"]["b"] = "c";
  json["list"].Append(1.5);
  json["big"] = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(json.Dump(), R"({"z":[1,2],"a":{"b":"c"},"list":[1.5],"big":1.8446744073709552e+19})");
}

TEST(JsonTest, WrongTypesAreErrors) {
  const Json json("text");
  EXPECT_EQ(json.GetInt64().status().message(), "found a string, expected an integer");
  EXPECT_FALSE(Json(1.0).GetInt64().ok());
  EXPECT_FALSE(Json(1).GetBool().ok());
  EXPECT_FALSE(Json().GetString().ok());
  EXPECT_TRUE(json.items().empty());
  EXPECT_TRUE(json.members().empty());
}

TEST(JsonTest, RefusesMalformedText) {
  for (const char* bad :
       {"", " ", "{", "[1,]", "{\"a\"}", "{\"a\":1,}", "nul", "1 2", "NaN", "'a'", "01", "1e999",
        "\"\\ud800\"", "\"\xC0\x80\"", "\"\n\"", "// x\n1", "{\"a\":1,\"b\":2,\"a\":3}"}) {
    const Status status = Json::Parse(bad).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << bad;
  }
  EXPECT_THAT(Json::Parse("[1, x]").status().message(), HasSubstr("byte 5"));
}

TEST(JsonTest, KeepsItsLimits) {
  const std::string deep = std::string(100, '[') + std::string(100, ']');
  EXPECT_TRUE(Json::Parse(deep).ok());
  EXPECT_EQ(Json::Parse("[" + deep + "]").status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(Json::Parse(std::string(1000000, '[')).status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(Json::Parse("[1,2,3]", {.max_bytes = 6}).status().code(),
            StatusCode::kResourceExhausted);
}

TEST(JsonTest, WritesWhatJsonCannotHoldAsSomethingValid) {
  EXPECT_EQ(Json(std::numeric_limits<double>::quiet_NaN()).Dump(), "null");
  EXPECT_EQ(Json("a\x80").Dump(), "\"a\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace kheya
