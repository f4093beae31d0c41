#include "formats/formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/testing/model_writer.h"
#include "formats/testing/temp_folder.h"

namespace kheya {
namespace {

using ::testing::HasSubstr;
using namespace std::string_view_literals;

TEST(Formats, NamesWhatIsNotSupported) {
  const test::TempFolder folder;
  const std::pair<std::string_view, const char*> cases[] = {
      {"\x89HDF\r\n\x1a\n...."sv, "looks like HDF5"},
      {"PK\x03\x04zip"sv, "looks like ZIP"},
      {"\x1c\x00\x00\x00TFL3abcd"sv, "looks like TFLite"},
      {"\x80\x02}q\x00."sv, "looks like pickle"},
      {"GGUFabcd"sv, "looks like GGUF"},
      {"version https://git-lfs.github.com/spec/v1"sv, "looks like Git LFS pointer"},
      {"hello world"sv, "looks like nothing known"},
      {""sv, "found an empty file"},
  };
  for (const auto& [content, error] : cases) {
    const std::string path = folder.Write("model", content);
    const Status status = Import(path, ImportOptions()).status();
    EXPECT_THAT(status.message(), HasSubstr(error));
    EXPECT_THAT(status.message(), HasSubstr(path));
  }
  EXPECT_EQ(Import(folder.path() + "/nothing", ImportOptions()).status().code(),
            StatusCode::kNotFound);
}

TEST(Formats, ImportsByContentWhateverTheName) {
  const test::TempFolder folder;
  const std::string model = test::ModelMessage(
      test::GraphMessage(
          {.nodes = {test::NodeMessage({.op = "Relu", .inputs = {"x"}, .outputs = {"y"}})},
           .inputs = {test::ValueMessage("x", DType::kFloat32, {2})},
           .outputs = {test::ValueMessage("y", DType::kFloat32, {2})}}),
      26);
  Result<ImportedModel> imported = Import(folder.Write("model.zip", model), ImportOptions());
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  EXPECT_EQ(imported->format, "onnx");
  EXPECT_EQ(imported->file_bytes, model.size());
}

TEST(Formats, CutFilesAreStillSaidToBeOnnx) {
  const test::TempFolder folder;
  const std::string model = test::ModelMessage(test::GraphMessage({}), 26);
  const Status status =
      Import(folder.Write("m", std::string_view(model).substr(0, 4)), ImportOptions()).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.message();
}

}  // namespace
}  // namespace kheya
