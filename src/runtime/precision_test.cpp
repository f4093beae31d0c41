#include "runtime/precision.h"

#include <gmock/gmock.h>

#include <cmath>

#include "ops/infer.h"
#include "runtime/executor.h"
#include "runtime/kernel_case.h"

namespace kheya {
namespace {

using testing::HasSubstr;

// Convolutions with a residual connection and pools between them, then a linear layer.
Case SmallNet() {
  Rng rng(3);
  Case c;
  const ValueId x = c.Input(RandomTensor(rng, Shape{2, 3, 20, 20}));
  const auto conv = [&](ValueId input, int64_t in, int64_t out) {
    const ValueId w = c.Constant(RandomTensor(rng, Shape{out, in, 3, 3}, -0.2f, 0.2f));
    const ValueId b = c.Constant(RandomTensor(rng, Shape{out}));
    return c.Node("Conv", {input, w, b}, {{"pads", Ints{1, 1, 1, 1}}});
  };
  ValueId y = c.Node("Relu", {conv(x, 3, 16)});
  y = c.Node("MaxPool", {y}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  y = c.Node("Add", {conv(c.Node("Sigmoid", {conv(y, 16, 16)}), 16, 16), y});
  y = c.Node("Flatten", {c.Node("GlobalAveragePool", {y})});
  const ValueId w = c.Constant(RandomTensor(rng, Shape{16, 10}));
  c.Output(c.Node("Softmax", {c.Node("MatMul", {y, w})}));
  EXPECT_TRUE(InferTypes(c.graph).ok());
  return c;
}

struct Compiled {
  std::shared_ptr<const Plan> plan;
  std::vector<std::string> notes;
  std::vector<Value> outputs;
};

Compiled CompileAndRun(const Case& c, CompilePlanOptions options) {
  Compiled compiled;
  PackCache cache;
  options.cache = &cache;
  options.notes = &compiled.notes;
  compiled.plan = CompilePlan(c.graph, options).value();
  Executor executor(compiled.plan, Runtime::Default(), nullptr);
  RunContext context;
  compiled.outputs.resize(compiled.plan->outputs.size());
  EXPECT_TRUE(executor.Run(context, c.inputs, compiled.outputs).ok());
  return compiled;
}

double RelativeError(const Tensor& found, const Tensor& expected) {
  double error = 0, size = 0;
  for (int64_t i = 0; i < expected.num_elements(); ++i) {
    const double b = expected.data<float>()[i], d = found.data<float>()[i] - b;
    error += d * d;
    size += b * b;
  }
  return std::sqrt(error / size);
}

size_t Count(const Plan& plan, const std::string& op) {
  return std::ranges::count_if(plan.steps, [&](const Step& step) { return step.op == op; });
}

TEST(PrecisionTest, KeepsBfloat16FromTheFirstLayerToTheLast) {
  const Case c = SmallNet();
  const auto expected = Interpret(c.graph, c.inputs, {}).value();
  const Compiled wide = CompileAndRun(c, {});
  EXPECT_THAT(DescribePlan(*wide.plan), testing::Not(HasSubstr("bfloat16")));
  const Compiled narrow = CompileAndRun(c, {.precision = DType::kBFloat16});
  if (!CanComputeBf16()) {
    EXPECT_THAT(narrow.notes, testing::Contains(HasSubstr("does not compute in bfloat16")));
    EXPECT_EQ(RelativeError(narrow.outputs[0].tensor(), wide.outputs[0].tensor()), 0);
    return;
  }
  const std::string plan = DescribePlan(*narrow.plan);
  EXPECT_EQ(Count(*narrow.plan, "Convert"), 1u) << plan;  // of the input
  for (const Step& step : narrow.plan->steps) {
    const bool product = step.op == "Conv" || step.op == "MatMul";
    if (!product) continue;
    EXPECT_THAT(step.tactic, HasSubstr("bf16")) << plan;
  }
  const double error = RelativeError(narrow.outputs[0].tensor(), expected[0].tensor());
  EXPECT_GT(error, 0);
  EXPECT_LT(error, 0.02);
}

TEST(PrecisionTest, LayersOverTheToleranceStayFloat32) {
  if (!CanComputeBf16()) GTEST_SKIP() << "this processor does not compute in bfloat16";
  const Case c = SmallNet();
  const Compiled strict = CompileAndRun(c, {.precision = DType::kBFloat16, .tolerance = 1e-5});
  EXPECT_THAT(DescribePlan(*strict.plan), testing::Not(HasSubstr("bfloat16")));
  EXPECT_THAT(strict.notes, testing::Contains(HasSubstr("its error in bfloat16 is")));
  EXPECT_LT(RelativeError(strict.outputs[0].tensor(),
                          Interpret(c.graph, c.inputs, {}).value()[0].tensor()),
            1e-5);
}

TEST(PrecisionTest, ChoicesAreRemembered) {
  if (!CanComputeBf16()) GTEST_SKIP() << "this processor does not compute in bfloat16";
  const Case c = SmallNet();
  Tuner first({});
  CompileAndRun(c, {.tuner = &first, .precision = DType::kBFloat16});
  TacticChoices choices = first.choices();
  EXPECT_FALSE(choices.empty());
  for (auto& [key, choice] : choices) choice = "float32";
  Tuner second({}, std::move(choices));
  const Compiled again = CompileAndRun(c, {.tuner = &second, .precision = DType::kBFloat16});
  EXPECT_THAT(DescribePlan(*again.plan), testing::Not(HasSubstr("bfloat16")));
}

TEST(PrecisionTest, AValueThatOthersReadIsConvertedOnce) {
  if (!CanComputeBf16()) GTEST_SKIP() << "this processor does not compute in bfloat16";
  Rng rng(5);
  Case c;
  const ValueId x = c.Input(RandomTensor(rng, Shape{4, 32}));
  const auto product = [&](ValueId input) {
    return c.Node("MatMul", {input, c.Constant(RandomTensor(rng, Shape{32, 32}, -0.2f, 0.2f))});
  };
  const ValueId first = product(x);
  const ValueId sines = c.Node("Sin", {first});  // no kernel reads bfloat16
  const ValueId cosines = c.Node("Cos", {first});
  c.Output(c.Node("Mul", {c.Node("Mul", {sines, cosines}), product(first)}));
  c.Output(first);
  ASSERT_TRUE(InferTypes(c.graph).ok());
  const auto expected = Interpret(c.graph, c.inputs, {}).value();
  const Compiled narrow = CompileAndRun(c, {.precision = DType::kBFloat16});
  EXPECT_EQ(Count(*narrow.plan, "Convert"), 2u) << DescribePlan(*narrow.plan);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(narrow.outputs[i].tensor().dtype(), DType::kFloat32);
    EXPECT_LT(RelativeError(narrow.outputs[i].tensor(), expected[i].tensor()), 0.03);
  }
}

}  // namespace
}  // namespace kheya
