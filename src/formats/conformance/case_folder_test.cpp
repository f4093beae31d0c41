// What becomes of cases that are not as they should be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "formats/conformance/backend_cases.h"
#include "formats/onnx/value_file.h"
#include "formats/testing/model_writer.h"
#include "formats/testing/temp_folder.h"
#include "ops/infer.h"

namespace kheya::conformance {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Outcome = CaseResult::Outcome;

Result<std::vector<Value>> RunInterpreted(const Graph& graph, std::span<const Value> inputs) {
  InterpretOptions options;
  options.seed = 1;
  return Interpret(graph, inputs, options);
}

Tensor Floats(std::initializer_list<float> values) {
  return Tensor::FromValues<float>(Shape{static_cast<int64_t>(values.size())}, values);
}

// y = Relu(x) of two numbers.
std::string ReluModel() {
  return test::ModelMessage(
      test::GraphMessage(
          {.nodes = {test::NodeMessage({.op = "Relu", .inputs = {"x"}, .outputs = {"y"}})},
           .inputs = {test::ValueMessage("x", DType::kFloat32, {2})},
           .outputs = {test::ValueMessage("y", DType::kFloat32, {2})}}),
      21);
}

class BackendCaseFolder : public ::testing::Test {
 protected:
  void Write(const std::string& path, const std::string& content) {
    fs::create_directories(fs::path(folder_.path() + "/" + path).parent_path());
    ASSERT_TRUE(WriteFileAtomic(folder_.path() + "/" + path, content).ok());
  }
  void WriteValue(const std::string& path, const Tensor& tensor) {
    Write(path, WriteTensorProto(tensor, ""));
  }
  // A case that passes.
  void WriteRelu(const std::string& name) {
    Write(name + "/model.onnx", ReluModel());
    WriteValue(name + "/test_data_set_0/input_0.pb", Floats({-1, 2}));
    WriteValue(name + "/test_data_set_0/output_0.pb", Floats({0, 2}));
  }
  void Link(const std::string& target, const std::string& path) {
    fs::create_directory_symlink(target, folder_.path() + "/" + path);
  }

  std::vector<BackendCase> Find(const std::string& below = "") {
    Result<std::vector<BackendCase>> cases = FindBackendCases(folder_.path() + below);
    EXPECT_TRUE(cases.ok()) << cases.status().ToString();
    return cases.ok() ? std::move(cases).value() : std::vector<BackendCase>();
  }
  std::vector<std::string> Names(const std::string& below = "") {
    std::vector<std::string> names;
    for (const BackendCase& test : Find(below)) names.push_back(test.name);
    return names;
  }
  CaseResult RunOnly(const std::string& name) {
    for (const BackendCase& test : Find()) {
      if (test.name == name) return RunBackendCase(test, RunInterpreted);
    }
    ADD_FAILURE() << "no case " << name;
    return {};
  }

  test::TempFolder folder_;
};

TEST_F(BackendCaseFolder, InputsWithDefaultsAreGiven) {
  const std::string model = test::ModelMessage(
      test::GraphMessage(
          {.nodes = {test::NodeMessage({.op = "Add", .inputs = {"x", "w"}, .outputs = {"y"}})},
           .inputs = {test::ValueMessage("w", DType::kFloat32, {2}),
                      test::ValueMessage("x", DType::kFloat32, {2})},
           .outputs = {test::ValueMessage("y", DType::kFloat32, {2})},
           .initializers = {WriteTensorProto(Floats({100, 100}), "w")}}),
      21);
  for (const char* name : {"given", "left"}) {
    Write(std::string(name) + "/model.onnx", model);
    const std::string data = std::string(name) + "/test_data_set_0/";
    const bool given = name == std::string_view("given");
    WriteValue(data + "input_0.pb", given ? Floats({5, 6}) : Floats({1, 2}));
    if (given) WriteValue(data + "input_1.pb", Floats({1, 2}));
    WriteValue(data + "output_0.pb", given ? Floats({6, 8}) : Floats({101, 102}));
    const CaseResult result = RunOnly(name);
    EXPECT_EQ(result.outcome, Outcome::kPassed) << name << ": " << result.reason;
  }
}

TEST_F(BackendCaseFolder, TolerancesThatAreNoneFailTheirCaseAlone) {
  WriteRelu("good");
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"{bad", "malformed"},
      {R"({"rtol": "much"})", "'rtol'"},
      {R"({"atol": [1]})", "'atol'"},
      {R"({"atol": -1})", "at least 0"}};
  for (const auto& [text, reason] : texts) {
    WriteRelu("bad");
    Write("bad/data.json", text);
    const CaseResult bad = RunOnly("bad");
    EXPECT_EQ(bad.outcome, Outcome::kFailed) << text;
    EXPECT_THAT(bad.reason, HasSubstr(reason));
    EXPECT_THAT(bad.reason, HasSubstr("bad/data.json"));
    EXPECT_EQ(bad.opset, 21);
    EXPECT_EQ(RunOnly("good").outcome, Outcome::kPassed);
  }
}

TEST_F(BackendCaseFolder, TolerancesOfTheCaseCount) {
  WriteRelu("wide");
  WriteValue("wide/test_data_set_0/output_0.pb", Floats({0.25f, 2}));
  EXPECT_EQ(RunOnly("wide").outcome, Outcome::kFailed);
  Write("wide/data.json", R"({"atol": 0.5, "rtol": 1})");
  EXPECT_EQ(RunOnly("wide").outcome, Outcome::kPassed);
}

TEST_F(BackendCaseFolder, AModelOfAnotherFormatFails) {
  for (const std::string content : {"zzz", "GGUF....", "PK\x03\x04....", ""}) {
    WriteRelu("other");
    Write("other/model.onnx", content);
    const CaseResult result = RunOnly("other");
    EXPECT_EQ(result.outcome, Outcome::kFailed) << content;
    EXPECT_EQ(result.reason,
              Import(folder_.path() + "/other/model.onnx", ImportOptions()).status().message());
  }
}

TEST_F(BackendCaseFolder, ASkipSaysWhatIsNotSupported) {
  WriteRelu("unknown");
  Write("unknown/model.onnx",
        test::ModelMessage(
            test::GraphMessage(
                {.nodes = {test::NodeMessage({.op = "Nope", .inputs = {"x"}, .outputs = {"y"}})},
                 .inputs = {test::ValueMessage("x", DType::kFloat32, {2})},
                 .outputs = {test::ValueMessage("y", DType::kFloat32, {2})}}),
            21));
  const CaseResult unknown = RunOnly("unknown");
  EXPECT_EQ(unknown.outcome, Outcome::kSkipped);
  EXPECT_EQ(unknown.reason, "operator 'Nope' is not supported");
  WriteRelu("refused");
  const CaseResult refused = RunBackendCase(
      Find().front(), [](const Graph&, std::span<const Value>) -> Result<std::vector<Value>> {
        return UnimplementedError("node 'a' (Relu): found type int4, supported are: float32");
      });
  EXPECT_EQ(refused.outcome, Outcome::kSkipped);
  EXPECT_EQ(refused.reason, "node 'a' (Relu): found type int4, supported are: float32");
}

TEST_F(BackendCaseFolder, AnOutputThatTheModelLacksFails) {
  WriteRelu("extra");
  WriteValue("extra/test_data_set_0/output_1.pb", Floats({0, 2}));
  CaseResult result = RunOnly("extra");
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  EXPECT_THAT(result.reason, HasSubstr("'output_1.pb', but the model has 1 output"));
  fs::remove(folder_.path() + "/extra/test_data_set_0/output_1.pb");
  WriteValue("extra/test_data_set_0/output_7.pb", Floats({0, 2}));
  result = RunOnly("extra");
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  EXPECT_THAT(result.reason, HasSubstr("output_7.pb"));
}

// Outputs r = x + RandomUniformLike(x), y = Relu(x) and r2 = -r, which a subgraph makes; two
// numbers each.
std::string PartlyRandomModel() {
  using test::NodeMessage;
  const std::string branch =
      test::GraphMessage({.nodes = {NodeMessage({.op = "Neg", .inputs = {"r"}, .outputs = {"n"}})},
                          .outputs = {test::ValueMessage("n", DType::kFloat32, {2})}});
  return test::ModelMessage(
      test::GraphMessage(
          {.nodes = {NodeMessage({.op = "Relu", .inputs = {"x"}, .outputs = {"y"}}),
                     NodeMessage({.op = "RandomUniformLike", .inputs = {"x"}, .outputs = {"u"}}),
                     NodeMessage({.op = "Add", .inputs = {"x", "u"}, .outputs = {"r"}}),
                     NodeMessage({.op = "If",
                                  .inputs = {"c"},
                                  .outputs = {"r2"},
                                  .attributes = {test::GraphAttribute("then_branch", branch),
                                                 test::GraphAttribute("else_branch", branch)}})},
           .inputs = {test::ValueMessage("x", DType::kFloat32, {2}),
                      test::ValueMessage("c", DType::kBool, {})},
           .outputs = {test::ValueMessage("r", DType::kFloat32, {2}),
                       test::ValueMessage("y", DType::kFloat32, {2}),
                       test::ValueMessage("r2", DType::kFloat32, {2})}}),
      21);
}

TEST_F(BackendCaseFolder, OnlyOutputsThatDependOnRandomNumbersMayDiffer) {
  const std::string data = "random/test_data_set_0/";
  Write("random/model.onnx", PartlyRandomModel());
  WriteValue(data + "input_0.pb", Floats({-1, 2}));
  WriteValue(data + "input_1.pb", Tensor::Scalar(true));
  WriteValue(data + "output_0.pb", Floats({-0.5f, 2.5f}));
  WriteValue(data + "output_1.pb", Floats({0, 2}));
  WriteValue(data + "output_2.pb", Floats({0.5f, -2.5f}));
  EXPECT_EQ(RunOnly("random").outcome, Outcome::kRandom) << RunOnly("random").reason;
  WriteValue(data + "output_1.pb", Floats({0.5f, 2}));  // in the range of what is found
  const CaseResult wrong = RunOnly("random");
  EXPECT_EQ(wrong.outcome, Outcome::kFailed);
  EXPECT_EQ(wrong.reason, "output 1: element 0: found 0, expected 0.5");
  WriteValue(data + "output_1.pb", Floats({0, 2}));
  WriteValue(data + "output_2.pb", Floats({90, 91}));  // out of all ranges
  EXPECT_THAT(RunOnly("random").reason, HasSubstr("output 2: found"));
}

TEST_F(BackendCaseFolder, LinksLeadToEachFolderOnce) {
  WriteRelu("cases/a");
  WriteRelu("cases/b");
  WriteRelu("beside/c");
  Link("..", "cases/above");
  Link(".", "cases/itself");
  Link("a", "cases/again");
  Link("../beside", "cases/beside");
  Link("..", "cases/b/above");
  EXPECT_THAT(Names("/cases"), ::testing::ElementsAre("a", "b", "beside/c"));
  EXPECT_THAT(Names("/cases/"), ::testing::ElementsAre("a", "b", "beside/c"));
  EXPECT_THAT(Names("/cases/a/"), ::testing::ElementsAre("a"));
  EXPECT_EQ(Find("/cases/b").front().data_sets.size(), 1u);
}

}  // namespace
}  // namespace kheya::conformance
