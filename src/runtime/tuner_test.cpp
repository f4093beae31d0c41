#include "runtime/tuner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <set>
#include <thread>

#include "base/file.h"
#include "kernels/sample.h"
#include "runtime/tactics_cache.h"

namespace kheya {
namespace {

// y = a b for [1, 2] x [2, 1], as one that takes its time or answers wrong.
class FakeProduct : public PreparedKernel {
 public:
  FakeProduct(std::chrono::milliseconds delay, float error) : delay_(delay), error_(error) {}
  Status Run(const KernelArgs& args) const override {
    const auto* a = reinterpret_cast<const float*>(args.inputs[0]);
    const auto* b = reinterpret_cast<const float*>(args.inputs[1]);
    *reinterpret_cast<float*>(args.outputs[0]) = a[0] * b[0] + a[1] * b[1] + error_;
    std::this_thread::sleep_for(delay_);
    return OkStatus();
  }

 private:
  const std::chrono::milliseconds delay_;
  const float error_;
};

KernelCall Product() {
  return {FusedMatMulParams(),
          {{DType::kFloat32, Shape{1, 2}}, {DType::kFloat32, Shape{2, 1}}},
          {{DType::kFloat32, Shape{1, 1}}}};
}

Tuner::Candidate Fake(const std::string& name, int milliseconds, float error = 0) {
  return {name, std::make_shared<FakeProduct>(std::chrono::milliseconds(milliseconds), error)};
}

TEST(TunerTest, TakesTheFastestThatAnswersRight) {
  Tuner tuner({.seconds = 100});
  const std::vector candidates = {Fake("slow", 20), Fake("wrong", 0, 0.5f), Fake("fast", 0),
                                  Fake("nan", 0, NAN)};
  EXPECT_EQ(tuner.Choose("key", Product(), candidates, {}), 2u);
  EXPECT_EQ(tuner.Known("key"), "fast");
  EXPECT_EQ(tuner.num_timed(), 1u);
}

TEST(TunerTest, WithoutTimeTheFirstIsTaken) {
  Tuner tuner({.seconds = 0}, {{"known", "fast"}});
  EXPECT_FALSE(tuner.CanTime());
  EXPECT_EQ(tuner.Choose("key", Product(), std::vector{Fake("slow", 1), Fake("fast", 0)}, {}), 0u);
  EXPECT_EQ(tuner.Known("key"), std::nullopt);
  EXPECT_EQ(tuner.Known("known"), "fast");
}

TEST(TunerTest, SpentTimeEndsTuning) {
  double seen = 0;
  Tuner tuner({.seconds = 0.001, .progress = [&](double seconds) { seen = seconds; }});
  tuner.Choose("key", Product(), std::vector{Fake("slow", 1), Fake("slower", 2)}, {});
  EXPECT_GT(seen, 0.001);
  EXPECT_FALSE(tuner.CanTime());
}

TEST(TunerTest, KeysTellCallsApart) {
  const KernelCall call = Product();
  std::set<std::optional<std::string>> keys = {TuningKey(call, {})};
  const Tensor constant = Tensor::FromValues<float>(Shape{2, 1}, {1, 2});
  const std::vector<const Tensor*> constants = {nullptr, &constant};
  keys.insert(TuningKey(call, constants));
  KernelCall other = call;
  std::get<FusedMatMulParams>(other.params).gemm.alpha = 2;
  keys.insert(TuningKey(other, {}));
  other = call;
  std::get<FusedMatMulParams>(other.params).activation.op = ElementwiseOp::kRelu;
  keys.insert(TuningKey(other, {}));
  other = call;
  other.inputs[0].shape = Shape{3, 2};
  keys.insert(TuningKey(other, {}));
  EXPECT_EQ(keys.size(), 5u);
  EXPECT_EQ(TuningKey({UnaryParams(), {}, {}}, {}), std::nullopt);
}

class TacticsCacheTest : public testing::Test {
 protected:
  const std::string folder_ = testing::TempDir() + "/kheya_tactics";
  const std::string path_ = TacticsCachePath(folder_, "machine");
  const TacticChoices choices_ = {{"a b", "onednn:conv"}, {"c", "portable:winograd4"}};
  void SetUp() override { std::remove(path_.c_str()); }
};

TEST_F(TacticsCacheTest, GivesBackWhatWasWrittenAndAdds) {
  EXPECT_TRUE(ReadTactics(path_, "machine").empty());
  ASSERT_TRUE(WriteTactics(path_, "machine", choices_).ok());
  EXPECT_EQ(ReadTactics(path_, "machine"), choices_);
  ASSERT_TRUE(WriteTactics(path_, "machine", {{"c", "onednn:conv"}, {"d", "x:y"}}).ok());
  EXPECT_EQ(ReadTactics(path_, "machine"),
            (TacticChoices{{"a b", "onednn:conv"}, {"c", "onednn:conv"}, {"d", "x:y"}}));
}

TEST_F(TacticsCacheTest, IgnoresWhatIsForeignOrDamaged) {
  ASSERT_TRUE(WriteTactics(path_, "machine", choices_).ok());
  EXPECT_TRUE(ReadTactics(path_, "another").empty());
  const std::string good = ReadFile(path_).value();
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] ^= 1;
    ASSERT_TRUE(WriteFileAtomic(path_, bad).ok());
    EXPECT_TRUE(ReadTactics(path_, "machine").empty()) << "byte " << i;
    ASSERT_TRUE(WriteFileAtomic(path_, std::string_view(good).substr(0, i)).ok());
    EXPECT_TRUE(ReadTactics(path_, "machine").empty()) << "cut at " << i;
  }
}

TEST_F(TacticsCacheTest, RefusesWhatItCouldNotRead) {
  EXPECT_FALSE(WriteTactics(path_, "machine", {{"a\tb", "x"}}).ok());
  TacticChoices many;
  for (int i = 0; i < 65537; ++i) many.emplace(std::to_string(i), "x");
  EXPECT_EQ(WriteTactics(path_, "machine", many).code(), StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace kheya
