// The cases of tests/cases/passes: a graph before and after some passes, and their notes.
//
//   passes: absorb_batch_norm
//   outputs: exact            # or close: the two graphs agree within 1e-5
//   graph g(...) -> (...) {...}
//   ==== after
//   graph ...
//   ==== notes
//   absorb_batch_norm: node 'bn' (BatchNormalization): ...
//
// UPDATE_GOLDEN=1 rewrites what comes behind the first ====.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "base/string_util.h"
#include "graph/text.h"
#include "ops/infer.h"
#include "ops/verify_model.h"
#include "passes/expand_fused.h"
#include "passes/pipeline.h"

namespace kheya {
namespace {

namespace fs = std::filesystem;

struct PassCase {
  std::string head;  // up to the first ====, as it is in the file
  std::vector<std::string> passes;
  bool exact = false;
  std::string before;
  std::string after;
  std::string notes;
};

PassCase ReadCase(const fs::path& path) {
  std::ifstream file(path);
  PassCase found;
  std::string* section = &found.before;
  for (std::string line; std::getline(file, line);) {
    if (line == "==== after") {
      section = &found.after;
    } else if (line == "==== notes") {
      section = &found.notes;
    } else if (section == &found.before && line.starts_with("passes:")) {
      const std::string_view names = std::string_view(line).substr(7);
      for (std::string_view name : SplitWords(names)) found.passes.emplace_back(name);
    } else if (section == &found.before && line.starts_with("outputs:")) {
      found.exact = Trim(line.substr(8)) == "exact";
    } else {
      *section += line + "\n";
    }
    if (section == &found.before) found.head += line + "\n";
  }
  return found;
}

void WriteCase(const fs::path& path, const PassCase& written) {
  std::ofstream file(path);
  file << written.head << "==== after\n" << written.after;
  if (!written.notes.empty()) file << "==== notes\n" << written.notes;
}

// Symbols get sizes from 2 on, in order of their names.
Shape ShapeFor(const ValueType& type, std::map<std::string, int64_t>& sizes) {
  std::vector<int64_t> dims;
  for (const Dim& dim : type.shape.value_or(SymbolicShape())) {
    dims.push_back(dim.Evaluate([&](std::string_view symbol) -> std::optional<int64_t> {
                        const auto next = static_cast<int64_t>(sizes.size()) + 2;
                        return sizes.emplace(symbol, next).first->second;
                      })
                       .value_or(2));
  }
  return Shape::Create(dims).value();
}

Value RandomValue(const ValueType& type, std::map<std::string, int64_t>& sizes,
                  std::mt19937& random) {
  Tensor tensor = Tensor::Allocate(type.dtype, ShapeFor(type, sizes)).value();
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    if (type.dtype == DType::kFloat32) {
      tensor.mutable_data<float>()[i] = std::uniform_real_distribution<float>(-2, 2)(random);
    } else if (type.dtype == DType::kFloat64) {
      tensor.mutable_data<double>()[i] = std::uniform_real_distribution<double>(-2, 2)(random);
    } else if (type.dtype == DType::kInt64) {
      tensor.mutable_data<int64_t>()[i] = static_cast<int64_t>(random() % 3);
    } else if (type.dtype == DType::kInt32) {
      tensor.mutable_data<int32_t>()[i] = static_cast<int32_t>(random() % 3);
    } else if (type.dtype == DType::kBool) {
      tensor.mutable_data<bool>()[i] = random() % 2 == 0;
    } else {
      ADD_FAILURE() << "no random values of " << type.ToString();
    }
  }
  return tensor;
}

std::vector<Value> RandomInputs(const Graph& graph, unsigned seed) {
  std::mt19937 random(seed);
  std::map<std::string, int64_t> sizes;
  std::vector<Value> inputs;
  for (ValueId id : graph.inputs()) {
    inputs.push_back(RandomValue(graph.value(id).type, sizes, random));
  }
  return inputs;
}

std::vector<double> AsDoubles(const Tensor& tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    values.push_back(tensor.dtype() == DType::kFloat64 ? tensor.At<double>(i)
                                                       : tensor.At<float>(i));
  }
  return values;
}

void ExpectClose(const Tensor& found, const Tensor& expected) {
  const std::vector<double> a = AsDoubles(found), b = AsDoubles(expected);
  double difference = 0, norm = 0, largest_difference = 0, largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
    largest_difference = std::max(largest_difference, std::abs(a[i] - b[i]));
    largest = std::max(largest, std::abs(b[i]));
  }
  EXPECT_LE(std::sqrt(difference), 1e-5 * std::sqrt(norm));
  EXPECT_LE(largest_difference, 1e-5 * largest);
}

void ExpectSameOutputs(const Graph& before, const Graph& after, bool exact) {
  for (unsigned seed : {1u, 2u}) {
    const std::vector<Value> inputs = RandomInputs(before, seed);
    const auto expected = Interpret(before, inputs, InterpretOptions());
    const auto found = Interpret(after, inputs, InterpretOptions());
    ASSERT_TRUE(expected.ok()) << expected.status().ToString();
    ASSERT_TRUE(found.ok()) << found.status().ToString();
    ASSERT_EQ(found->size(), expected->size());
    for (size_t i = 0; i < found->size(); ++i) {
      EXPECT_EQ(after.outputs()[i].name, before.outputs()[i].name);
      const Tensor& a = (*found)[i].tensor();
      const Tensor& b = (*expected)[i].tensor();
      ASSERT_EQ(a.TypeString(), b.TypeString());
      if (exact || !IsFloatingPoint(a.dtype())) {
        EXPECT_TRUE(BitwiseEqual(a, b)) << after.outputs()[i].name;
      } else {
        ExpectClose(a, b);
      }
    }
  }
}

void Check(const fs::path& path) {
  PassCase expected = ReadCase(path);
  Result<Graph> before = ParseGraph(expected.before);
  ASSERT_TRUE(before.ok()) << before.status().ToString();
  ASSERT_TRUE(VerifyModel(*before).ok()) << VerifyModel(*before).ToString();
  Graph after = before->Clone();
  std::vector<std::string> notes;
  PassOptions options;
  options.notes = &notes;
  const Status status = RunPasses(after, expected.passes, options);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_TRUE(VerifyModel(after).ok()) << VerifyModel(after).ToString();
  const std::string text = PrintGraph(after);
  const std::string note_text = notes.empty() ? "" : Join(notes, "\n") + "\n";
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    expected.after = text;
    expected.notes = note_text;
    WriteCase(path, expected);
  }
  EXPECT_EQ(text, expected.after);
  EXPECT_EQ(note_text, expected.notes);
  ExpectSameOutputs(*before, after, expected.exact);
  Graph again = after.Clone();
  ASSERT_TRUE(RunPasses(again, expected.passes, PassOptions()).ok());
  EXPECT_EQ(PrintGraph(again), text) << "the passes are not done after one run";
  ASSERT_TRUE(ExpandFused(again).ok());
  EXPECT_TRUE(VerifyModel(again).ok()) << VerifyModel(again).ToString();
  EXPECT_THAT(PrintGraph(again), testing::Not(testing::HasSubstr("kheya::")));
  ExpectSameOutputs(*before, again, expected.exact);
}

std::vector<std::string> CaseNames() {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(KHEYA_SOURCE_DIR) / "tests/cases/passes")) {
    if (entry.path().extension() == ".txt") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class PassCases : public testing::TestWithParam<std::string> {};

TEST_P(PassCases, BeforeBecomesAfter) {
  Check(fs::path(KHEYA_SOURCE_DIR) / "tests/cases/passes" / (GetParam() + ".txt"));
}

INSTANTIATE_TEST_SUITE_P(Files, PassCases, testing::ValuesIn(CaseNames()),
                         [](const auto& info) { return info.param; });

// Every pass has a case that is named after it.
TEST(PassList, EveryPassHasACase) {
  const std::vector<std::string> names = CaseNames();
  for (const std::string& pass : PassNames()) {
    EXPECT_THAT(names, testing::Contains(testing::StartsWith(pass)));
  }
}

}  // namespace
}  // namespace kheya
