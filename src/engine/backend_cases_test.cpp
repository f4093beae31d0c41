// The cases of the ONNX project through compiled models, with every choice of tactics.
#include "formats/conformance/backend_cases.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "base/file.h"
#include "engine/engine.h"
#include "formats/testing/backend_data.h"

namespace kheya {
namespace {

Result<std::vector<Value>> RunCompiled(const std::string& tactics, const Graph& graph,
                                       std::span<const Value> inputs) {
  Model model;
  model.path = "case.onnx";
  model.graph = graph.Clone();
  CompileOptions options;
  options.tactics = tactics;
  KHEYA_ASSIGN_OR_RETURN(const std::shared_ptr<CompiledModel> compiled,
                         CompileModel(std::move(model), options));
  std::vector<Value> outputs(compiled->outputs().size());
  RunContext context;
  context.seed = 1;
  KHEYA_RETURN_IF_ERROR(compiled->Run(context, inputs, outputs));
  return outputs;
}

void Check(const std::string& tactics, const std::string& what,
           const Result<std::vector<conformance::BackendCase>>& cases, int at_least) {
  ASSERT_TRUE(cases.ok()) << cases.status().message();
  const conformance::BackendReport report =
      conformance::RunBackendCases(*cases, [&](const Graph& graph, std::span<const Value> inputs) {
        return RunCompiled(tactics, graph, inputs);
      });
  std::printf("%s, %s: %s", what.c_str(), tactics.c_str(), report.ToString().c_str());
  for (const std::string& failure : test::UnexpectedFailures(report)) ADD_FAILURE() << failure;
  EXPECT_GE(report.passed, at_least) << what;
}

class CompiledBackendCases : public testing::TestWithParam<const char*> {};

// A refusal by name is a skip: the least numbers keep what worked once from being refused.
TEST_P(CompiledBackendCases, GiveWhatOnnxExpects) {
  const std::vector<std::string> roots = test::BackendDataFolders();
  if (roots.empty()) GTEST_SKIP() << "libonnx-testdata is not installed";
  for (const std::string& root : roots) {
    for (const auto& [name, at_least] : std::initializer_list<std::pair<const char*, int>>{
             {"node", 919}, {"simple", 21}, {"pytorch-converted", 82}, {"pytorch-operator", 35}}) {
      const std::string folder = root + "/" + name;
      Check(GetParam(), folder, conformance::FindBackendCases(folder), at_least);
    }
  }
}

TEST_P(CompiledBackendCases, GiveWhatTorchAnswered) {
  const std::string folder = std::string(KHEYA_SOURCE_DIR) + "/tests/cases/models";
  Check(GetParam(), folder, conformance::FindBackendCases(folder), 5);
}

// Classes must be equal and scores within 1e-5 (data.json).
TEST_P(CompiledBackendCases, GiveWhatClassicModelsPredict) {
  const std::string folder = std::string(KHEYA_SOURCE_DIR) + "/tests/cases/sklearn";
  Check(GetParam(), folder, conformance::FindBackendCases(folder), 51);
}

// Models as the quantizers and optimizers of ONNX Runtime write them.
TEST_P(CompiledBackendCases, GiveWhatOnnxRuntimeAnswered) {
  const std::string folder = std::string(KHEYA_SOURCE_DIR) + "/tests/cases/microsoft";
  Check(GetParam(), folder, conformance::FindBackendCases(folder), 15);
}

INSTANTIATE_TEST_SUITE_P(Tactics, CompiledBackendCases,
                         testing::Values("auto", "portable", "reference"),
                         [](const auto& info) { return std::string(info.param); });

// ResNet-50, DenseNet-121, VGG-19 and the others, whose weights a few nodes generate.
TEST(CompiledLightModels, GiveWhatOnnxExpects) {
  bool found = false;
  for (const std::string& root : test::BackendDataFolders()) {
    if (!IsDirectory(root + "/light")) continue;
    found = true;
    Check("auto", root + "/light", conformance::FindBackendCases(root + "/light"), 9);
  }
  if (!found) GTEST_SKIP() << "no folder with ONNX's light models";
}

}  // namespace
}  // namespace kheya
