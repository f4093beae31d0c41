// Every operator on cases that were changed at random. KHEYA_FUZZ_ROUNDS and KHEYA_FUZZ_SEED ask
// for more of them, or others; fuzz/fuzz_ops.cpp looks on.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>

#include "ops/testing/op_fuzz.h"

namespace kheya {
namespace {

int64_t Setting(const char* name, int64_t missing) {
  const char* text = std::getenv(name);
  return text == nullptr ? missing : std::atoll(text);
}

class HostileOps : public testing::TestWithParam<const OpDef*> {};

TEST_P(HostileOps, AnswerAsInferredOrRefuse) {
  const OpDef& op = *GetParam();
  const Result<test::OpCaseFile> file = test::ReadCaseFile(
      std::string(KHEYA_SOURCE_DIR) + "/tests/cases/ops/" + test::CaseFileOf(op), op);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  std::mt19937 engine(static_cast<uint32_t>(Setting("KHEYA_FUZZ_SEED", 1)));
  const test::Choose choose = [&](uint32_t count) {
    return count == 0 ? 0 : static_cast<uint32_t>(engine() % count);
  };
  const int64_t rounds = Setting("KHEYA_FUZZ_ROUNDS", 150);
  for (int64_t round = 0; round < rounds; ++round) {
    test::OpCase one = file->cases[choose(static_cast<uint32_t>(file->cases.size()))];
    if (one.inputs.empty() && !one.infer_inputs.empty()) continue;
    for (uint32_t changes = choose(4); changes > 0; --changes) test::Mutate(op, one, choose);
    const std::string wrong = test::CheckHostile(op, one, choose, 8000);
    ASSERT_EQ(wrong, "") << "case '" << one.name << "', round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(All, HostileOps, testing::ValuesIn(AllOps().begin(), AllOps().end()),
                         [](const auto& info) {
                           std::string name = test::CaseFileOf(*info.param);
                           std::replace(name.begin(), name.end(), '/', '_');
                           return name.substr(0, name.rfind('.'));
                         });

}  // namespace
}  // namespace kheya
