// The cases of the ONNX project through compiled models, in every way of running them.
#include "formats/conformance/backend_cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>

#include "base/file.h"
#include "engine/engine.h"
#include "formats/onnx/onnx.h"
#include "formats/testing/backend_data.h"
#include "formats/testing/symbolic_model.h"
#include "formats/testing/temp_folder.h"
#include "passes/pipeline.h"

namespace kheya {
namespace {

// A way of running models that must not change what they answer.
struct Way {
  std::string name;
  std::string tactics = "auto";
  int threads = 0;  // 0: as many as there are
  std::vector<std::string> disabled_passes = {};
  bool odd_addresses = false;
  bool symbolic = false;
};

std::vector<Way> Ways() {
  return {{.name = "auto"},
          {.name = "one_thread", .threads = 1},
          {.name = "four_threads", .threads = 4},
          {.name = "odd_addresses", .odd_addresses = true},
          {.name = "symbolic", .symbolic = true}};
}

// Those that take long with large models.
std::vector<Way> SlowWays() {
  std::vector<Way> ways = {{.name = "no_passes", .disabled_passes = PassNames()}};
  for (const std::string& tactics : TacticNames()) {
    if (tactics == "auto") continue;
    std::string name = tactics;
    std::ranges::replace(name, ':', '_');
    ways.push_back({.name = name, .tactics = tactics});
  }
  for (const std::string& pass : PassNames()) {
    ways.push_back({.name = "without_" + pass, .disabled_passes = {pass}});
  }
  return ways;
}

std::string NameOf(const testing::TestParamInfo<Way>& info) { return info.param.name; }

// The same value in memory whose address is odd.
Value AtOddAddress(const Value& value) {
  if (const Sequence* sequence = value.sequence()) {
    Sequence copy;
    for (const Value& element : *sequence) copy.push_back(AtOddAddress(element));
    return Value(std::move(copy));
  }
  if (!value.is_tensor() || value.tensor().dtype() == DType::kString) return value;
  const Tensor& tensor = value.tensor();
  const auto memory = std::make_shared<std::vector<std::byte>>(tensor.num_bytes() + 2);
  const size_t skip = reinterpret_cast<uintptr_t>(memory->data()) % 2 == 0 ? 1 : 0;
  const std::span<std::byte> bytes = std::span(*memory).subspan(skip, tensor.num_bytes());
  std::ranges::copy(tensor.bytes(), bytes.begin());
  return Tensor::Borrow(tensor.dtype(), tensor.shape(), bytes, memory).value();
}

std::shared_ptr<Runtime> RuntimeOf(int threads) {
  static std::map<int, std::shared_ptr<Runtime>> made;
  std::shared_ptr<Runtime>& runtime = made[threads];
  if (runtime == nullptr) runtime = std::make_shared<Runtime>(RuntimeOptions{threads});
  return runtime;
}

Result<std::vector<Value>> RunCompiled(const Way& way, const Graph& graph,
                                       std::span<const Value> inputs) {
  Model model;
  model.path = "case.onnx";
  model.graph = graph.Clone();
  CompileOptions options;
  options.tactics = way.tactics;
  options.disabled_passes = way.disabled_passes;
  options.runtime = RuntimeOf(way.threads);
  KHEYA_ASSIGN_OR_RETURN(const std::shared_ptr<CompiledModel> compiled,
                         CompileModel(std::move(model), options));
  std::vector<Value> given(inputs.begin(), inputs.end());
  if (way.odd_addresses) std::ranges::transform(given, given.begin(), AtOddAddress);
  std::vector<Value> outputs(compiled->outputs().size());
  RunContext context;
  context.seed = 1;
  KHEYA_RETURN_IF_ERROR(compiled->Run(context, given, outputs));
  return outputs;
}

// The cases with models that say nothing of sizes, written into `folder`.
void MakeSymbolic(test::TempFolder& folder, std::vector<conformance::BackendCase>& cases) {
  for (size_t i = 0; i < cases.size(); ++i) {
    Result<std::string> bytes = ReadFile(cases[i].model_path);
    ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
    Result<std::string> symbolic = test::WithSymbolicDimensions(*bytes);
    ASSERT_TRUE(symbolic.ok()) << symbolic.status().ToString();
    cases[i].model_path = folder.Write(std::to_string(i) + ".onnx", *symbolic);
  }
}

void Check(const std::string& way, const std::string& folder,
           const Result<std::vector<conformance::BackendCase>>& cases,
           const conformance::RunGraph& run, int at_least) {
  ASSERT_TRUE(cases.ok()) << cases.status().message();
  const conformance::BackendReport report = conformance::RunBackendCases(*cases, run);
  std::printf("%s, %s: %s", folder.c_str(), way.c_str(), report.ToString().c_str());
  for (const std::string& failure : test::UnexpectedFailures(report)) ADD_FAILURE() << failure;
  EXPECT_GE(report.passed, at_least) << folder;
}

void CheckFolder(const Way& way, const std::string& folder, int at_least) {
  Result<std::vector<conformance::BackendCase>> cases = conformance::FindBackendCases(folder);
  test::TempFolder symbolic_models;
  if (way.symbolic && cases.ok()) MakeSymbolic(symbolic_models, *cases);
  const auto run = [&](const Graph& graph, std::span<const Value> inputs) {
    return RunCompiled(way, graph, inputs);
  };
  Check(way.name, folder, cases, run, at_least);
}

class CompiledBackendCases : public testing::TestWithParam<Way> {};

// A refusal by name is a skip: the least numbers keep what worked once from being refused.
TEST_P(CompiledBackendCases, GiveWhatOnnxExpects) {
  const std::vector<std::string> roots = test::BackendDataFolders();
  if (roots.empty()) GTEST_SKIP() << "libonnx-testdata is not installed";
  for (const std::string& root : roots) {
    for (const auto& [name, at_least] : std::initializer_list<std::pair<const char*, int>>{
             {"node", 919}, {"simple", 21}, {"pytorch-converted", 82}, {"pytorch-operator", 35}}) {
      CheckFolder(GetParam(), root + "/" + name, at_least);
    }
  }
}

// Models with what torch answered; classic ones with what their libraries predict (classes equal,
// scores within 1e-5, by data.json); models as the quantizers and optimizers of ONNX Runtime write
// them.
TEST_P(CompiledBackendCases, GiveWhatOtherLibrariesAnswered) {
  const std::string cases = std::string(KHEYA_SOURCE_DIR) + "/tests/cases/";
  CheckFolder(GetParam(), cases + "models", 5);
  CheckFolder(GetParam(), cases + "sklearn", 51);
  CheckFolder(GetParam(), cases + "microsoft", 15);
}

INSTANTIATE_TEST_SUITE_P(Ways, CompiledBackendCases, testing::ValuesIn(Ways()), NameOf);
INSTANTIATE_TEST_SUITE_P(SlowWays, CompiledBackendCases, testing::ValuesIn(SlowWays()), NameOf);

// The graph without any sizes but its constants'.
Result<Graph> Symbolic(const Graph& graph) {
  KHEYA_ASSIGN_OR_RETURN(const std::string bytes, ExportOnnxBytes(graph, ExportOptions()));
  KHEYA_ASSIGN_OR_RETURN(const std::string symbolic, test::WithSymbolicDimensions(bytes));
  return ImportOnnxBytes(std::as_bytes(std::span(symbolic)), nullptr, ImportOptions(), nullptr);
}

// Their inputs are made by the sizes in their files: graphs are made symbolic after that.
void CheckLightModels(Way way) {
  const bool symbolic = std::exchange(way.symbolic, false);
  const auto run = [&](const Graph& graph,
                       std::span<const Value> inputs) -> Result<std::vector<Value>> {
    if (!symbolic) return RunCompiled(way, graph, inputs);
    KHEYA_ASSIGN_OR_RETURN(const Graph unsized, Symbolic(graph));
    return RunCompiled(way, unsized, inputs);
  };
  bool found = false;
  for (const std::string& root : test::BackendDataFolders()) {
    if (!IsDirectory(root + "/light")) continue;
    found = true;
    Check(way.name, root + "/light", conformance::FindBackendCases(root + "/light"), run, 9);
  }
  if (!found) GTEST_SKIP() << "no folder with ONNX's light models";
}

// ResNet-50, DenseNet-121, VGG-19 and the others, whose weights a few nodes generate.
class CompiledLightModels : public testing::TestWithParam<Way> {};
TEST_P(CompiledLightModels, GiveWhatOnnxExpects) { CheckLightModels(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Ways, CompiledLightModels, testing::ValuesIn(Ways()), NameOf);

class SlowLightModels : public testing::TestWithParam<Way> {};
TEST_P(SlowLightModels, GiveWhatOnnxExpects) {
  if (std::getenv("KHEYA_SLOW_TESTS") == nullptr) GTEST_SKIP() << "KHEYA_SLOW_TESTS is not set";
  CheckLightModels(GetParam());
}
INSTANTIATE_TEST_SUITE_P(SlowWays, SlowLightModels, testing::ValuesIn(SlowWays()), NameOf);

}  // namespace
}  // namespace kheya
