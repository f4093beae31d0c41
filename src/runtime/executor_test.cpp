#include "runtime/executor.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <thread>

#include "base/denormals.h"
#include "graph/text.h"
#include "ops/infer.h"
#include "runtime/arena_pool.h"
#include "runtime/compile.h"

namespace kheya {
namespace {

using testing::HasSubstr;

Tensor Ramp(const Shape& shape, float step = 0.01f) {
  Tensor tensor = Tensor::Allocate(DType::kFloat32, shape).value();
  std::span<float> values = tensor.mutable_data<float>();
  for (size_t i = 0; i < values.size(); ++i) values[i] = step * static_cast<float>(i % 97) - 0.4f;
  return tensor;
}

// A small network whose steps are large enough to be cut into slices.
Graph MakeNetwork() {
  Graph graph = ParseGraph(R"(graph net(x: float32[2,16,40,40]) -> (y) {
    axes: int64[2] = [2, 3]
    placeholder = Relu(x)
    mean = ReduceMean(placeholder, axes) {keepdims: 0}
    y = Softmax(mean)
  })")
                    .value();
  const ValueId w = graph.AddConstant("w", Ramp(Shape{64, 16, 3, 3}));
  const ValueId v = graph.AddConstant("v", Ramp(Shape{64, 64, 3, 3}, 0.003f));
  const Attribute pads{"pads", std::vector<int64_t>{1, 1, 1, 1}};
  const auto add = [&](std::vector<ValueId> inputs, const char* name) {
    const NodeId node = graph
                            .AddNode({.op = "Conv",
                                      .name = name,
                                      .inputs = std::move(inputs),
                                      .outputs = {name},
                                      .attributes = {pads}})
                            .value();
    return graph.node(node).outputs[0];
  };
  const ValueId convolved = add({add({graph.inputs()[0], w}, "conv1"), v}, "conv2");
  const ValueId relu = *graph.FindValue("placeholder");
  graph.SetInput(graph.value(relu).producer, 0, convolved);
  return graph;
}

std::shared_ptr<Executor> Compile(Graph& graph, Tactics tactics = Tactics::kAuto,
                                  std::shared_ptr<Runtime> runtime = Runtime::Default()) {
  EXPECT_TRUE(InferTypes(graph).ok());
  static PackCache cache;
  auto plan = CompilePlan(graph, {.tactics = tactics, .cache = &cache});
  EXPECT_TRUE(plan.ok()) << plan.status().ToString();
  return std::make_shared<Executor>(*plan, std::move(runtime), nullptr);
}

TEST(ExecutorTest, ManyRunsAtOnceGiveEqualResults) {
  Graph graph = MakeNetwork();
  const std::shared_ptr<Executor> executor = Compile(graph);
  const std::vector<Value> inputs = {Ramp(Shape{2, 16, 40, 40}, 0.02f)};
  std::vector<Value> expected(1);
  RunContext alone;
  alone.threads = 1;
  ASSERT_TRUE(executor->Run(alone, inputs, expected).ok());
  std::vector<std::thread> threads;
  std::vector<int> differing(8, 0);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5; ++i) {
        RunContext context;
        context.threads = 1 + t % 3;
        std::vector<Value> outputs(1);
        const bool ok = executor->Run(context, inputs, outputs).ok();
        if (!ok || !BitwiseEqual(outputs[0].tensor(), expected[0].tensor())) ++differing[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(differing, testing::Each(0));
  EXPECT_LE(Runtime::Default()->workers(), Runtime::Default()->ledger().allowed() - 1);
}

TEST(ExecutorTest, PlansThatTakeTurnsShareTheirMemory) {
  const auto budget = std::make_shared<MemoryBudget>("test");
  const auto arenas = std::make_shared<ArenaPool>(budget);
  Graph graph = MakeNetwork();
  ASSERT_TRUE(InferTypes(graph).ok());
  PackCache cache;
  std::vector<std::shared_ptr<Executor>> executors;
  size_t largest = 0, all = 0;
  for (const Tactics tactics : {Tactics::kReference, Tactics::kPortable, Tactics::kAuto}) {
    const auto plan = CompilePlan(graph, {.tactics = tactics, .cache = &cache});
    ASSERT_TRUE(plan.ok());
    executors.push_back(std::make_shared<Executor>(*plan, Runtime::Default(), budget, arenas));
    largest = std::max(largest, (*plan)->arena_bytes);
    all += (*plan)->arena_bytes;
  }
  const std::vector<Value> inputs = {Ramp(Shape{2, 16, 40, 40}, 0.02f)};
  Tensor y = Tensor::Allocate(DType::kFloat32, Shape{2, 64}).value();
  std::vector<Tensor> first;
  for (int turn = 0; turn < 3; ++turn) {
    for (size_t i = 0; i < executors.size(); ++i) {
      std::vector<Value> outputs = {y};
      RunContext context;
      ASSERT_TRUE(executors[i]->Run(context, inputs, outputs).ok());
      if (turn == 0) {
        first.push_back(Tensor::FromValues<float>(y.shape(), y.data<float>()));
      } else {
        EXPECT_TRUE(BitwiseEqual(y, first[i])) << turn << " " << i;
      }
    }
  }
  EXPECT_LT(budget->used_bytes(), (largest + all) / 2);
}

TEST(ExecutorTest, AgreesWithTheReferenceWhateverTheTactics) {
  Graph graph = MakeNetwork();
  const std::vector<Value> inputs = {Ramp(Shape{2, 16, 40, 40}, 0.02f)};
  ASSERT_TRUE(InferTypes(graph).ok());
  const auto expected = Interpret(graph, inputs, {});
  ASSERT_TRUE(expected.ok()) << expected.status().ToString();
  for (Tactics tactics : {Tactics::kAuto, Tactics::kPortable, Tactics::kReference}) {
    RunContext context;
    std::vector<Value> outputs(1);
    ASSERT_TRUE(Compile(graph, tactics)->Run(context, inputs, outputs).ok());
    std::span<const float> found = outputs[0].tensor().data<float>();
    std::span<const float> wanted = (*expected)[0].tensor().data<float>();
    for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-5f);
  }
}

TEST(ExecutorTest, WritesIntoTheMemoryOfTheCaller) {
  Graph graph = ParseGraph(
                    "graph g(x: float32[4]) -> (y, z, x2) { y = Relu(x) z = Neg(y) x2 = "
                    "Identity(x) }")
                    .value();
  const std::shared_ptr<Executor> executor = Compile(graph);
  const Tensor x = Tensor::FromValues<float>(Shape{4}, {-1, 2, -3, 4});
  std::vector<Value> outputs = {Tensor::Allocate(DType::kFloat32, Shape{4}).value(), Value(),
                                Value()};
  const void* place = outputs[0].tensor().bytes().data();
  RunContext context;
  ASSERT_TRUE(executor->Run(context, std::vector<Value>{x}, outputs).ok());
  EXPECT_EQ(outputs[0].tensor().bytes().data(), place);
  EXPECT_THAT(outputs[0].tensor().data<float>(), testing::ElementsAre(0, 2, 0, 4));
  EXPECT_THAT(outputs[1].tensor().data<float>(), testing::ElementsAre(0, -2, 0, -4));
  EXPECT_TRUE(BitwiseEqual(outputs[2].tensor(), x));
  EXPECT_NE(outputs[2].tensor().bytes().data(), x.bytes().data()) << "the caller may free x";
}

TEST(ExecutorTest, MakesWhatIsReshapedInTheMemoryOfTheCaller) {
  Graph graph = ParseGraph(R"(graph g(x: float32[2,1,3]) -> (y, z, r) {
    axes: int64[1] = [1]
    flat: int64[1] = [6]
    r = Neg(x)
    a = Abs(x)
    b = Squeeze(a, axes)
    y = Reshape(b, flat)
    z = Exp(b)
  })")
                    .value();
  const std::shared_ptr<Executor> executor = Compile(graph);
  EXPECT_EQ(executor->plan().arena_bytes, 0U);
  const std::vector<Value> inputs = {Ramp(Shape{2, 1, 3})};
  RunContext context;
  std::vector<Value> outputs = {Ramp(Shape{6}), Ramp(Shape{2, 3}), Ramp(Shape{2, 1, 3})};
  const std::vector<Value> places = outputs;
  ASSERT_TRUE(executor->Run(context, inputs, outputs).ok());
  for (int64_t i = 0; i < 6; ++i) {
    const float x = inputs[0].tensor().At<float>(i);
    EXPECT_EQ(places[0].tensor().At<float>(i), std::abs(x));
    EXPECT_NEAR(places[1].tensor().At<float>(i), std::exp(std::abs(x)), 1e-6);
    EXPECT_EQ(places[2].tensor().At<float>(i), -x);
  }
}

TEST(ExecutorTest, RefusesWrongInputsAndOutputs) {
  Graph graph = ParseGraph("graph g(x: float32[4]) -> (y) { y = Relu(x) }").value();
  const std::shared_ptr<Executor> executor = Compile(graph);
  RunContext context;
  std::vector<Value> outputs(1);
  Status status = executor->Run(context, std::vector<Value>{Ramp(Shape{5})}, outputs);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "input 'x': found float32[5], expected float32[4]");
  EXPECT_TRUE(outputs[0].empty());
  outputs[0] = Ramp(Shape{3});
  status = executor->Run(context, std::vector<Value>{Ramp(Shape{4})}, outputs);
  EXPECT_EQ(status.message(), "output 'y': found float32[3], expected float32[4]");
  EXPECT_THAT(executor->Run(context, {}, outputs).message(), HasSubstr("found 0 inputs"));
}

TEST(ExecutorTest, EndsAtTheDeadlineAndWhenCancelled) {
  Graph graph = MakeNetwork();
  const std::shared_ptr<Executor> executor = Compile(graph);
  const std::vector<Value> inputs = {Ramp(Shape{2, 16, 40, 40})};
  std::vector<Value> outputs(1);
  RunContext late;
  late.deadline = Clock::now() - std::chrono::seconds(1);
  EXPECT_EQ(executor->Run(late, inputs, outputs).code(), StatusCode::kDeadlineExceeded);
  std::atomic<bool> cancel = true;
  RunContext cancelled;
  cancelled.cancel = &cancel;
  EXPECT_EQ(executor->Run(cancelled, inputs, outputs).code(), StatusCode::kCancelled);
  EXPECT_TRUE(outputs[0].empty());
}

TEST(ExecutorTest, EvaluatesShapesThatDependOnData) {
  Graph graph = ParseGraph(R"(graph g(x: float32[4]) -> (y) {
    where = NonZero(x)
    flipped = Transpose(where)
    y = Add(flipped, flipped)
  })")
                    .value();
  const std::shared_ptr<Executor> executor = Compile(graph);
  const Tensor x = Tensor::FromValues<float>(Shape{4}, {0, 5, 0, 6});
  RunContext context;
  std::vector<Value> outputs(1);
  const Status status = executor->Run(context, std::vector<Value>{x}, outputs);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(outputs[0].tensor().shape(), (Shape{2, 1}));
  EXPECT_THAT(outputs[0].tensor().data<int64_t>(), testing::ElementsAre(2, 6));
}

TEST(ExecutorTest, RunsSubgraphsWithCapturedValues) {
  Graph graph = ParseGraph(R"(graph g(x: float32[2], c: bool[]) -> (y) {
    t = Neg(x)
    y = If(c) {
      then_branch: graph a() captures (u = t) -> (p) { p = Relu(u) },
      else_branch: graph b() captures (v = t) -> (q) { q = Abs(v) }
    }
  })")
                    .value();
  const std::shared_ptr<Executor> executor = Compile(graph);
  const Tensor x = Tensor::FromValues<float>(Shape{2}, {1, -2});
  RunContext context;
  for (bool condition : {true, false}) {
    std::vector<Value> outputs(1);
    const std::vector<Value> inputs = {x, Tensor::Scalar(condition)};
    const Status status = executor->Run(context, inputs, outputs);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_THAT(outputs[0].tensor().data<float>(), testing::ElementsAre(condition ? 0 : 1, 2));
  }
}

// Only the file says what y is.
TEST(ExecutorTest, RefusesWhatWasDeclaredWrongly) {
  Graph graph = ParseGraph("graph g(x: ?) -> (y) { y: float32[3] = Erf(x) }").value();
  const std::shared_ptr<Executor> executor = Compile(graph);
  RunContext context;
  std::vector<Value> outputs(1);
  const Status status = executor->Run(context, std::vector<Value>{Ramp(Shape{2})}, outputs);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("found float32[2], declared or inferred was float32[3]"));
}

TEST(ExecutorTest, GivesAnOptionalWithoutAValue) {
  Graph graph = ParseGraph(
                    "graph g() -> (y, h) { y = Optional() {type: type(float32[2])}\n h = "
                    "OptionalHasElement() }")
                    .value();
  const std::shared_ptr<Executor> executor = Compile(graph);
  RunContext context;
  std::vector<Value> outputs(2);
  const Status status = executor->Run(context, {}, outputs);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_TRUE(outputs[0].empty());
  EXPECT_FALSE(outputs[1].tensor().data<bool>()[0]);
}

TEST(ExecutorTest, FlushesDenormalsAndRestoresTheMode) {
  Graph graph = ParseGraph("graph g(x: float32[4]) -> (y) { y = Add(x, x) }").value();
  const std::shared_ptr<Executor> executor = Compile(graph);
  const Tensor x = Tensor::FromValues<float>(Shape{4}, {1e-40f, 1, 1e-39f, 2});
  const uint64_t mode = GetFloatMode();
  RunContext context;
  std::vector<Value> outputs(1);
  ASSERT_TRUE(executor->Run(context, std::vector<Value>{x}, outputs).ok());
  EXPECT_THAT(outputs[0].tensor().data<float>(), testing::ElementsAre(0, 2, 0, 4));
  EXPECT_EQ(GetFloatMode(), mode);
}

TEST(ExecutorTest, LogarithmOfAFlushedDenormal) {
  for (const Tactics tactics : {Tactics::kReference, Tactics::kPortable, Tactics::kAuto}) {
    Graph graph = ParseGraph("graph log(x: float32[3]) -> (y) { y = Log(x) }").value();
    std::vector<Value> outputs(1);
    RunContext context;
    const std::vector<Value> inputs = {Tensor::FromValues<float>(Shape{3}, {1e-40f, 0.0f, 1.0f})};
    ASSERT_TRUE(Compile(graph, tactics)->Run(context, inputs, outputs).ok());
    const float minus_infinity = -std::numeric_limits<float>::infinity();
    EXPECT_THAT(outputs[0].tensor().data<float>(),
                testing::ElementsAre(minus_infinity, minus_infinity, 0.0f));
  }
}

TEST(ExecutorTest, ProfilesEveryStep) {
  Graph graph = MakeNetwork();
  const std::shared_ptr<Executor> executor = Compile(graph);
  RunContext context;
  context.profile = true;
  std::vector<Value> outputs(1);
  ASSERT_TRUE(executor->Run(context, std::vector<Value>{Ramp(Shape{2, 16, 40, 40})}, outputs).ok());
  EXPECT_EQ(context.timings.size(), executor->plan().steps.size());
  EXPECT_THAT(DescribePlan(executor->plan()), HasSubstr("Conv 'conv1' float32[2,16,40,40]"));
}

TEST(ExecutorTest, SharesPackedWeights) {
  Graph graph = MakeNetwork();
  ASSERT_TRUE(InferTypes(graph).ok());
  PackCache cache;
  const auto first = CompilePlan(graph, {.cache = &cache});
  const uint64_t bytes = cache.bytes();
  const auto second = CompilePlan(graph, {.cache = &cache});
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_GT(bytes, 0u);
  EXPECT_EQ(cache.bytes(), bytes);
}

}  // namespace
}  // namespace kheya
