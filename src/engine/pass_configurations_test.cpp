// Real models through the passes: all of them, none, and each one switched off, on the reference
// kernels.
#include <gtest/gtest.h>

#include "formats/conformance/backend_cases.h"
#include "formats/testing/backend_data.h"
#include "graph/text.h"
#include "ops/infer.h"
#include "passes/expand_fused.h"
#include "passes/pipeline.h"

namespace kheya {
namespace {

struct Configuration {
  std::string name;
  std::vector<std::string> disabled;
  bool expand = false;
};

std::vector<Configuration> Configurations() {
  std::vector<Configuration> found = {
      {"all", {}}, {"none", PassNames()}, {"all_expanded", {}, true}};
  for (const std::string& pass : PassNames()) found.push_back({"without_" + pass, {pass}});
  return found;
}

Result<std::vector<Value>> RunConfiguration(const Configuration& configuration, const Graph& model,
                                            std::span<const Value> inputs) {
  Graph graph = model.Clone();
  PassOptions options;
  options.disabled = configuration.disabled;
  KHEYA_RETURN_IF_ERROR(Simplify(graph, options));
  KHEYA_RETURN_IF_ERROR(Lower(graph, options));
  if (configuration.expand) KHEYA_RETURN_IF_ERROR(ExpandFused(graph));
  InterpretOptions interpret;
  interpret.seed = 1;
  return Interpret(graph, inputs, interpret);
}

void CheckFolder(const Configuration& configuration, const std::string& folder, int at_least) {
  Result<std::vector<conformance::BackendCase>> cases = conformance::FindBackendCases(folder);
  ASSERT_TRUE(cases.ok()) << cases.status().message();
  const conformance::BackendReport report =
      conformance::RunBackendCases(*cases, [&](const Graph& graph, std::span<const Value> inputs) {
        return RunConfiguration(configuration, graph, inputs);
      });
  for (const std::string& failure : test::UnexpectedFailures(report)) ADD_FAILURE() << failure;
  EXPECT_GE(report.passed, at_least) << report.ToString();
}

class PassConfigurations : public testing::TestWithParam<Configuration> {};

TEST_P(PassConfigurations, KeepWhatOtherLibrariesAnswer) {
  const std::string cases = std::string(KHEYA_SOURCE_DIR) + "/tests/cases/";
  CheckFolder(GetParam(), cases + "models", 5);
  CheckFolder(GetParam(), cases + "sklearn", 51);
  CheckFolder(GetParam(), cases + "microsoft", 15);
}

TEST_P(PassConfigurations, KeepWhatOnnxExpects) {
  const std::vector<std::string> roots = test::BackendDataFolders();
  if (roots.empty()) GTEST_SKIP() << "libonnx-testdata is not installed";
  for (const std::string& root : roots) {
    CheckFolder(GetParam(), root + "/node", 919);
    CheckFolder(GetParam(), root + "/simple", 21);
    CheckFolder(GetParam(), root + "/pytorch-converted", 82);
    CheckFolder(GetParam(), root + "/pytorch-operator", 35);
  }
}

INSTANTIATE_TEST_SUITE_P(Passes, PassConfigurations, testing::ValuesIn(Configurations()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace kheya
