#include "graph/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/graph_test_peer.h"
#include "graph/text.h"

namespace kheya {
namespace {

using ::testing::HasSubstr;

constexpr const char* kSound = R"(
graph g(c: bool[], x: float32[2]) -> (y, z) {
  w: float32[2] = [1, 2]
  z: float32[2] = Add(x, w) {name: "add"}
  y: float32[2] = If(c) {
    name: "branch",
    then_branch: graph then() captures (a: float32[2] = z) -> (t) { t = Neg(a) }
  }
}
)";

class VerifyBroken : public testing::Test {
 protected:
  VerifyBroken() : graph_(ParseGraph(kSound).value()) {}
  ValueId Named(std::string_view name) { return graph_.FindValue(name).value(); }
  NodeId Producer(std::string_view name) { return graph_.value(Named(name)).producer; }
  GraphValue& Value(std::string_view name) {
    return GraphTestPeer::MutableValue(graph_, Named(name));
  }
  Node& NodeOf(std::string_view name) { return GraphTestPeer::MutableNode(graph_, Producer(name)); }
  void ExpectRefused(const char* text) {
    const Status status = Verify(graph_);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(text));
  }

  Graph graph_;
};

TEST_F(VerifyBroken, SoundGraphPasses) { EXPECT_TRUE(Verify(graph_).ok()); }

TEST_F(VerifyBroken, InputOfNodeIsNoValue) {
  NodeOf("z").inputs[1] = ValueId{99};
  ExpectRefused("node 'add' (Add): input 1 is not a value");
}

TEST_F(VerifyBroken, OutputOfNodeIsNoValue) {
  NodeOf("z").outputs[0] = ValueId{99};
  ExpectRefused("node 'add' (Add): output 0 is not a value");
}

TEST_F(VerifyBroken, UseIsNotRecorded) {
  Value("w").uses.clear();
  ExpectRefused("value 'w': it records 0 uses, found 1");
}

TEST_F(VerifyBroken, RecordedUseIsNotThere) {
  Value("w").uses.push_back({Producer("z"), 0});
  ExpectRefused("value 'w': it records 2 uses, found 1");
}

TEST_F(VerifyBroken, CaptureUseIsNotRecorded) {
  Value("z").uses.clear();
  ExpectRefused("value 'z': it records 0 uses, found 1");
}

TEST_F(VerifyBroken, GraphOutputIsNotCounted) {
  Value("z").num_graph_outputs = 0;
  ExpectRefused("value 'z': it records 0 graph outputs, found 1");
}

TEST_F(VerifyBroken, ProducerDisagrees) {
  Value("z").output_index = 1;
  ExpectRefused("output 0 ('z') does not say that this node makes it");
}

TEST_F(VerifyBroken, ProducerIsNoNode) {
  NodeOf("z").outputs.clear();
  Value("z").producer = NodeId{77};
  ExpectRefused("value 'z': its producer is not a node");
}

TEST_F(VerifyBroken, ProducerDoesNotListItsOutput) {
  NodeOf("z").outputs.clear();
  ExpectRefused("value 'z': it is not output 0 of its producer");
}

TEST_F(VerifyBroken, NameIsEmpty) {
  Value("z").name = "";
  ExpectRefused("found no name");
}

TEST_F(VerifyBroken, NameIsTaken) {
  Value("z").name = "w";
  ExpectRefused("its name leads to another value");
}

TEST_F(VerifyBroken, OutputNameIsTaken) {
  GraphTestPeer::Outputs(graph_)[1].name = "y";
  ExpectRefused("found two graph outputs named 'y'");
}

TEST_F(VerifyBroken, OutputNameIsEmpty) {
  GraphTestPeer::Outputs(graph_)[1].name = "";
  ExpectRefused("found a graph output without a name");
}

TEST_F(VerifyBroken, OutputIsNoValue) {
  GraphTestPeer::Outputs(graph_)[1].value = ValueId{99};
  ExpectRefused("graph output 'z' is not a value");
}

TEST_F(VerifyBroken, InputIsNoValue) {
  GraphTestPeer::Inputs(graph_)[0] = ValueId{99};
  ExpectRefused("a graph input is not a value");
}

TEST_F(VerifyBroken, InputIsListedTwice) {
  GraphTestPeer::Inputs(graph_).push_back(Named("x"));
  ExpectRefused("graph input 'x' is of another origin or listed twice");
}

TEST_F(VerifyBroken, InputIsNotListed) {
  GraphTestPeer::Inputs(graph_).pop_back();
  ExpectRefused("value 'x': it is not among the inputs");
}

TEST_F(VerifyBroken, ConstantHasNoTensor) {
  Value("w").constant = Tensor();
  ExpectRefused("value 'w': its constant has no tensor");
}

TEST_F(VerifyBroken, OperatorHasNoName) {
  NodeOf("z").op = "";
  ExpectRefused("found no operator name");
}

TEST_F(VerifyBroken, AttributeIsThereTwice) {
  NodeOf("z").attributes = {{"a", int64_t{1}}, {"a", int64_t{2}}};
  ExpectRefused("found attribute 'a' twice");
}

TEST_F(VerifyBroken, AttributeHasNoName) {
  NodeOf("z").attributes = {{"", int64_t{1}}};
  ExpectRefused("found an attribute without a name");
}

TEST_F(VerifyBroken, AttributeHoldsNothing) {
  NodeOf("z").attributes = {{"t", std::vector<Tensor>(1)}};
  ExpectRefused("attribute 't' holds a tensors that is not there");
  NodeOf("z").attributes = {{"g", std::shared_ptr<Graph>()}};
  ExpectRefused("attribute 'g' holds a graph that is not there");
}

TEST_F(VerifyBroken, CaptureOfWhatIsNotThere) {
  Graph& inner = *graph_.Subgraphs(Producer("y"))[0];
  GraphTestPeer::MutableValue(inner, inner.captures()[0]).outer = ValueId{99};
  ExpectRefused("subgraph 'then': value 'a': it captures what is no value");
}

TEST_F(VerifyBroken, CaptureOfAnotherType) {
  Graph& inner = *graph_.Subgraphs(Producer("y"))[0];
  inner.SetType(inner.captures()[0], ValueType::OfTensor(DType::kInt64));
  ExpectRefused("but captures 'z' of float32[2]");
}

TEST_F(VerifyBroken, CaptureWithoutEnclosingGraph) {
  const Status status = Verify(*graph_.Subgraphs(Producer("y"))[0]);
  EXPECT_THAT(status.message(), HasSubstr("a graph that is no subgraph captures it"));
}

TEST_F(VerifyBroken, Cycle) {
  graph_.SetInput(Producer("z"), 0, Named("y"));
  ExpectRefused("is on a cycle");
}

TEST_F(VerifyBroken, NestingTooDeep) {
  Graph nested("leaf");
  for (int i = 0; i <= kMaxSubgraphDepth; ++i) {
    Graph outer("outer");
    ASSERT_TRUE(outer
                    .AddNode({.op = "Wrap",
                              .outputs = {"o"},
                              .attributes = {{"body", std::make_shared<Graph>(std::move(nested))}}})
                    .ok());
    nested = std::move(outer);
  }
  graph_ = std::move(nested);
  ExpectRefused("found subgraphs nested deeper than 32");
}

}  // namespace
}  // namespace kheya
