#include "passes/pipeline.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/text.h"
#include "passes/expand_fused.h"

namespace kheya {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Graph Parsed(const char* text) {
  Result<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  return graph.ok() ? std::move(graph).value() : Graph();
}

constexpr const char* kConvAndNorm = R"(
graph g(x: float32[1,2,3]) -> (out = y) {
  w: float32[2,2,1] = [1, -2, 0.5, 3]
  p: float32[2] = [2, 0.5]
  c = Conv(x, w)
  i = Identity(c)
  y = BatchNormalization(i, p, p, p, p)
})";

TEST(Pipeline, PassesBuildOnEachOther) {
  Graph graph = Parsed(kConvAndNorm);
  ASSERT_TRUE(Simplify(graph, {}).ok());
  EXPECT_EQ(graph.num_nodes(), 1);
  EXPECT_EQ(graph.node(graph.NodeIds()[0]).op, "Conv");
  EXPECT_EQ(graph.outputs()[0].name, "out");
}

TEST(Pipeline, ADisabledPassDoesNotRun) {
  Graph graph = Parsed(kConvAndNorm);
  ASSERT_TRUE(Simplify(graph, {.disabled = {"absorb_batch_norm", "lower_conv"}}).ok());
  EXPECT_EQ(graph.num_nodes(), 2);
}

TEST(Pipeline, AnUnknownPassIsRefusedWithTheList) {
  Graph graph = Parsed(kConvAndNorm);
  const Status status = Simplify(graph, {.disabled = {"absorb_everything"}});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("found no pass 'absorb_everything' to disable, expected "
                                          "one of remove_dead_nodes, fold_constants"));
  EXPECT_FALSE(Lower(graph, {.disabled = {"x"}}).ok());
  const std::vector<std::string> names = {"x"};
  EXPECT_FALSE(RunPasses(graph, names, {}).ok());
}

TEST(Pipeline, EveryPassIsTimedOnce) {
  Graph graph = Parsed(kConvAndNorm);
  std::vector<PassTiming> timings;
  ASSERT_TRUE(Simplify(graph, {.timings = &timings}).ok());
  ASSERT_EQ(timings.size(), SimplifyPasses().size());
  int64_t changes = 0;
  for (size_t i = 0; i < timings.size(); ++i) {
    EXPECT_EQ(timings[i].pass, SimplifyPasses()[i].name);
    changes += timings[i].changes;
  }
  EXPECT_EQ(changes, 2);
}

TEST(Pipeline, ACycleIsAnError) {
  Graph graph = Parsed("graph g(x: float32[1]) -> (b) { a = Identity(x) b = Identity(a) }");
  graph.SetInput(graph.value(*graph.FindValue("a")).producer, 0, *graph.FindValue("b"));
  EXPECT_EQ(Simplify(graph, {}).code(), StatusCode::kInvalidArgument);
}

TEST(Pipeline, NodesWithoutTheirInputsAreLeftAlone) {
  for (const char* op : {"Conv", "Gemm", "Transpose", "Reshape", "BatchNormalization", "Concat",
                         "Pad", "Slice", "Split", "Squeeze"}) {
    const std::string text = fmt::format(
        "graph g(x: float32[1]) -> (b) {{ a = {0}() b = {0}(_, x) c = {0}(a) _ = {0}(x) }}", op);
    Graph graph = Parsed(text.c_str());
    (void)Simplify(graph, {});
    (void)Lower(graph, {});
  }
}

TEST(Pipeline, SubgraphsAreSimplifiedAndTheirCapturesReleased) {
  Graph graph = Parsed(R"(
graph g(x: float32[2,3]) -> (y) {
  unused = Transpose(x) {perm: [0, 1]}
  shape = Shape(x)
  y = Wrap() {
    body: graph body() captures (a: float32[2,3] = x, u = unused, s: int64[2] = shape) -> (r) {
      t = Transpose(a)
      v = Transpose(t)
      dead = Transpose(u)
      r = Reshape(v, s)
    }
  }
})");
  ASSERT_TRUE(Simplify(graph, {}).ok());
  const NodeId wrap = graph.value(graph.outputs()[0].value).producer;
  const Graph* body = graph.Subgraphs(wrap)[0];
  EXPECT_EQ(body->num_nodes(), 0) << PrintGraph(graph);
  EXPECT_EQ(body->captures().size(), 1u) << PrintGraph(graph);
  EXPECT_EQ(graph.num_nodes(), 1) << PrintGraph(graph);
}

TEST(FoldConstants, StaysWithinItsBudgets) {
  constexpr const char* kText = R"(
graph g() -> (y, z) {
  a: float32[1,2] = [1, 2]
  shape: int64[2] = [1000, 2]
  y = Expand(a, shape) {name: "wide"}
  b: float32[2,3] = [1, 2, 3, 4, 5, 6]
  z = MatMul(a, b) {name: "product"}
})";
  std::vector<std::string> notes;
  Graph graph = Parsed(kText);
  ASSERT_TRUE(Simplify(graph, {.fold_bytes = 1000, .fold_macs = 5, .notes = &notes}).ok());
  EXPECT_EQ(graph.num_nodes(), 2);
  EXPECT_THAT(notes, Contains(HasSubstr("'wide' (Expand): its result of 8000 bytes is over")));
  EXPECT_THAT(notes, Contains(HasSubstr("'product' (MatMul): it takes 6 multiply-accumulates")));
  Graph folded = Parsed(kText);
  ASSERT_TRUE(Simplify(folded, {}).ok());
  EXPECT_EQ(folded.num_nodes(), 0);
}

TEST(FoldConstants, WhatCannotBeEvaluatedIsLeftWithANote) {
  Graph graph = Parsed(R"(
graph g() -> (y) {
  a: float32[2] = [1, 2]
  i: int64[1] = [5]
  y = Gather(a, i) {name: "outside"}
})");
  std::vector<std::string> notes;
  ASSERT_TRUE(Simplify(graph, {.notes = &notes}).ok());
  EXPECT_EQ(graph.num_nodes(), 1);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("'outside' (Gather): it cannot be folded")));
}

// 8 floats and 2 integers go: 48 bytes beside the budget of 16.
TEST(Pipeline, FoldingSpendsWhatItFreesAndItsBudget) {
  for (const auto& [end, nodes] : {std::pair(6, 0), std::pair(8, 0), std::pair(9, 1)}) {
    Graph graph = Parsed(fmt::format(R"(
graph g() -> (y) {{
  c: float32[8] = [1, 2, 3, 4, 5, 6, 7, 8]
  pads: int64[2] = [0, {}]
  y = Pad(c, pads)
}})",
                                     end)
                             .c_str());
    ASSERT_TRUE(Simplify(graph, {.fold_bytes = 16}).ok());
    EXPECT_EQ(graph.num_nodes(), nodes) << end;
  }
}

TEST(ExpandFused, NeedsTheRankOfWhatItTransposesOrBroadcasts) {
  Graph product = Parsed(
      "graph g(a: float32?, b: float32[2,3]) -> (y) {"
      " y = kheya::FusedMatMul(a, b) {transA: 1} }");
  EXPECT_THAT(ExpandFused(product).message(), HasSubstr("a transposed operand of unknown rank"));
  Graph list = Parsed(
      "graph g(a: float32[2,3], b: float32[3]) -> (y) {"
      " y = kheya::FusedMatMul(a, b) {transB: 1} }");
  EXPECT_THAT(ExpandFused(list).message(), HasSubstr("a transposed operand of unknown rank"));
  Graph norm =
      Parsed("graph g(x: float32?, s: float32[2]) -> (y) { y = kheya::FusedBatchNorm(x, s, s) }");
  EXPECT_THAT(ExpandFused(norm).message(), HasSubstr("a FusedBatchNorm of unknown rank"));
  Graph row =
      Parsed("graph g(x: float32[2], s: float32[2]) -> (y) { y = kheya::FusedBatchNorm(x, s, s) }");
  EXPECT_THAT(ExpandFused(row).message(), HasSubstr("a FusedBatchNorm of unknown rank"));
}

}  // namespace
}  // namespace kheya
