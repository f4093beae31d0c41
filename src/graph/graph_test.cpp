#include "graph/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "graph/text.h"
#include "graph/verify.h"

namespace kheya {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Graph Parsed(const char* text) {
  Result<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  return graph.ok() ? std::move(graph).value() : Graph();
}

ValueId Named(const Graph& graph, std::string_view name) {
  const std::optional<ValueId> id = graph.FindValue(name);
  EXPECT_TRUE(id.has_value()) << name;
  return id.value_or(ValueId());
}

constexpr const char* kWithSubgraph = R"(
graph main(c: bool[], x: float32[2]) -> (y) {
  w: float32[2] = [1, 2]
  d: float32[2] = Add(x, w)
  y: float32[2] = If(c) {
    then_branch: graph then() captures (a: float32[2] = d, b: float32[2] = w) -> (t) {
      t = Mul(a, b)
    },
    else_branch: graph else() captures (a: float32[2] = d) -> (e) {
      e = Neg(a)
    }
  }
}
)";

TEST(Graph, NamesThatAreTakenGetASuffix) {
  Graph graph;
  const ValueId a = graph.AddInput("x", {});
  const ValueId b = graph.AddInput("x", {});
  const ValueId c = graph.AddConstant("x", Tensor::Scalar(1.0f));
  const ValueId unnamed = graph.AddInput("", {});
  EXPECT_EQ(graph.value(a).name, "x");
  EXPECT_EQ(graph.value(b).name, "x_1");
  EXPECT_EQ(graph.value(c).name, "x_2");
  EXPECT_EQ(graph.value(unnamed).name, "value");
  EXPECT_EQ(graph.UniqueName("x"), "x_3");
  EXPECT_TRUE(Verify(graph).ok());
}

TEST(Graph, ANodeWantsLiveInputs) {
  Graph graph;
  const ValueId x = graph.AddInput("x", {});
  EXPECT_FALSE(graph.AddNode({.op = "Relu", .inputs = {ValueId{7}}, .outputs = {"y"}}).ok());
  EXPECT_EQ(graph.num_nodes(), 0);
  const Result<NodeId> node =
      graph.AddNode({.op = "Clip", .inputs = {x, {}, {}}, .outputs = {"y", ""}});
  ASSERT_TRUE(node.ok());
  EXPECT_FALSE(graph.node(*node).outputs[1].valid());
  EXPECT_THAT(graph.value(x).uses, ElementsAre(Use{*node, 0}));
  EXPECT_EQ(graph.node(*node).Describe(), "node (Clip)");
}

TEST(Graph, CapturesAreUses) {
  const Graph graph = Parsed(kWithSubgraph);
  const NodeId branch = graph.value(Named(graph, "y")).producer;
  EXPECT_THAT(graph.value(Named(graph, "d")).uses, ElementsAre(Use{branch, Use::kCaptured}));
  EXPECT_EQ(graph.Subgraphs(branch).size(), 2u);
}

TEST(Graph, ACaptureIsMadeOnceForEachOuterValue) {
  Graph outer;
  const ValueId x = outer.AddInput("x", {});
  Graph inner;
  EXPECT_EQ(inner.AddCapture("x", x, {}), inner.AddCapture("again", x, {}));
  EXPECT_EQ(inner.captures().size(), 1u);
}

TEST(Graph, OrderPutsProducersFirstAndKeepsTies) {
  Graph graph = Parsed("graph g(x) -> (c) { a = A(x) b = B(x) c = C(a, b) }");
  const NodeId a = graph.value(Named(graph, "a")).producer;
  const NodeId b = graph.value(Named(graph, "b")).producer;
  const NodeId c = graph.value(Named(graph, "c")).producer;
  EXPECT_THAT(graph.TopologicalOrder().value(), ElementsAre(a, b, c));
  graph.SetInput(a, 0, Named(graph, "b"));
  EXPECT_THAT(graph.TopologicalOrder().value(), ElementsAre(b, a, c));
}

TEST(Graph, OrderCountsCaptures) {
  Graph graph = Parsed(kWithSubgraph);
  const NodeId late = graph.AddNode({.op = "Late", .outputs = {"late"}}).value();
  graph.ReplaceUses(Named(graph, "w"), Named(graph, "late"));
  const std::vector<NodeId> order = graph.TopologicalOrder().value();
  EXPECT_EQ(order.front(), late);
  EXPECT_EQ(order.back(), graph.value(Named(graph, "y")).producer);
}

TEST(Graph, ACycleIsNamed) {
  Graph graph = Parsed("graph g(x) -> (d) { a = A(x) b = B(a) c = C(b) d = D(c) }");
  graph.SetInput(graph.value(Named(graph, "b")).producer, 0, Named(graph, "c"));
  const Status status = graph.TopologicalOrder().status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), testing::AnyOf("node (B) is on a cycle", "node (C) is on a cycle"));
}

TEST(Graph, ReplaceUsesReachesCapturesAndOutputsThatKeepTheirNames) {
  Graph graph = Parsed(kWithSubgraph);
  const ValueId x = Named(graph, "x");
  graph.ReplaceUses(Named(graph, "d"), x);
  graph.ReplaceUses(Named(graph, "y"), x);
  EXPECT_TRUE(Verify(graph).ok()) << Verify(graph).ToString();
  EXPECT_THAT(PrintGraph(graph), HasSubstr("-> (y = x)"));
  EXPECT_THAT(PrintGraph(graph), HasSubstr("captures (a: float32[2] = x, b: float32[2] = w)"));
  EXPECT_TRUE(graph.IsOutput(x));
  EXPECT_FALSE(graph.IsOutput(Named(graph, "y")));
}

TEST(Graph, CapturesThatBecomeOneAreMerged) {
  Graph graph = Parsed(kWithSubgraph);
  graph.ReplaceUses(Named(graph, "d"), Named(graph, "w"));
  EXPECT_TRUE(Verify(graph).ok()) << Verify(graph).ToString();
  EXPECT_THAT(PrintGraph(graph), HasSubstr("captures (b: float32[2] = w) -> (t)"));
  EXPECT_THAT(PrintGraph(graph), HasSubstr("Mul(b, b)"));
}

TEST(Graph, ReplaceUsesLeavesTheExcepted) {
  Graph graph = Parsed("graph g(x, z) -> (a, b) { a = A(x) b = B(x) }");
  const ValueId x = Named(graph, "x");
  const NodeId a = graph.value(Named(graph, "a")).producer;
  graph.ReplaceUses(x, Named(graph, "z"), std::vector<NodeId>{a});
  EXPECT_THAT(graph.value(x).uses, ElementsAre(Use{a, 0}));
  EXPECT_TRUE(Verify(graph).ok());
}

TEST(Graph, WhatIsUsedIsNotRemoved) {
  Graph graph = Parsed("graph g(x) -> (b) { w: float32[] = [1] a = A(x, w) b = B(a) }");
  const NodeId a = graph.value(Named(graph, "a")).producer;
  EXPECT_EQ(graph.RemoveNode(a).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(graph.RemoveNode(graph.value(Named(graph, "b")).producer).code(),
            StatusCode::kFailedPrecondition);
  EXPECT_EQ(graph.RemoveValue(Named(graph, "w")).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(graph.RemoveValue(Named(graph, "a")).code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(Verify(graph).ok());
}

TEST(Graph, RemovedIdsAreNotUsedAgain) {
  Graph graph = Parsed("graph g(x) -> (x) { w: float32[] = [1] a = A(x, w) }");
  const NodeId a = graph.value(Named(graph, "a")).producer;
  const ValueId w = Named(graph, "w");
  ASSERT_TRUE(graph.RemoveNode(a).ok());
  ASSERT_TRUE(graph.RemoveValue(w).ok());
  EXPECT_FALSE(graph.IsLive(a));
  EXPECT_FALSE(graph.IsLive(w));
  EXPECT_FALSE(graph.FindValue("a"));
  EXPECT_FALSE(graph.RemoveNode(a).ok());
  EXPECT_FALSE(graph.RemoveValue(w).ok());
  EXPECT_NE(graph.AddNode({.op = "A", .outputs = {"a"}}).value(), a);
  EXPECT_EQ(graph.num_nodes(), 1);
}

TEST(Graph, AttributesAreReplacedAndTheirCapturesWithThem) {
  Graph graph = Parsed(kWithSubgraph);
  const NodeId branch = graph.value(Named(graph, "y")).producer;
  graph.RemoveAttribute(branch, "then_branch");
  EXPECT_TRUE(Verify(graph).ok()) << Verify(graph).ToString();
  EXPECT_EQ(graph.value(Named(graph, "w")).uses.size(), 1u);
  graph.SetAttribute(branch, {"else_branch", std::make_shared<Graph>("empty")});
  EXPECT_TRUE(Verify(graph).ok()) << Verify(graph).ToString();
  EXPECT_TRUE(graph.value(Named(graph, "d")).uses.empty());
}

TEST(Graph, RefreshCapturesFollowsASubgraphThatChanged) {
  Graph graph = Parsed(kWithSubgraph);
  const NodeId branch = graph.value(Named(graph, "y")).producer;
  Graph* other = graph.Subgraphs(branch)[1];
  other->AddCapture("x", Named(graph, "x"), {});
  EXPECT_FALSE(Verify(graph).ok());
  graph.RefreshCaptures(branch);
  EXPECT_TRUE(Verify(graph).ok()) << Verify(graph).ToString();
}

TEST(Graph, ACloneSharesTensorsButNoStructure) {
  Graph graph = Parsed(kWithSubgraph);
  const std::string before = PrintGraph(graph);
  Graph copy = graph.Clone();
  EXPECT_EQ(PrintGraph(copy), before);
  const ValueId w = Named(copy, "w");
  EXPECT_EQ(copy.Constant(w)->bytes().data(), graph.Constant(w)->bytes().data());
  copy.ReplaceUses(Named(copy, "d"), Named(copy, "x"));
  EXPECT_NE(PrintGraph(copy), before);
  EXPECT_EQ(PrintGraph(graph), before);
}

// Any sequence of edits keeps uses as Verify finds them from scratch.
class RandomEdits : public testing::TestWithParam<int> {
 protected:
  ValueId AnyValue() {
    const std::vector<ValueId> ids = graph_.ValueIds();
    return ids[random_() % ids.size()];
  }
  NodeId AnyNode() {
    const std::vector<NodeId> ids = graph_.NodeIds();
    return ids.empty() ? NodeId() : ids[random_() % ids.size()];
  }
  // Before `than` in order of making, so that no cycle comes about.
  ValueId OlderValue(NodeId than) {
    for (;;) {
      const ValueId id = AnyValue();
      const GraphValue& value = graph_.value(id);
      if (value.origin != ValueOrigin::kNode || value.producer < than) return id;
    }
  }
  void AddNode() {
    NodeSpec spec{.op = "Op", .inputs = {AnyValue(), {}, AnyValue()}, .outputs = {"v", "", "v"}};
    if (random_() % 3 == 0) {
      auto inner = std::make_shared<Graph>("inner");
      const ValueId capture = inner->AddCapture("c", AnyValue(), {});
      inner->AddCapture("d", AnyValue(), {});
      inner->AddOutput("o", capture);
      spec.attributes.push_back({"body", inner});
    }
    ASSERT_TRUE(graph_.AddNode(std::move(spec)).ok());
  }
  void Edit() {
    const NodeId node = AnyNode();
    switch (random_() % 8) {
      case 0:
        graph_.AddConstant("w", Tensor::Scalar(1.0f));
        break;
      case 1:
      case 2:
        AddNode();
        break;
      case 3:
        if (node.valid()) graph_.SetInput(node, random_() % 5, OlderValue(node));
        break;
      case 4: {
        const ValueId from = AnyValue();
        const GraphValue& value = graph_.value(from);
        if (value.origin != ValueOrigin::kNode) break;
        graph_.ReplaceUses(from, OlderValue(value.producer));
        break;
      }
      case 5:
        if (node.valid()) (void)graph_.RemoveNode(node);
        break;
      case 6:
        if (graph_.value(AnyValue()).origin == ValueOrigin::kConstant) {
          (void)graph_.RemoveValue(AnyValue());
        }
        break;
      case 7:
        graph_.SetOutput(0, AnyValue());
        break;
    }
  }

  std::mt19937 random_{static_cast<unsigned>(GetParam())};
  Graph graph_;
};

TEST_P(RandomEdits, KeepUsesAndProducers) {
  const ValueId x = graph_.AddInput("x", {});
  const ValueId y = graph_.AddInput("y", {});
  graph_.AddOutput("out", x);
  graph_.AddOutput("kept", y);
  for (int i = 0; i < 300; ++i) {
    Edit();
    const Status status = Verify(graph_);
    ASSERT_TRUE(status.ok()) << i << ": " << status.ToString();
  }
  EXPECT_EQ(PrintGraph(graph_.Clone()), PrintGraph(graph_));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomEdits, testing::Range(0, 20));

}  // namespace
}  // namespace kheya
