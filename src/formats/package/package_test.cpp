#include "formats/package/package.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "formats/formats.h"
#include "formats/package/graph_io.h"
#include "formats/testing/temp_folder.h"
#include "graph/text.h"

namespace kheya {
namespace {

using ::testing::HasSubstr;

constexpr const char* kGraph = R"(graph net(c: bool[], x: float32[batch,3]) -> (y, z) {
  @producer "somebody"
  @opset "" 17
  @metadata "key" "value"
  w: float32[3,2] = [1, 2, 3, 4, 5, 6]
  names: string[2] = ["a", "bc"]
  t: float32[batch,2] = MatMul(x, w) {name: "product"}
  y: float32[batch,2] = If(c) {
    then_branch: graph t() captures (a: float32[batch,2] = t) -> (r) { r = Relu(a) },
    else_branch: graph e() captures (b: float32[batch,2] = t) -> (r) { r = Neg(b) }
  }
  z: string[2] = Identity(names) {floats: [1.5, -0.0], ints: [1, 2], text: "x"}
})";

std::string WritePackage(const std::string& path, const Graph& graph) {
  ConstantWriter constants;
  const Result<std::string> bytes = WriteGraph(graph, &constants);
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  const std::string table = constants.Table();
  const std::vector<SectionContent> sections = {{SectionKind::kConstants, 0, {table}},
                                                {SectionKind::kGraph, 0, {*bytes}},
                                                {SectionKind::kData, 0, constants.Pieces()}};
  EXPECT_TRUE(WritePackageFile(path, sections, false).ok());
  return ReadFile(path).value();
}

class PackageFormat : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<Graph> graph = ParseGraph(kGraph);
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    text_ = PrintGraph(*graph);
    content_ = WritePackage(folder_.path() + "/m.kheya", *graph);
  }

  Result<ImportedModel> ImportContent(std::string_view content) const {
    return Import(folder_.Write("changed", content), ImportOptions());
  }

  const test::TempFolder folder_;
  std::string text_;
  std::string content_;
};

TEST_F(PackageFormat, GivesTheSameGraph) {
  const Result<ImportedModel> model = ImportContent(content_);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->format, "kheya");
  EXPECT_EQ(PrintGraph(model->graph), text_);
}

TEST_F(PackageFormat, SectionsAndConstantsAreAligned) {
  const MappedFile file = MappedFile::Open(folder_.path() + "/m.kheya").value();
  const PackageFile package = PackageFile::Open(file).value();
  ASSERT_EQ(package.sections().size(), 3u);
  for (const PackageSection& section : package.sections()) {
    EXPECT_EQ(section.offset % kPackagePage, 0u);
  }
  EXPECT_EQ(content_.size() % kPackagePage, 0u);
  EXPECT_TRUE(package.Verify().ok());
  const std::vector<PackageConstant> constants = ReadConstants(package).value();
  for (const PackageConstant& constant : constants) {
    if (constant.tensor.dtype() == DType::kString) continue;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(constant.tensor.bytes().data()) % kAlignment, 0u);
  }
}

// Whatever is cut is refused.
TEST_F(PackageFormat, RefusesCutFiles) {
  for (size_t size = 0; size < content_.size(); size += size < 600 ? 1 : 97) {
    const Result<ImportedModel> model = ImportContent(std::string_view(content_).substr(0, size));
    ASSERT_FALSE(model.ok()) << size;
  }
}

// Any changed bit is found, but those between the sections.
TEST_F(PackageFormat, FindsEveryChange) {
  const MappedFile file = MappedFile::Open(folder_.path() + "/m.kheya").value();
  const PackageFile package = PackageFile::Open(file).value();
  for (const PackageSection& section : package.sections()) {
    for (uint64_t i = 0; i < section.bytes; i += section.kind == SectionKind::kData ? 3 : 1) {
      std::string changed = content_;
      changed[section.offset + i] ^= 0x10;
      const PackageFile opened =
          PackageFile::Open(MappedFile::Open(folder_.Write("changed", changed)).value()).value();
      EXPECT_THAT(opened.Verify().message(), HasSubstr("damaged package"));
      if (section.kind == SectionKind::kData) continue;
      ASSERT_FALSE(Import(folder_.path() + "/changed", ImportOptions()).ok());
    }
  }
  for (size_t i = 0; i < 48 + 3 * 40; ++i) {
    std::string changed = content_;
    changed[i] ^= 1;
    ASSERT_FALSE(ImportContent(changed).ok()) << i;
  }
}

// Content that is wrong behind right hashes: refused or taken, never worse.
TEST_F(PackageFormat, TakesNothingOnTrust) {
  const MappedFile file = MappedFile::Open(folder_.path() + "/m.kheya").value();
  const PackageFile package = PackageFile::Open(file).value();
  Random random(7);
  size_t refused = 0;
  constexpr int kRounds = 3000;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::string> parts;
    std::vector<SectionContent> sections;
    for (const PackageSection& section : package.sections()) {
      const std::span<const std::byte> bytes = package.Bytes(section);
      parts.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    std::string& part = parts[random.UniformInt(2)];
    for (int64_t changes = 1 + random.UniformInt(3); changes > 0; --changes) {
      part[random.UniformInt(part.size())] = static_cast<char>(random.UniformInt(256));
    }
    if (random.UniformInt(8) == 0) part.resize(random.UniformInt(part.size()));
    for (size_t i = 0; i < parts.size(); ++i) {
      sections.push_back({package.sections()[i].kind, 0, {parts[i]}});
    }
    const std::string path = folder_.path() + "/changed";
    ASSERT_TRUE(WritePackageFile(path, sections, false).ok());
    if (!Import(path, ImportOptions()).ok()) ++refused;
  }
  EXPECT_GT(refused, kRounds / 2u);
}

TEST_F(PackageFormat, NamesOtherVersions) {
  std::string changed = content_;
  changed[8] = 99;
  EXPECT_THAT(ImportContent(changed).status().message(), HasSubstr("a package of version 99"));
}

}  // namespace
}  // namespace kheya
