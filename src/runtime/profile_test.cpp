#include "runtime/profile.h"

#include <gmock/gmock.h>

#include "graph/text.h"
#include "ops/infer.h"
#include "runtime/compile.h"
#include "runtime/executor.h"

namespace kheya {
namespace {

using testing::ElementsAre;

// A convolution over 4 input channels, its weights constant, and rows picked from its output.
Graph MakeNetwork() {
  Graph graph = ParseGraph(R"(graph net(x: float32[2,4,16,16], rows: int64[1]) -> (y) {
    placeholder = Relu(x)
    y = Gather(placeholder, rows) {axis: 0}
  })")
                    .value();
  Tensor weights = Tensor::Zeros(DType::kFloat32, Shape{8, 4, 3, 3}).value();
  for (float& value : weights.mutable_data<float>()) value = 0.25f;
  const ValueId w = graph.AddConstant("w", weights);
  const NodeId conv = graph
                          .AddNode({.op = "Conv",
                                    .name = "conv",
                                    .inputs = {graph.inputs()[0], w},
                                    .outputs = {"convolved"}})
                          .value();
  const ValueId relu = *graph.FindValue("placeholder");
  graph.SetInput(graph.value(relu).producer, 0, graph.node(conv).outputs[0]);
  EXPECT_TRUE(InferTypes(graph).ok());
  return graph;
}

const StepInfo* Find(const std::vector<StepInfo>& infos, std::string_view op) {
  for (const StepInfo& info : infos) {
    if (info.op == op) return &info;
  }
  return nullptr;
}

constexpr int64_t kOutputs = 2 * 8 * 14 * 14;

TEST(ProfileTest, CountsWorkAndMemory) {
  Graph graph = MakeNetwork();
  for (Tactics tactics : {Tactics::kAuto, Tactics::kPortable, Tactics::kReference}) {
    PackCache cache;
    const auto plan = CompilePlan(graph, {.tactics = tactics, .cache = &cache});
    ASSERT_TRUE(plan.ok());
    const std::vector<StepInfo> infos = DescribeSteps(**plan);
    ASSERT_EQ(infos.size(), (*plan)->steps.size());
    const StepInfo* conv = Find(infos, "Conv");
    ASSERT_NE(conv, nullptr);
    EXPECT_EQ(conv->macs, kOutputs * 4 * 9);
    // Packed or not, weights are read.
    EXPECT_EQ(conv->bytes_read, 4u * (2 * 4 * 16 * 16 + 8 * 4 * 3 * 3));
    EXPECT_EQ(conv->bytes_written, 4u * kOutputs);
    EXPECT_THAT(conv->outputs, ElementsAre("float32[2,8,14,14]"));
    const StepInfo* relu = Find(infos, "Relu");
    ASSERT_NE(relu, nullptr);
    EXPECT_EQ(relu->macs, 0);
    EXPECT_EQ(relu->bytes_read, 4u * kOutputs);
    EXPECT_TRUE(conv->compared.empty());
  }
}

TEST(ProfileTest, LookingRowsUpReadsTheseAlone) {
  Graph graph = MakeNetwork();
  const auto plan = CompilePlan(graph, {});
  ASSERT_TRUE(plan.ok());
  const std::vector<StepInfo> infos = DescribeSteps(**plan);
  const StepInfo* gather = Find(infos, "Gather");
  ASSERT_NE(gather, nullptr);
  EXPECT_EQ(gather->bytes_written, 4u * kOutputs / 2);
  EXPECT_EQ(gather->bytes_read, gather->bytes_written);
}

TEST(ProfileTest, UnknownShapesHaveNoBytes) {
  Graph graph = ParseGraph(R"(graph net(x: float32[8]) -> (y) {
    y = NonZero(x)
  })")
                    .value();
  ASSERT_TRUE(InferTypes(graph).ok());
  const auto plan = CompilePlan(graph, {});
  ASSERT_TRUE(plan.ok());
  const std::vector<StepInfo> infos = DescribeSteps(**plan);
  ASSERT_EQ(infos.size(), 1u);
  EXPECT_EQ(infos[0].bytes_read, 32u);
  EXPECT_EQ(infos[0].bytes_written, std::nullopt);
  EXPECT_THAT(infos[0].outputs, ElementsAre("?"));
}

TEST(ProfileTest, ComparesEveryKernelOfAStep) {
  Graph graph = MakeNetwork();
  PackCache cache;
  const auto plan = CompilePlan(graph, {.compare = true, .cache = &cache});
  ASSERT_TRUE(plan.ok());
  const std::vector<StepInfo> infos = DescribeSteps(**plan);
  const StepInfo* conv = Find(infos, "Conv");
  ASSERT_NE(conv, nullptr);
  ASSERT_FALSE(conv->compared.empty());
  bool taken = false;
  for (const TacticTime& time : conv->compared) {
    EXPECT_GT(time.seconds, 0) << time.tactic;
    taken = taken || time.tactic == conv->tactic;
  }
  EXPECT_TRUE(taken);
  EXPECT_TRUE(Find(infos, "Gather")->compared.empty());  // indices cannot be made up
}

TEST(ProfileTest, SlicesLieWithinTheirStep) {
  Graph graph = ParseGraph(R"(graph net(x: float32[64,512,512]) -> (y) {
    y = Relu(x)
  })")
                    .value();
  ASSERT_TRUE(InferTypes(graph).ok());
  auto plan = CompilePlan(graph, {.tactics = Tactics::kPortable});
  ASSERT_TRUE(plan.ok());
  ASSERT_GT((*plan)->steps[0].kernel->slices(), 1);
  Executor executor(*plan, Runtime::Default(), nullptr);
  RunContext context;
  context.profile = true;
  const std::vector<Value> inputs = {Tensor::Zeros(DType::kFloat32, Shape{64, 512, 512}).value()};
  std::vector<Value> outputs(1);
  ASSERT_TRUE(executor.Run(context, inputs, outputs).ok());
  ASSERT_EQ(context.timings.size(), 1u);
  EXPECT_TRUE(context.timings[0].slices.empty());
  context.profile_slices = true;
  ASSERT_TRUE(executor.Run(context, inputs, outputs).ok());
  const StepTiming& step = context.timings[0];
  ASSERT_EQ(step.slices.size(), static_cast<size_t>((*plan)->steps[0].kernel->slices()));
  for (const SliceTiming& slice : step.slices) {
    EXPECT_GE(slice.start, step.start);
    EXPECT_GT(slice.nanoseconds, 0);
    EXPECT_LE(slice.start + slice.nanoseconds, step.start + step.nanoseconds);
  }
}

}  // namespace
}  // namespace kheya
