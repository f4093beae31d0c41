#include "engine/engine.h"

#include <gmock/gmock.h>

#include <limits>

#include "graph/text.h"
#include "ops/infer.h"

namespace kheya {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Model MakeModel(const char* text) {
  Model model;
  model.path = "folder/small.onnx";
  model.graph = ParseGraph(text).value();
  EXPECT_TRUE(InferTypes(model.graph).ok());
  return model;
}

constexpr const char* kDynamic = R"(graph net(x: float32[batch,3]) -> (y) {
  w: float32[3,2] = [1, 2, 3, 4, 5, 6]
  b: float32[2] = [0.5, -100]
  t = MatMul(x, w)
  s = Add(t, b)
  y = Relu(s)
})";

Tensor Ones(int64_t rows) {
  Tensor tensor = Tensor::Allocate(DType::kFloat32, Shape{rows, 3}).value();
  for (float& value : tensor.mutable_data<float>()) value = 1;
  return tensor;
}

TEST(EngineTest, MakesOnePlanForEachShape) {
  CompileOptions options;
  options.max_shape_plans = 2;
  const auto model = CompileModel(MakeModel(kDynamic), options);
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  for (int64_t rows : {1, 4, 2, 1, 9}) {
    RunContext context;
    std::vector<Value> outputs(1);
    const Status status = (*model)->Run(context, std::vector<Value>{Ones(rows)}, outputs);
    ASSERT_TRUE(status.ok()) << status.ToString();
    ASSERT_EQ(outputs[0].tensor().shape(), (Shape{rows, 2}));
    std::span<const float> values = outputs[0].tensor().data<float>();
    for (int64_t i = 0; i < rows; ++i) {
      EXPECT_EQ(values[2 * i], 9.5f);
      EXPECT_EQ(values[2 * i + 1], 0);
    }
  }
  EXPECT_EQ((*model)->Macs({{"x", Shape{5, 3}}}), 5 * 3 * 2);
  EXPECT_TRUE((*model)->Prepare({{"x", Shape{7, 3}}}).ok());
  EXPECT_THAT((*model)->Describe(), HasSubstr("[7,3]"));
}

TEST(EngineTest, RefusesInputsByName) {
  const auto model = CompileModel(MakeModel(kDynamic), {});
  ASSERT_TRUE(model.ok());
  RunContext context;
  std::vector<Value> outputs(1);
  const std::vector<Value> wrong = {Tensor::FromValues<float>(Shape{1, 2}, {1, 2})};
  const Status status = (*model)->Run(context, wrong, outputs);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "input 'x': found float32[1,2], expected float32[batch,3]");
  EXPECT_THAT((*model)->Prepare({{"z", Shape{1, 3}}, {"x", Shape{1, 3}}}).message(),
              HasSubstr("there is no input 'z'"));
  EXPECT_THAT((*model)->Prepare({}).message(), HasSubstr("a shape is needed"));
}

constexpr const char* kTwoInputs = R"(graph net(x: float32[batch,3], y: float32[batch,1]) -> (z) {
  z = Add(x, y)
})";

TEST(EngineTest, RefusesASymbolThatIsTwoNumbers) {
  const auto model = CompileModel(MakeModel(kTwoInputs), {});
  ASSERT_TRUE(model.ok());
  RunContext context;
  std::vector<Value> outputs(1);
  const std::vector<Value> inputs = {Ones(2), Tensor::FromValues<float>(Shape{1, 1}, {1})};
  EXPECT_EQ((*model)->Run(context, inputs, outputs).message(),
            "found dimension 'batch' of 2 in input 'x' and 1 in input 'y', expected one number");
}

TEST(EngineTest, AShapeOfOneInputSettlesTheSymbolsOfOthers) {
  CompileOptions options;
  options.input_shapes = {{"x", Shape{2, 3}}};
  const auto model = CompileModel(MakeModel(kTwoInputs), options);
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  EXPECT_EQ((*model)->inputs()[1].type.ToString(), "float32[2,1]");
}

// Nothing but the file says what an element of a sequence of any type is.
TEST(EngineTest, RefusesAnOutputThatWasDeclaredWrongly) {
  const auto model = CompileModel(
      MakeModel("graph g(s: ?, i: int64[]) -> (y) { y: string[2] = SequenceAt(s, i) }"), {});
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  const std::vector<Value> inputs = {Value(Sequence{Ones(1)}), Tensor::Scalar<int64_t>(0)};
  RunContext context;
  std::vector<Value> outputs(1);
  const Status status = (*model)->Run(context, inputs, outputs);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.ToString();
}

TEST(EngineTest, ListsWhatIsNotSupported) {
  const Model model = MakeModel("graph g(x: float32[2]) -> (y) { t = Frobnicate(x) y = Relu(t) }");
  EXPECT_EQ(GatherFacts(model).unsupported.size(), 1u);
  const auto compiled = CompileModel(
      MakeModel("graph g(x: float32[2]) -> (y) { t = Frobnicate(x) y = Relu(t) }"), {});
  EXPECT_EQ(compiled.status().code(), StatusCode::kUnimplemented);
  EXPECT_THAT(compiled.status().message(), HasSubstr("operator 'Frobnicate' is not supported"));
}

TEST(EngineTest, RefusesUnknownDevicesAndTactics) {
  CompileOptions options;
  options.device = "tpu9";
  EXPECT_THAT(CompileModel(MakeModel(kDynamic), options).status().message(),
              HasSubstr("found device 'tpu9', expected one of auto, cpu"));
  options.device = "auto";
  options.tactics = "magic";
  EXPECT_EQ(CompileModel(MakeModel(kDynamic), options).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(EngineTest, RefusesPrecisionsThatItHasNot) {
  CompileOptions options;
  options.precision = "fp8";
  EXPECT_THAT(CompileModel(MakeModel(kDynamic), options).status().message(),
              HasSubstr("found precision 'fp8', expected one of fp32, bf16, fp16, auto"));
  options.precision = "fp16";
  const Status status = CompileModel(MakeModel(kDynamic), options).status();
  EXPECT_EQ(status.code(), StatusCode::kUnimplemented);
  EXPECT_THAT(status.message(), HasSubstr("no kernel computes in float16"));
  options.precision = "bf16";
  for (const double tolerance : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    options.tolerance = tolerance;
    EXPECT_THAT(CompileModel(MakeModel(kDynamic), options).status().message(),
                HasSubstr("expected a number above 0"));
  }
}

TEST(EngineTest, AnswersAlikeInEveryPrecision) {
  for (const char* precision : {"fp32", "bf16", "auto"}) {
    CompileOptions options;
    options.precision = precision;
    const auto model = CompileModel(MakeModel(kDynamic), options);
    ASSERT_TRUE(model.ok()) << model.status().ToString();
    RunContext context;
    std::vector<Value> outputs(1);
    ASSERT_TRUE((*model)->Run(context, std::vector<Value>{Ones(2)}, outputs).ok());
    // Small integers and halves are numbers of bfloat16.
    EXPECT_THAT(outputs[0].tensor().data<float>(), ElementsAre(9.5f, 0, 9.5f, 0)) << precision;
  }
}

TEST(EngineTest, CountsFacts) {
  const ModelFacts facts = GatherFacts(MakeModel(kDynamic));
  EXPECT_EQ(facts.parameters, 8);
  EXPECT_EQ(facts.parameter_bytes, 32u);
  EXPECT_EQ(facts.macs, 6);
  EXPECT_THAT(facts.operators,
              ElementsAre(std::pair("Add", 1), std::pair("MatMul", 1), std::pair("Relu", 1)));
}

TEST(EngineTest, CountsNoMacsOfAMalformedNode) {
  EXPECT_EQ(GatherFacts(MakeModel("graph g(x: float32[2,2]) -> (x) { = MatMul(x, x) }")).macs,
            std::nullopt);
}

TEST(EngineTest, FixedShapesAndEveryTacticAgree) {
  for (const std::string& tactics : TacticNames()) {
    CompileOptions options;
    options.tactics = tactics;
    options.input_shapes = {{"x", Shape{2, 3}}};
    const auto model = CompileModel(MakeModel(kDynamic), options);
    ASSERT_TRUE(model.ok()) << model.status().ToString();
    EXPECT_EQ((*model)->inputs()[0].type.ToString(), "float32[2,3]");
    EXPECT_GT((*model)->weight_bytes(), 0u);
    RunContext context;
    std::vector<Value> outputs(1);
    ASSERT_TRUE((*model)->Run(context, std::vector<Value>{Ones(2)}, outputs).ok());
    EXPECT_THAT(outputs[0].tensor().data<float>(), ElementsAre(9.5f, 0, 9.5f, 0));
  }
}

TEST(EngineTest, OptionalInputsMayDifferFromRunToRun) {
  const auto model =
      CompileModel(MakeModel(R"(graph net(a: optional(float32[?]), x: float32[n]) -> (y, z) {
  y = OptionalHasElement(a)
  z = Neg(x)
})"),
                   {});
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  const Value x = Tensor::FromValues<float>(Shape{2}, {1.0f, 2.0f});
  for (const bool given : {true, false, true}) {
    RunContext context;
    std::vector<Value> outputs(2);
    const Status status =
        (*model)->Run(context, std::vector<Value>{given ? x : Value(), x}, outputs);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(outputs[0].tensor().data<bool>()[0], given);
    EXPECT_EQ(outputs[1].tensor().data<float>()[1], -2.0f);
  }
}

TEST(EngineTest, ReplacesOutputsThatAreNoTensors) {
  const auto model = LoadAndCompile(
      std::string(KHEYA_SOURCE_DIR) + "/tests/cases/sklearn/logistic_names/model.onnx", {}, {});
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  std::vector<Value> outputs(2);
  for (const float x : {0.0f, 3.0f}) {
    RunContext context;
    const Value row = Tensor::FromValues<float>(Shape{1, 5}, {x, 0, 0, 0, 0});
    const Value before = outputs[1];
    const Status status = (*model)->Run(context, std::vector<Value>{row}, outputs);
    ASSERT_TRUE(status.ok()) << status.ToString();
    ASSERT_NE(outputs[1].sequence(), nullptr);
    EXPECT_NE(outputs[1].sequence(), before.sequence());
    EXPECT_EQ(outputs[1].sequence()->at(0).string_map()->size(), 3u);
  }
}

TEST(EngineTest, NamesTheFileThatIsNotThere) {
  const auto model = LoadAndCompile("/nowhere/model.onnx", {}, {});
  EXPECT_EQ(model.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(model.status().message(), HasSubstr("/nowhere/model.onnx"));
}

TEST(EngineTest, LoadsAndRunsTheFirstExample) {
  const auto model =
      LoadAndCompile(std::string(KHEYA_SOURCE_DIR) + "/examples/first/first.onnx", {}, {});
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  RunContext context;
  std::vector<Value> outputs((*model)->outputs().size());
  ASSERT_EQ((*model)->inputs().size(), 1u);
  EXPECT_TRUE((*model)->Run(context, std::vector<Value>{Ones(1)}, outputs).ok());
}

}  // namespace
}  // namespace kheya
