// A thousand hostile ONNX files: each is refused with one clean line, or taken.
#include "hostile/hostile_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <set>

#include "base/random.h"
#include "base/string_util.h"
#include "formats/conformance/backend_cases.h"
#include "formats/formats.h"
#include "formats/testing/backend_data.h"
#include "formats/testing/temp_folder.h"
#include "hostile/digest_model.h"

namespace kheya {
namespace {

constexpr size_t kFiles = 1000;
// Of the whole test; the sanitizers' own memory is in it.
constexpr long kMaxResidentKilobytes = 1536 * 1024;

long PeakResidentKilobytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

class HostileModels : public ::testing::Test {
 protected:
  HostileModels() {
    folder_.Write("weights.bin", std::string(64, '\1'));
    std::filesystem::create_directory(folder_.path() + "/folder");
    std::filesystem::create_symlink("/etc/passwd", folder_.path() + "/link");
  }

  void Check(const test::HostileModel& model) {
    SCOPED_TRACE(model.name);
    const Status status = test::DigestModel(folder_.Write("m.onnx", model.bytes));
    ++(status.ok() ? taken_ : refused_);
    if (status.ok()) return;
    EXPECT_FALSE(status.message().empty());
    EXPECT_EQ(status.message().find('\n'), std::string::npos) << status.message();
    EXPECT_TRUE(IsValidUtf8(status.message()));
    EXPECT_LT(status.message().size(), 2000u);
    const std::set<StatusCode> clean = {StatusCode::kInvalidArgument, StatusCode::kUnimplemented,
                                        StatusCode::kResourceExhausted, StatusCode::kNotFound,
                                        StatusCode::kOutOfRange};
    EXPECT_TRUE(clean.contains(status.code())) << status.ToString();
  }

  test::TempFolder folder_;
  size_t taken_ = 0;
  size_t refused_ = 0;
};

// The models that mutations start from: ours, and small ones of the ONNX project where they are.
std::vector<std::string> Seeds() {
  std::vector<std::string> seeds = test::SeedModels();
  const std::vector<std::string> folders = test::BackendDataFolders();
  if (folders.empty()) return seeds;
  Result<std::vector<conformance::BackendCase>> cases =
      conformance::FindBackendCases(folders[0] + "/node");
  if (!cases.ok()) return seeds;
  constexpr size_t kStride = 7;
  for (size_t i = 0; i < cases->size(); i += kStride) {
    Result<std::string> bytes = ReadFile((*cases)[i].model_path);
    if (bytes.ok() && bytes->size() < 20'000) seeds.push_back(std::move(bytes).value());
  }
  return seeds;
}

TEST_F(HostileModels, AThousandFiles) {
  for (const std::string& seed : test::SeedModels()) {
    const Status status = test::DigestModel(folder_.Write("seed.onnx", seed));
    EXPECT_TRUE(status.ok() || status.code() == StatusCode::kUnimplemented) << status.message();
  }
  for (const auto& models : {test::HostileStructures(), test::HostileTensors(),
                             test::HostileOperators(), test::HostileBytes()}) {
    for (const test::HostileModel& model : models) Check(model);
  }
  const size_t by_hand = taken_ + refused_;
  EXPECT_GT(by_hand, 300u);
  const std::vector<std::string> seeds = Seeds();
  Random random(2026);
  for (size_t i = by_hand; i < kFiles; ++i) {
    const std::string& seed = seeds[random.UniformInt(seeds.size())];
    const std::string& other = seeds[random.UniformInt(seeds.size())];
    Check({fmt::format("mutation {}", i), test::Mutate(seed, other, random.Next())});
  }
  EXPECT_EQ(taken_ + refused_, kFiles);
  EXPECT_GT(refused_, kFiles / 2);
  EXPECT_LT(PeakResidentKilobytes(), kMaxResidentKilobytes);
  std::printf("%zu refused, %zu taken, %ld kB at most\n", refused_, taken_,
              PeakResidentKilobytes());
}

}  // namespace
}  // namespace kheya
