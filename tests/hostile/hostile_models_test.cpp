// Thousands of hostile ONNX files: each is refused with one clean line, or runs. With
// KHEYA_HOSTILE_KEEP=FILE, FILE holds the one that was read last: with --gtest_break_on_failure or
// after a crash, the one that shows it.
#include "hostile/hostile_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/random.h"
#include "base/string_util.h"
#include "formats/conformance/backend_cases.h"
#include "formats/formats.h"
#include "formats/testing/backend_data.h"
#include "formats/testing/temp_folder.h"
#include "hostile/digest_model.h"
#include "hostile/message_tree.h"
#include "hostile/parts.h"

namespace kheya {
namespace {

// Of one file. What a run is given is far less; constants are folded without a clock.
constexpr double kMostSeconds = 10;
const char* const kKeep = std::getenv("KHEYA_HOSTILE_KEEP");
// What one test may add; the sanitizers' own memory is in it.
constexpr long kMaxResidentKilobytes = 1536 * 1024;

int64_t Setting(const char* name, int64_t missing) {
  const char* text = std::getenv(name);
  return text == nullptr ? missing : std::atoll(text);
}

// "VmHWM", the most since the peak was reset, or "VmRSS".
long StatusKilobytes(std::string_view field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field)) return std::atol(line.c_str() + field.size() + 1);
  }
  return 0;
}

void ResetPeak() { std::ofstream("/proc/self/clear_refs") << 5; }

class HostileModels : public ::testing::Test {
 protected:
  HostileModels() {
    ResetPeak();
    before_ = StatusKilobytes("VmRSS");
    folder_.Write("weights.bin", std::string(64, '\1'));
    std::filesystem::create_directory(folder_.path() + "/folder");
    std::filesystem::create_symlink("/etc/passwd", folder_.path() + "/link");
  }

  void Check(const test::HostileModel& model) {
    SCOPED_TRACE(model.name);
    if (kKeep != nullptr) std::ofstream(kKeep) << model.bytes;
    const test::Digested digested = test::DigestModel(folder_.Write("m.onnx", model.bytes));
    const Status& status = digested.status;
    ++(status.ok() ? taken_ : digested.compiled ? stopped_ : refused_);
    EXPECT_LT(digested.seconds, kMostSeconds);
    if (digested.seconds > slowest_) {
      slowest_ = digested.seconds;
      slowest_name_ = model.name;
    }
    if (status.ok()) return;
    EXPECT_FALSE(status.message().empty());
    EXPECT_EQ(status.message().find('\n'), std::string::npos) << status.message();
    EXPECT_TRUE(IsValidUtf8(status.message()));
    EXPECT_LT(status.message().size(), 2000u);
    EXPECT_TRUE(IsClean(status.code())) << status.ToString();
  }

  // Models that `mutate` makes of two seeds until `count` files were checked.
  template <typename Mutation>
  void CheckMutations(const std::vector<std::string>& seeds, size_t count, Mutation mutate) {
    Random random(static_cast<uint64_t>(Setting("KHEYA_FUZZ_SEED", 2026)));
    for (size_t i = checked(); i < count; ++i) {
      const std::string& seed = seeds[random.UniformInt(seeds.size())];
      const std::string& other = seeds[random.UniformInt(seeds.size())];
      Check({fmt::format("mutation {}", i), mutate(seed, other, random.Next())});
    }
  }

  void Report() const {
    const long added = StatusKilobytes("VmHWM") - before_;
    EXPECT_LT(added, kMaxResidentKilobytes);
    std::printf(
        "%zu refused, %zu failed in their run, %zu ran; %ld kB more at most; %.1f s for '%s'\n",
        refused_, stopped_, taken_, added, slowest_, slowest_name_.c_str());
  }

  size_t checked() const { return taken_ + stopped_ + refused_; }

  static bool IsClean(StatusCode code) {
    const std::set<StatusCode> clean = {
        StatusCode::kInvalidArgument, StatusCode::kUnimplemented, StatusCode::kResourceExhausted,
        StatusCode::kNotFound,        StatusCode::kOutOfRange,    StatusCode::kDeadlineExceeded};
    return clean.contains(code);
  }

  test::TempFolder folder_;
  long before_ = 0;
  size_t taken_ = 0;
  size_t stopped_ = 0;
  size_t refused_ = 0;
  double slowest_ = 0;
  std::string slowest_name_;
};

// Small models of the ONNX project, every `stride`-th, where they are.
void AddBackendModels(std::vector<std::string>& seeds, size_t stride) {
  const std::vector<std::string> folders = test::BackendDataFolders();
  if (folders.empty()) return;
  Result<std::vector<conformance::BackendCase>> cases =
      conformance::FindBackendCases(folders.back() + "/node");
  if (!cases.ok()) return;
  for (size_t i = 0; i < cases->size(); i += stride) {
    Result<std::string> bytes = ReadFile((*cases)[i].model_path);
    if (bytes.ok() && bytes->size() < 20'000) seeds.push_back(std::move(bytes).value());
  }
}

TEST_F(HostileModels, AThousandFiles) {
  constexpr size_t kFiles = 1000;
  for (const std::string& seed : test::SeedModels()) {
    const Status status = test::DigestModel(folder_.Write("seed.onnx", seed)).status;
    EXPECT_TRUE(status.ok() || status.code() == StatusCode::kUnimplemented) << status.message();
  }
  for (const auto& models : {test::HostileStructures(), test::HostileTensors(),
                             test::HostileOperators(), test::HostileBytes()}) {
    for (const test::HostileModel& model : models) Check(model);
  }
  EXPECT_GT(checked(), 300u);
  std::vector<std::string> seeds = test::SeedModels();
  AddBackendModels(seeds, 7);
  CheckMutations(seeds, kFiles, test::Mutate);
  EXPECT_EQ(checked(), kFiles);
  EXPECT_GT(refused_, kFiles / 2);
  Report();
}

struct Theme {
  std::string name;
  std::vector<test::HostileModel> (*models)();
};

class HostileTheme : public HostileModels, public testing::WithParamInterface<Theme> {};

// The operators that came with every operator: subgraphs, strings, sequences, trees, ...
TEST_P(HostileTheme, IsRefusedOrRuns) {
  for (const test::HostileModel& model : GetParam().models()) Check(model);
  EXPECT_GT(checked(), 30u);
  EXPECT_GT(refused_ + stopped_, 0u);
  EXPECT_GT(taken_, 0u);
  Report();
}

INSTANTIATE_TEST_SUITE_P(Operators, HostileTheme,
                         testing::Values(Theme{"ControlFlow", test::HostileControlFlow},
                                         Theme{"Values", test::HostileValues},
                                         Theme{"Learning", test::HostileLearning},
                                         Theme{"Signals", test::HostileSignals},
                                         Theme{"Quantized", test::HostileQuantized},
                                         Theme{"Functions", test::HostileFunctions}),
                         [](const auto& info) { return info.param.name; });

// Valid models of every operator with a few fields changed. KHEYA_FUZZ_ROUNDS and KHEYA_FUZZ_SEED
// ask for more of them, or others.
TEST_F(HostileModels, ChangesOfFields) {
  const auto files = static_cast<size_t>(Setting("KHEYA_FUZZ_ROUNDS", 2500));
  std::vector<std::string> seeds;
  for (const test::CaseModel& model : test::CaseModels()) seeds.push_back(model.bytes);
  EXPECT_GT(seeds.size(), 500u);
  AddBackendModels(seeds, 4);
  CheckMutations(seeds, files, test::MutateFields);
  EXPECT_GT(taken_, files / 10);
  EXPECT_GT(refused_, files / 4);
  Report();
}

// The models of the cases are what they are meant to be: most of them run.
TEST_F(HostileModels, CaseModelsRun) {
  for (const test::CaseModel& model : test::CaseModels()) {
    Check({model.file + " " + model.name, model.bytes});
  }
  EXPECT_GT(taken_, checked() / 2);
  Report();
}

}  // namespace
}  // namespace kheya
