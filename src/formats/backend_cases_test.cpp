// The cases of the ONNX project, through the reference kernels.
#include "formats/conformance/backend_cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "formats/onnx/onnx.h"
#include "formats/testing/backend_data.h"
#include "formats/testing/model_writer.h"
#include "formats/testing/symbolic_model.h"
#include "graph/text.h"
#include "ops/infer.h"

namespace kheya {
namespace {

Result<std::vector<Value>> RunInterpreted(const Graph& graph, std::span<const Value> inputs) {
  InterpretOptions options;
  options.seed = 1;
  return Interpret(graph, inputs, options);
}

void RemoveUnusedConstants(Graph& graph) {
  for (NodeId id : graph.NodeIds()) {
    for (Graph* subgraph : graph.Subgraphs(id)) RemoveUnusedConstants(*subgraph);
  }
  for (ValueId id : graph.ValueIds()) {
    const GraphValue& value = graph.value(id);
    const bool used = !value.uses.empty() || graph.IsOutput(id);
    if (used || value.origin != ValueOrigin::kConstant) continue;
    EXPECT_TRUE(graph.RemoveValue(id).ok());
  }
}

// The lines of a graph's text, whatever the order of its constants.
std::vector<std::string> LinesOf(const Graph& graph) {
  std::istringstream text(PrintGraph(graph));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  std::ranges::sort(lines);
  return lines;
}

// The same through an ONNX file of the graph, which must read as the graph that was written.
Result<std::vector<Value>> RunExported(const Graph& graph, std::span<const Value> inputs) {
  KHEYA_ASSIGN_OR_RETURN(const std::string bytes, ExportOnnxBytes(graph, ExportOptions()));
  KHEYA_ASSIGN_OR_RETURN(Graph again, ImportOnnxBytes(std::as_bytes(std::span(bytes)), nullptr,
                                                      ImportOptions(), nullptr));
  KHEYA_RETURN_IF_ERROR(InferTypes(again));
  again.declared_opsets = graph.declared_opsets;  // the file's are newer, by intent
  Graph used = graph.Clone();
  RemoveUnusedConstants(used);
  if (LinesOf(used) != LinesOf(again)) {
    return InternalError("read back as another graph:\n{}\n{}", PrintGraph(used),
                         PrintGraph(again));
  }
  return RunInterpreted(again, inputs);
}

// The cases of one folder of `root`, which is there. A refusal by name is a skip: `at_least` keeps
// what worked once from being refused.
void CheckCases(const std::string& folder, int at_least, const conformance::RunGraph& run) {
  Result<std::vector<conformance::BackendCase>> cases = conformance::FindBackendCases(folder);
  ASSERT_TRUE(cases.ok()) << cases.status().message();
  ASSERT_FALSE(cases->empty());
  const conformance::BackendReport report = conformance::RunBackendCases(*cases, run);
  std::printf("%s: %s", folder.c_str(), report.ToString().c_str());
  for (const std::string& failure : test::UnexpectedFailures(report)) ADD_FAILURE() << failure;
  EXPECT_GE(report.passed, at_least);
}

void CheckFolder(const char* name, int at_least, const conformance::RunGraph& run) {
  const std::vector<std::string> roots = test::BackendDataFolders();
  if (roots.empty()) GTEST_SKIP() << "libonnx-testdata is not installed";
  for (const std::string& root : roots) CheckCases(root + "/" + name, at_least, run);
}

TEST(BackendCases, Node) { CheckFolder("node", 919, RunInterpreted); }
TEST(BackendCases, Simple) { CheckFolder("simple", 21, RunInterpreted); }
TEST(BackendCases, PytorchConverted) { CheckFolder("pytorch-converted", 82, RunInterpreted); }
TEST(BackendCases, PytorchOperator) { CheckFolder("pytorch-operator", 35, RunInterpreted); }

TEST(ExportedBackendCases, Node) { CheckFolder("node", 924, RunExported); }
TEST(ExportedBackendCases, Simple) { CheckFolder("simple", 21, RunExported); }
TEST(ExportedBackendCases, PytorchConverted) { CheckFolder("pytorch-converted", 82, RunExported); }
TEST(ExportedBackendCases, PytorchOperator) { CheckFolder("pytorch-operator", 35, RunExported); }
TEST(ExportedBackendCases, Fixtures) {
  const std::string cases = std::string(KHEYA_SOURCE_DIR) + "/tests/cases/";
  CheckCases(cases + "models", 5, RunExported);
  CheckCases(cases + "sklearn", 51, RunExported);
  CheckCases(cases + "microsoft", 15, RunExported);
}

TEST(WithSymbolicDimensions, LeavesNoSizeButThoseOfConstants) {
  const float one = 1;
  const std::string raw(reinterpret_cast<const char*>(&one), sizeof(one));
  const std::string body = test::GraphMessage(
      {.nodes = {test::NodeMessage({.op = "Identity", .inputs = {"a"}, .outputs = {"b"}})},
       .outputs = {test::ValueMessage("b", DType::kFloat32, {2, 3})}});
  const std::string model = test::ModelMessage(
      test::GraphMessage(
          {.nodes = {test::NodeMessage({.op = "Add", .inputs = {"x", "one"}, .outputs = {"a"}}),
                     test::NodeMessage(
                         {.op = "If",
                          .inputs = {"c"},
                          .outputs = {"y"},
                          .attributes = {test::GraphAttribute("then_branch", body),
                                         test::GraphAttribute("else_branch", body)}})},
           .inputs = {test::ValueMessage("x", DType::kFloat32, {2, 3}),
                      test::ValueMessage("c", DType::kBool, {})},
           .outputs = {test::ValueMessage("y", DType::kFloat32, {2, 3})},
           .initializers = {test::RawTensorMessage("one", 1, {1}, raw)},
           .value_infos = {test::ValueMessage("a", DType::kFloat32, {2, 3})}}),
      21);
  const Result<std::string> symbolic = test::WithSymbolicDimensions(model);
  ASSERT_TRUE(symbolic.ok());
  const Result<Graph> graph =
      ImportOnnxBytes(std::as_bytes(std::span(*symbolic)), nullptr, ImportOptions(), nullptr);
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  const std::string text = PrintGraph(*graph);
  EXPECT_NE(text.find("float32[d0,d1]"), text.npos) << text;
  EXPECT_EQ(text.find("[2,3]"), text.npos) << text;
  EXPECT_NE(text.find("float32[1]"), text.npos) << text;
}

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
