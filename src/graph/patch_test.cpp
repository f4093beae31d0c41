#include "graph/patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/text.h"
#include "graph/verify.h"

namespace kheya {
namespace {

using ::testing::HasSubstr;

class PatchTest : public testing::Test {
 protected:
  void Parse(const char* text) { graph_ = ParseGraph(text).value(); }
  ValueId Named(std::string_view name) { return graph_.FindValue(name).value(); }
  NodeId Producer(std::string_view name) { return graph_.value(Named(name)).producer; }
  void ExpectGraph(const char* text) {
    EXPECT_TRUE(Verify(graph_).ok()) << Verify(graph_).ToString();
    EXPECT_EQ(PrintGraph(graph_), PrintGraph(ParseGraph(text).value()));
  }

  Graph graph_;
};

TEST_F(PatchTest, ReplacesAndRemovesWhatBecameDead) {
  Parse(R"(graph g(x: float32[2]) -> (y) {
    w: float32[2] = [1, 2]
    a: float32[2] = Mul(x, w)
    b: float32[2] = Relu(a)
    y: float32[2] = Neg(b)
  })");
  Patch patch(graph_);
  const ValueId v = patch.AddConstant("v", Tensor::Scalar(3.0f));
  const NodeId fused =
      patch.AddNode({.op = "Fused", .inputs = {Named("x"), v}, .outputs = {"f"}}).value();
  patch.ReplaceValue(Named("b"), patch.Output(fused, 0));
  ASSERT_TRUE(patch.Apply().ok());
  ExpectGraph(R"(graph g(x: float32[2]) -> (y) {
    v: float32[] = [3]
    b: float32[2] = Fused(x, v)
    y: float32[2] = Neg(b)
  })");
}

TEST_F(PatchTest, KeepsWhatOthersUse) {
  Parse(R"(graph g(x: float32[2]) -> (y, a) {
    a: float32[2] = Abs(x)
    y: float32[2] = Neg(a)
  })");
  Patch patch(graph_);
  const NodeId fused =
      patch.AddNode({.op = "Fused", .inputs = {Named("x")}, .outputs = {"f"}}).value();
  patch.ReplaceValue(Named("y"), patch.Output(fused, 0));
  ASSERT_TRUE(patch.Apply().ok());
  ExpectGraph(R"(graph g(x: float32[2]) -> (y, a) {
    a: float32[2] = Abs(x)
    y: float32[2] = Fused(x)
  })");
}

TEST_F(PatchTest, AddedNodesSeeTheGraphAsItIs) {
  Parse("graph g(x: float32[2]) -> (y) { y = Neg(x) }");
  Patch patch(graph_);
  const NodeId cast =
      patch.AddNode({.op = "Quantize", .inputs = {Named("x")}, .outputs = {"q"}}).value();
  patch.ReplaceValue(Named("x"), patch.Output(cast, 0));
  ASSERT_TRUE(patch.Apply().ok());
  ExpectGraph("graph g(x: float32[2]) -> (y) { q: float32[2] = Quantize(x) y = Neg(q) }");
}

TEST_F(PatchTest, NotAppliedLeavesTheGraphAsItWas) {
  Parse("graph g(x: float32[2]) -> (y) { y = Neg(x) }");
  const std::string before = PrintGraph(graph_);
  {
    Patch patch(graph_);
    const ValueId w = patch.AddConstant("w", Tensor::Scalar(1.0f));
    const NodeId a =
        patch.AddNode({.op = "A", .inputs = {Named("x"), w}, .outputs = {"a"}}).value();
    ASSERT_TRUE(patch.AddNode({.op = "B", .inputs = {patch.Output(a, 0)}, .outputs = {"b"}}).ok());
    patch.ReplaceValue(Named("y"), patch.Output(a, 0));
    EXPECT_FALSE(patch.empty());
  }
  EXPECT_EQ(PrintGraph(graph_), before);
  EXPECT_TRUE(Verify(graph_).ok());
}

TEST_F(PatchTest, RefusesAReplacementOfAnotherTypeAndTakesItBack) {
  Parse("graph g(x: float32[2], i: int64[2], s: float32[3]) -> (y) { y: float32[2] = Neg(x) }");
  const std::string before = PrintGraph(graph_);
  for (const char* other : {"i", "s"}) {
    Patch patch(graph_);
    patch.AddConstant("w", Tensor::Scalar(1.0f));
    patch.ReplaceValue(Named("y"), Named(other));
    const Status status = patch.Apply();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("value 'y' of float32[2] cannot be replaced by"));
  }
  EXPECT_EQ(PrintGraph(graph_), before);
}

TEST_F(PatchTest, RefusesWhatIsNotThere) {
  Parse("graph g(x) -> (y) { y = Neg(x) }");
  const auto refused = [&](auto edit) {
    Patch patch(graph_);
    edit(patch);
    return patch.Apply().code() == StatusCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused([&](Patch& patch) { patch.ReplaceValue(Named("y"), ValueId{50}); }));
  EXPECT_TRUE(refused([&](Patch& patch) { patch.SetInput(NodeId{50}, 0, Named("x")); }));
  EXPECT_TRUE(refused([&](Patch& patch) { patch.SetInput(Producer("y"), 0, ValueId{50}); }));
  EXPECT_TRUE(refused([&](Patch& patch) { patch.SetAttribute(NodeId{50}, {"a", int64_t{1}}); }));
  EXPECT_TRUE(refused([&](Patch& patch) { patch.RemoveNode(NodeId{50}); }));
  EXPECT_TRUE(refused([&](Patch& patch) { patch.RemoveValue(ValueId{50}); }));
  ExpectGraph("graph g(x) -> (y) { y = Neg(x) }");
}

TEST_F(PatchTest, EditsInputsAndAttributes) {
  Parse(R"(graph g(x) -> (y) {
    w: float32[] = [1]
    p = Pad(x, w)
    y = Conv(p) {group: 1, auto_pad: "VALID"}
  })");
  Patch patch(graph_);
  patch.SetInput(Producer("y"), 0, Named("x"));
  patch.SetAttribute(Producer("y"), {"group", int64_t{2}});
  patch.SetAttribute(Producer("y"), {"pads", std::vector<int64_t>{1, 1}});
  patch.RemoveAttribute(Producer("y"), "auto_pad");
  ASSERT_TRUE(patch.Apply().ok());
  ExpectGraph("graph g(x) -> (y) { y = Conv(x) {group: 2, pads: [1, 1]} }");
  EXPECT_EQ(patch.Apply().code(), StatusCode::kFailedPrecondition);
}

TEST_F(PatchTest, RemovesNodesAndConstants) {
  Parse("graph g(x) -> (y) { w: float32[] = [1] a = A(x) b = B(a) y = Neg(x) }");
  Patch patch(graph_);
  patch.RemoveNode(Producer("b"));
  patch.RemoveValue(Named("w"));
  ASSERT_TRUE(patch.Apply().ok());
  ExpectGraph("graph g(x) -> (y) { y = Neg(x) }");
  Patch wrong(graph_);
  wrong.RemoveNode(Producer("y"));
  EXPECT_EQ(wrong.Apply().code(), StatusCode::kFailedPrecondition);
}

TEST_F(PatchTest, DeadNodesReleaseWhatTheirSubgraphsCaptured) {
  Parse(R"(graph g(x: float32[2]) -> (y) {
    d = A(x)
    o = Wrap() {body: graph b() captures (c = d) -> (c) {}}
    y = Neg(o)
  })");
  Patch patch(graph_);
  patch.ReplaceValue(Named("o"), Named("x"));
  ASSERT_TRUE(patch.Apply().ok());
  ExpectGraph("graph g(x: float32[2]) -> (y) { y = Neg(x) }");
}

TEST_F(PatchTest, OutputsKeepTheirNames) {
  Parse("graph g(x) -> (out = y) { y = Identity(x) }");
  Patch patch(graph_);
  patch.ReplaceValue(Named("y"), Named("x"));
  ASSERT_TRUE(patch.Apply().ok());
  ExpectGraph("graph g(x) -> (out = x) {}");
}

}  // namespace
}  // namespace kheya
