// The cases of the ONNX project, through the reference kernels.
#include "formats/conformance/backend_cases.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "formats/testing/backend_data.h"
#include "ops/infer.h"

namespace kheya {
namespace {

// The cases of one folder of `root`, which is there.
void CheckCases(const std::string& root, const char* name, int at_least) {
  Result<std::vector<conformance::BackendCase>> cases =
      conformance::FindBackendCases(root + "/" + name);
  ASSERT_TRUE(cases.ok()) << cases.status().message();
  ASSERT_FALSE(cases->empty());
  const conformance::BackendReport report =
      conformance::RunBackendCases(*cases, [](const Graph& graph, std::span<const Value> inputs) {
        InterpretOptions options;
        options.seed = 1;
        return Interpret(graph, inputs, options);
      });
  std::printf("%s/%s: %s", root.c_str(), name, report.ToString().c_str());
  for (const std::string& failure : test::UnexpectedFailures(report)) ADD_FAILURE() << failure;
  EXPECT_GE(report.passed, at_least);
}

// A refusal by name is a skip: `at_least` keeps what worked once from being refused.
void CheckFolder(const char* name, int at_least) {
  const std::vector<std::string> roots = test::BackendDataFolders();
  if (roots.empty()) GTEST_SKIP() << "libonnx-testdata is not installed";
  for (const std::string& root : roots) CheckCases(root, name, at_least);
}

TEST(BackendCases, Node) { CheckFolder("node", 919); }
TEST(BackendCases, Simple) { CheckFolder("simple", 21); }
TEST(BackendCases, PytorchConverted) { CheckFolder("pytorch-converted", 82); }
TEST(BackendCases, PytorchOperator) { CheckFolder("pytorch-operator", 35); }

TEST(CompareValues, ToleratesOnlyWhatItShould) {
  auto compare = [](float found, float expected) {
    return conformance::CompareValues(Tensor::Scalar(found), Tensor::Scalar(expected), 1e-3, 1e-7)
        .ok();
  };
  EXPECT_TRUE(compare(1.0005f, 1.0f));
  EXPECT_FALSE(compare(1.002f, 1.0f));
  EXPECT_TRUE(compare(NAN, NAN));
  EXPECT_FALSE(compare(NAN, 1.0f));
  EXPECT_TRUE(compare(INFINITY, INFINITY));
  EXPECT_FALSE(compare(1.0f, INFINITY));
  EXPECT_FALSE(
      conformance::CompareValues(Tensor::Scalar(int64_t{1000}), Tensor::Scalar(int64_t{1001}), 1, 1)
          .ok());
  EXPECT_FALSE(
      conformance::CompareValues(Tensor::Scalar(1.0f), Tensor::Scalar(1.0), 1e-3, 1e-7).ok());
  EXPECT_FALSE(conformance::CompareValues(Value(), Tensor::Scalar(1.0f), 1e-3, 1e-7).ok());
}

}  // namespace
}  // namespace kheya
