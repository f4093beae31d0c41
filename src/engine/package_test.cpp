#include "engine/package.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/random.h"
#include "engine/engine.h"
#include "formats/testing/temp_folder.h"
#include "graph/text.h"
#include "ops/infer.h"

namespace kheya {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A model whose weights are packed: over 64 KiB, with a convolution by Winograd and a product.
Model MakeModel(const std::string& batch = "2") {
  Model model;
  model.path = "net.onnx";
  model.graph =
      ParseGraph(fmt::format("graph net(x: float32[{},64,9,9]) -> (p) {{ p = Relu(x) }}", batch))
          .value();
  Graph graph("net");
  graph.metadata() = {{"kheya.spec", "{}"}, {"note", "kept"}};
  const ValueId x = graph.AddInput("x", model.graph.value(model.graph.inputs()[0]).type);
  Random random(3);
  const auto weights = [&](const char* name, const Shape& shape) {
    Tensor tensor = Tensor::Allocate(DType::kFloat32, shape).value();
    for (float& value : tensor.mutable_data<float>()) value = random.Uniform(-0.1f, 0.1f);
    return graph.AddConstant(name, std::move(tensor));
  };
  const ValueId conv = weights("w", Shape{64, 64, 3, 3});
  const ValueId bias = weights("b", Shape{64});
  const ValueId dense = weights("d", Shape{64, 96});
  const auto add = [&](NodeSpec spec) {
    const NodeId id = graph.AddNode(std::move(spec)).value();
    return graph.node(id).outputs[0];
  };
  const ValueId c = add({.op = "Conv",
                         .inputs = {x, conv, bias},
                         .outputs = {"c"},
                         .attributes = {{"pads", std::vector<int64_t>{1, 1, 1, 1}}}});
  const ValueId r = add({.op = "Relu", .inputs = {c}, .outputs = {"r"}});
  const ValueId g = add({.op = "GlobalAveragePool", .inputs = {r}, .outputs = {"g"}});
  const ValueId f = add({.op = "Flatten", .inputs = {g}, .outputs = {"f"}});
  const ValueId m = add({.op = "MatMul", .inputs = {f, dense}, .outputs = {"m"}});
  graph.AddOutput("y", m);
  model.graph = std::move(graph);
  EXPECT_TRUE(InferTypes(model.graph).ok());
  return model;
}

Tensor MakeInput(int64_t batch = 2) {
  Tensor tensor = Tensor::Allocate(DType::kFloat32, Shape{batch, 64, 9, 9}).value();
  Random random(5);
  for (float& value : tensor.mutable_data<float>()) value = random.Uniform(-1.0f, 1.0f);
  return tensor;
}

Tensor RunOnce(CompiledModel& model, const Tensor& input) {
  RunContext context;
  std::vector<Value> outputs(1);
  const Status status = model.Run(context, std::vector<Value>{input}, outputs);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return status.ok() ? outputs[0].tensor() : Tensor();
}

std::string Phases(const PhaseTimes& times) {
  std::string names;
  for (const auto& [name, seconds] : times) names += name + ";";
  return names;
}

class PackageTest : public ::testing::Test {
 protected:
  // A package of the model and what the model answers.
  void Save(const std::string& batch, const std::map<std::string, Shape>& shapes = {}) {
    CompileOptions options;
    options.keep_package = true;
    const auto compiled = CompileModel(MakeModel(batch), options);
    ASSERT_TRUE(compiled.ok()) << compiled.status().ToString();
    if (!shapes.empty()) {
      ASSERT_TRUE((*compiled)->Prepare(shapes).ok());
    }
    const Status saved = (*compiled)->SavePackage(path_);
    ASSERT_TRUE(saved.ok()) << saved.ToString();
    expected_ = RunOnce(**compiled, MakeInput());
  }

  Result<std::shared_ptr<CompiledModel>> Load(CompileOptions options = {}) {
    warnings_.clear();
    phases_.clear();
    options.warnings = &warnings_;
    options.phases = &phases_;
    return LoadAndCompile(path_, {}, options);
  }

  // Loads and expects the same answer.
  void ExpectSame(const CompileOptions& options = {}) {
    const auto loaded = Load(options);
    ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
    EXPECT_TRUE(BitwiseEqual(RunOnce(**loaded, MakeInput()), expected_));
  }

  std::string Content() const { return ReadFile(path_).value(); }
  std::string SectionText(const PackageFile& file, const PackageSection& section) {
    const std::span<const std::byte> bytes = file.Bytes(section);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  // Writes the package again with `change` applied to each section's text; hashes are right.
  template <typename Change>
  void Rewrite(const Change& change) {
    const std::string before = Content();
    const PackageFile file =
        PackageFile::Open(MappedFile::Open(path_, {1 << 30, true}).value()).value();
    std::vector<std::string> texts;
    for (const PackageSection& section : file.sections()) {
      texts.push_back(SectionText(file, section));
      change(section.kind, &texts.back());
    }
    std::vector<SectionContent> sections;
    for (size_t i = 0; i < texts.size(); ++i) {
      sections.push_back({file.sections()[i].kind, file.sections()[i].target, {texts[i]}});
    }
    ASSERT_TRUE(WritePackageFile(path_, sections, false).ok());
  }

  void FlipByte(SectionKind kind, uint64_t at) {
    std::string content = Content();
    const PackageFile file = PackageFile::Open(MappedFile::Open(path_).value()).value();
    content[file.Find(kind)->offset + at] ^= 0x40;
    folder_.Write("net.kheya", content);
  }

  test::TempFolder folder_;
  const std::string path_ = folder_.path() + "/net.kheya";
  Tensor expected_;
  std::vector<std::string> warnings_;
  PhaseTimes phases_;
};

TEST_F(PackageTest, AnswersTheSameWithoutPassesAndPacking) {
  Save("2");
  ExpectSame();
  EXPECT_THAT(warnings_, IsEmpty());
  EXPECT_EQ(Phases(phases_), "read;open;graph;plan; hash; pack;");
  EXPECT_EQ(phases_.back().second, 0);
  const auto loaded = Load();
  EXPECT_EQ((*loaded)->name(), "net");
  EXPECT_EQ((*loaded)->metadata().size(), 2u);
  EXPECT_EQ((*loaded)->inputs()[0].type.ToString(), "float32[2,64,9,9]");
  EXPECT_EQ((*loaded)->Macs({}), CompileModel(MakeModel(), {}).value()->Macs({}));
}

TEST_F(PackageTest, TakesOtherShapesToo) {
  Save("n", {{"x", Shape{2, 64, 9, 9}}});
  ExpectSame();
  const auto loaded = Load();
  EXPECT_EQ((*loaded)->inputs()[0].type.ToString(), "float32[n,64,9,9]");
  const auto fresh = CompileModel(MakeModel("n"), {}).value();
  for (const int64_t batch : {2, 5, 1}) {
    EXPECT_TRUE(
        BitwiseEqual(RunOnce(**loaded, MakeInput(batch)), RunOnce(*fresh, MakeInput(batch))));
  }
  CompileOptions options;
  options.input_shapes = {{"x", Shape{2, 64, 9, 9}}};
  ExpectSame(options);
  EXPECT_EQ(Phases(phases_), "read;open;graph;plan; hash; pack;");
  options.input_shapes = {{"x", Shape{3, 64, 9, 9}}};
  ASSERT_TRUE(Load(options).ok());
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("compiled again: it was not compiled for these")));
}

TEST_F(PackageTest, IsCompiledAgainForOtherOptionsAndMachines) {
  Save("2");
  CompileOptions options;
  options.tactics = "portable";
  ASSERT_TRUE(Load(options).ok());
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("compiled again: it was compiled with other")));
  Rewrite([](SectionKind kind, std::string* text) {
    if (kind == SectionKind::kPlans) (*text)[12] ^= 1;  // in the machine's name
  });
  ExpectSame();
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("compiled again: it was compiled for '")));
}

TEST_F(PackageTest, KeepsWhatOtherMachinesHave) {
  Save("2");
  Rewrite([](SectionKind kind, std::string* text) {
    if (kind == SectionKind::kPlans) (*text)[12] ^= 1;
  });
  CompileOptions options;
  options.keep_package = true;
  const auto loaded = Load(options);
  ASSERT_TRUE(loaded.ok());
  ASSERT_TRUE((*loaded)->SavePackage(path_).ok());
  ExpectSame();
  EXPECT_THAT(warnings_, IsEmpty());
  Rewrite([](SectionKind kind, std::string* text) {  // now the other one is this machine
    if (kind == SectionKind::kPlans) (*text)[12] ^= 1;
  });
  ExpectSame();
  EXPECT_THAT(warnings_, IsEmpty());
  EXPECT_EQ(phases_.back().second, 0);
}

TEST_F(PackageTest, DamagedPackedWeightsAreMadeAgain) {
  Save("2");
  FlipByte(SectionKind::kPacked, 5000);
  ExpectSame();
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("1 packed weights are damaged or missing")));
  EXPECT_THAT(VerifyPackage(path_).message(), HasSubstr("section packed 0 was changed"));
}

TEST_F(PackageTest, DamagedWeightsAreNeverUsed) {
  Save("2");
  FlipByte(SectionKind::kPacked, 5000);
  for (uint64_t at = 0; at < 147456; at += 16000) {  // the weights of the convolution
    FlipByte(SectionKind::kData, at);
    const auto loaded = Load();
    ASSERT_FALSE(loaded.ok()) << at;
    EXPECT_EQ(loaded.status().code(), StatusCode::kInvalidArgument);
    FlipByte(SectionKind::kData, at);
  }
  ExpectSame();
}

TEST_F(PackageTest, DamagedPlansAreMadeAgain) {
  Save("2");
  FlipByte(SectionKind::kPlans, 300);
  ExpectSame();
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("compiled again: its plans are damaged")));
}

TEST_F(PackageTest, DamagedFactsAreErrors) {
  Save("2");
  for (const SectionKind kind : {SectionKind::kModel, SectionKind::kConstants}) {
    FlipByte(kind, 40);
    const Status status = Load().status();
    EXPECT_THAT(status.message(), HasSubstr(path_));
    EXPECT_THAT(status.message(), HasSubstr("damaged"));
    FlipByte(kind, 40);
  }
}

// Packages that mean harm: everything but weights changed at random behind right hashes.
TEST_F(PackageTest, SurvivesHostileContent) {
  Save("2");
  const std::string good = Content();
  Random random(11);
  size_t ran = 0, refused = 0;
  for (int round = 0; round < 400; ++round) {
    folder_.Write("net.kheya", good);
    Rewrite([&](SectionKind kind, std::string* text) {
      if (kind == SectionKind::kPacked || kind == SectionKind::kData) return;
      if (random.UniformInt(2) == 0) return;
      const bool plans = kind == SectionKind::kPlans;
      const size_t first = plans ? 8 + PlanMachine().size() : 0;  // else nothing behind is read
      for (int64_t changes = 1 + random.UniformInt(2); changes > 0; --changes) {
        const size_t at = first + random.UniformInt(text->size() - first);
        (*text)[at] = static_cast<char>(random.UniformInt(256));
      }
    });
    CompileOptions options;
    options.budget = std::make_shared<MemoryBudget>("test", 64 << 20);
    const auto loaded = Load(options);
    if (!loaded.ok()) {
      ++refused;
      continue;
    }
    RunContext context;
    std::vector<Value> outputs((*loaded)->outputs().size());
    (void)(*loaded)->Run(context, std::vector<Value>{MakeInput()}, outputs);
    ++ran;
  }
  EXPECT_GT(ran, 0u);
  EXPECT_GT(refused, 0u);
}

TEST_F(PackageTest, OnlyWhatWasKeptIsSaved) {
  const auto compiled = CompileModel(MakeModel(), {});
  EXPECT_EQ((*compiled)->SavePackage(path_).code(), StatusCode::kFailedPrecondition);
}

// The cache of compiled models.
class ModelCacheTest : public PackageTest {
 protected:
  void SetUp() override {
    model_ = folder_.path() + "/net.onnx";
    ASSERT_TRUE(SaveModel(MakeModel("2"), model_, {}).ok());
    expected_ = RunOnce(*CompileModel(MakeModel("2"), {}).value(), MakeInput());
  }

  // Whether the model came from the cache.
  bool LoadCached(CompileOptions options = {}) {
    options.cache_dir = folder_.path() + "/cache";
    phases_.clear();
    options.phases = &phases_;
    const auto loaded = LoadAndCompile(model_, {}, options);
    EXPECT_TRUE(loaded.ok()) << loaded.status().ToString();
    if (!loaded.ok()) return false;
    EXPECT_TRUE(BitwiseEqual(RunOnce(**loaded, MakeInput()), expected_));
    return Phases(phases_).find("simplify") == std::string::npos;
  }

  std::vector<std::string> Kept() const {
    std::vector<std::string> files;
    for (const auto& entry :
         std::filesystem::directory_iterator(folder_.path() + "/cache/models")) {
      files.push_back(entry.path().string());
    }
    return files;
  }

  std::string model_;
};

TEST_F(ModelCacheTest, TheSecondLoadPacksNothing) {
  EXPECT_FALSE(LoadCached());
  EXPECT_EQ(Kept().size(), 1u);
  EXPECT_TRUE(LoadCached());
  EXPECT_EQ(phases_.back().second, 0) << phases_.back().first;
  CompileOptions portable;
  portable.tactics = "portable:conv";
  portable.cache_dir = folder_.path() + "/cache";
  ASSERT_TRUE(LoadAndCompile(model_, {}, portable).ok());
  EXPECT_EQ(Kept().size(), 2u);
  EXPECT_TRUE(LoadCached());
}

TEST_F(ModelCacheTest, OtherContentUnderTheSameNameIsAnotherModel) {
  EXPECT_FALSE(LoadCached());
  Model other = MakeModel("2");
  other.graph.set_name("other");
  ASSERT_TRUE(SaveModel(other, model_, {}).ok());
  EXPECT_FALSE(LoadCached());
  EXPECT_EQ(Kept().size(), 2u);
}

TEST_F(ModelCacheTest, DamagedFilesCountAsNone) {
  EXPECT_FALSE(LoadCached());
  const std::string kept = Kept().at(0);
  const std::string good = ReadFile(kept).value();
  for (const size_t at :
       {size_t{3}, size_t{30}, size_t{4100}, good.size() / 2, good.size() - 5000}) {
    std::string changed = good;
    changed[at] ^= 1;
    ASSERT_TRUE(WriteFileAtomic(kept, changed).ok());
    LoadCached();
  }
  for (const size_t size : {size_t{0}, size_t{20}, size_t{5000}, good.size() - 1}) {
    ASSERT_TRUE(WriteFileAtomic(kept, good.substr(0, size)).ok());
    EXPECT_FALSE(LoadCached()) << size;
    EXPECT_EQ(ReadFile(kept).value(), good);
  }
}

TEST_F(ModelCacheTest, TheLeastRecentlyUsedGoes) {
  EXPECT_FALSE(LoadCached());
  const std::string first = Kept().at(0);
  CompileOptions options;
  options.cache_bytes = std::filesystem::file_size(first) + 1000;
  options.input_shapes = {{"x", Shape{2, 64, 9, 9}}};
  std::filesystem::last_write_time(
      first, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_FALSE(LoadCached(options));
  ASSERT_EQ(Kept().size(), 1u);
  EXPECT_NE(Kept().at(0), first);
  EXPECT_TRUE(LoadCached(options));
}

TEST_F(ModelCacheTest, NothingIsKeptWhereThereIsNoRoom) {
  CompileOptions options;
  options.cache_bytes = 0;
  EXPECT_FALSE(LoadCached(options));
  EXPECT_FALSE(LoadCached(options));
  folder_.Write("file", "no folder");
  options = CompileOptions();
  options.cache_dir = folder_.path() + "/file";
  EXPECT_TRUE(LoadAndCompile(model_, {}, options).ok());
}

TEST_F(ModelCacheTest, ShapesAreAddedToAModelWithOpenOnes) {
  ASSERT_TRUE(SaveModel(MakeModel("n"), model_, {}).ok());
  CompileOptions options;
  options.cache_dir = folder_.path() + "/cache";
  options.phases = &phases_;
  for (const int64_t batch : {2, 5, 2, 5, 2}) {
    phases_.clear();
    const auto loaded = LoadAndCompile(model_, {}, options);
    ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
    ASSERT_TRUE((*loaded)->Prepare({{"x", Shape{batch, 64, 9, 9}}}).ok());
    const auto fresh = CompileModel(MakeModel("n"), {}).value();
    EXPECT_TRUE(
        BitwiseEqual(RunOnce(**loaded, MakeInput(batch)), RunOnce(*fresh, MakeInput(batch))));
  }
  EXPECT_EQ(Kept().size(), 1u);
  const MappedFile file = MappedFile::Open(Kept()[0]).value();
  EXPECT_EQ(Package::Open(file).value()->plans()->plans.size(), 2u);
}

}  // namespace
}  // namespace kheya
