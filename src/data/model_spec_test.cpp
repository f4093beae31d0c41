#include "data/model_spec.h"

#include <gmock/gmock.h>

namespace kheya {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kFull = R"({
  "version": 1, "input": "x", "layout": "NHWC", "size": [28, 30], "resize": "pad", "color": "BGR",
  "scale": 0.5, "mean": [1, 2, 3], "std": [4, 5, 6.5], "dtype": "float32", "batch_axis": 0,
  "labels": ["cat", "dog"], "postprocess": "softmax"})";

TEST(ModelSpec, ReadsEveryKey) {
  Result<ModelSpec> spec = ModelSpec::Parse(kFull);
  ASSERT_TRUE(spec.ok()) << spec.status().ToString();
  EXPECT_EQ(spec->input, "x");
  EXPECT_EQ(spec->layout, ModelSpec::Layout::kNhwc);
  EXPECT_EQ(spec->height, 28);
  EXPECT_EQ(spec->width, 30);
  EXPECT_EQ(spec->resize, ModelSpec::Resize::kPad);
  EXPECT_EQ(spec->color, ModelSpec::Color::kBgr);
  EXPECT_EQ(spec->scale, 0.5);
  EXPECT_THAT(spec->mean, ElementsAre(1, 2, 3));
  EXPECT_THAT(spec->std, ElementsAre(4, 5, 6.5));
  EXPECT_EQ(spec->dtype, DType::kFloat32);
  EXPECT_THAT(spec->labels, ElementsAre("cat", "dog"));
  EXPECT_EQ(spec->postprocess, ModelSpec::Postprocess::kSoftmax);
}

TEST(ModelSpec, ReadsWhatItWrites) {
  const Json json = ModelSpec::Parse(kFull)->ToJson();
  EXPECT_EQ(ModelSpec::FromJson(json)->ToJson(), json);
  EXPECT_EQ(json.members().size(), 13u);
  const Json least = ModelSpec().ToJson();
  EXPECT_EQ(ModelSpec::FromJson(least)->ToJson(), least);
}

TEST(ModelSpec, RefusesByName) {
  const std::pair<const char*, const char*> cases[] = {
      {"[]", "found an array, expected an object"},
      {"{}", "found no key 'version', expected 1"},
      {R"({"version": 2})", "key 'version': found version 2, expected 1"},
      {R"({"version": "1"})", "key 'version': found a string"},
      {R"({"version": 1, "sise": [1, 2]})", "found the key 'sise', expected one of version, input"},
      {R"({"version": 1, "layout": "nchw"})", "key 'layout': found 'nchw', expected one of NCHW"},
      {R"({"version": 1, "layout": 1})", "key 'layout': found an integer"},
      {R"({"version": 1, "size": 28})", "key 'size': found an integer, expected [height, width]"},
      {R"({"version": 1, "size": [28]})", "key 'size'"},
      {R"({"version": 1, "size": [0, 1]})", "key 'size': found 0, expected 1 to"},
      {R"({"version": 1, "size": [1, 1e9]})", "key 'size'"},
      {R"({"version": 1, "mean": 0.5})", "key 'mean': found a number, expected an array"},
      {R"({"version": 1, "mean": ["a"]})", "key 'mean': found a string"},
      {R"({"version": 1, "mean": [1, 2]})", "found 2 values of 'mean'"},
      {R"({"version": 1, "color": "GRAY", "std": [1, 2, 3]})", "3 of 'std', expected 1 or 1"},
      {R"({"version": 1, "std": [0]})", "key 'std': found 0"},
      {R"({"version": 1, "dtype": "int8"})", "key 'dtype': found 'int8'"},
      {R"({"version": 1, "dtype": "uint8", "scale": 2})", "found dtype uint8 with scale"},
      {R"({"version": 1, "batch_axis": 1})", "key 'batch_axis': found 1"},
      {R"({"version": 1, "labels": "a.txt"})", "key 'labels': found a string, expected an array"},
      {R"({"version": 1, "labels": [1]})", "key 'labels': found an integer"},
      {R"({"version": 1, "version": 1})", "version"},
      {R"({"version": 1)", "malformed json"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_THAT(ModelSpec::Parse(text).status().message(), HasSubstr(expected)) << text;
  }
}

TEST(ModelSpec, ComesFromMetadata) {
  Result<ModelSpec> spec =
      ModelSpec::FromMetadata({{"author", "x"}, {kSpecKey, std::string(kFull)}});
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->input, "x");
  EXPECT_FALSE(ModelSpec::FromMetadata({{"author", "x"}})->has_picture());
  EXPECT_THAT(ModelSpec::FromMetadata({{kSpecKey, "{}"}}).status().message(),
              HasSubstr("metadata 'kheya.spec': found no key 'version'"));
}

}  // namespace
}  // namespace kheya
