// Operators: the first bytes choose an operator and a case of it, the others what is changed. Its
// inference and its evaluation must agree or refuse it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "ops/testing/op_fuzz.h"

namespace {

// Numbers from the input; zeros when it is used up.
class Bytes {
 public:
  explicit Bytes(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  uint32_t Choose(uint32_t count) {
    if (count <= 1) return 0;
    uint32_t number = Next();
    if (count > 256) number = number << 8 | Next();
    return number % count;
  }

 private:
  uint32_t Next() {
    if (bytes_.empty()) return 0;
    const uint8_t first = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return first;
  }

  std::span<const uint8_t> bytes_;
};

// The cases of each operator, in the order of AllOps().
const std::vector<std::vector<kheya::test::OpCase>>& AllCases() {
  static const auto* all = [] {
    auto* read = new std::vector<std::vector<kheya::test::OpCase>>;
    for (const kheya::OpDef* op : kheya::AllOps()) {
      const std::string path =
          std::string(KHEYA_SOURCE_DIR) + "/tests/cases/ops/" + kheya::test::CaseFileOf(*op);
      auto file = kheya::test::ReadCaseFile(path, *op);
      if (!file.ok()) {
        std::fprintf(stderr, "%s\n", file.status().ToString().c_str());
        std::abort();
      }
      read->push_back(std::move(file->cases));
    }
    return read;
  }();
  return *all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes bytes({data, size});
  const kheya::test::Choose choose = [&](uint32_t count) { return bytes.Choose(count); };
  const uint32_t index = choose(static_cast<uint32_t>(kheya::AllOps().size()));
  const kheya::OpDef& op = *kheya::AllOps()[index];
  const std::vector<kheya::test::OpCase>& cases = AllCases()[index];
  kheya::test::OpCase one = cases[choose(static_cast<uint32_t>(cases.size()))];
  if (one.inputs.empty() && !one.infer_inputs.empty()) return 0;
  for (uint32_t changes = choose(5); changes > 0; --changes) kheya::test::Mutate(op, one, choose);
  const std::string wrong = kheya::test::CheckHostile(op, one, choose, 8000);
  if (wrong.empty()) return 0;
  std::fprintf(stderr, "%s, case '%s': %s\n", op.name, one.name.c_str(), wrong.c_str());
  std::abort();
}
