// Shapes through the shape arithmetic that exporters write: Shape, Gather, Concat, Reshape and the
// like, with symbolic dimensions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/infer.h"

namespace kheya {
namespace {

class ShapeArithmeticTest : public testing::Test {
 protected:
  ValueId Input(const std::string& name, const std::string& type) {
    return graph_.AddInput(name, ValueType::Parse(type).value());
  }
  ValueId List(std::vector<int64_t> values) {
    const Shape shape = {static_cast<int64_t>(values.size())};
    return graph_.AddConstant(graph_.UniqueName("list"),
                              Tensor::FromValues<int64_t>(shape, std::span(values)));
  }
  ValueId Number(int64_t value) {
    return graph_.AddConstant(graph_.UniqueName("number"), Tensor::Scalar<int64_t>(value));
  }
  ValueId Node(const std::string& op, std::vector<ValueId> inputs,
               std::vector<Attribute> attributes = {}) {
    const NodeId id = graph_
                          .AddNode({.op = op,
                                    .inputs = std::move(inputs),
                                    .outputs = {graph_.UniqueName(op)},
                                    .attributes = std::move(attributes)})
                          .value();
    return graph_.node(id).outputs[0];
  }
  // One dimension of `value`, as a list of one element.
  ValueId DimOf(ValueId value, int64_t axis) {
    const ValueId element = Node("Gather", {Node("Shape", {value}), Number(axis)});
    return Node("Unsqueeze", {element, List({0})});
  }
  std::string TypeOf(ValueId value) {
    const Status status = InferTypes(graph_);
    return status.ok() ? graph_.value(value).type.ToString() : status.ToString();
  }

  Graph graph_;
};

TEST_F(ShapeArithmeticTest, HeadsOfAttentionAreSplitAndJoined) {
  const ValueId x = Input("x", "float32[N,L,768]");
  const ValueId n = DimOf(x, 0), l = DimOf(x, 1);
  const ValueId split = Node("Concat", {n, l, List({12}), List({64})}, {{"axis", int64_t{0}}});
  const ValueId heads = Node("Reshape", {x, split});
  const ValueId swapped = Node("Transpose", {heads}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  const ValueId back = Node("Transpose", {swapped}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  const ValueId join = Node("Concat", {n, l, List({-1})}, {{"axis", int64_t{0}}});
  const ValueId joined = Node("Reshape", {back, join});
  EXPECT_EQ(TypeOf(swapped), "float32[N,12,L,64]");
  EXPECT_EQ(TypeOf(joined), "float32[N,L,768]");
}

TEST_F(ShapeArithmeticTest, MinusOneStandsForTheSymbolThatIsLeft) {
  const ValueId x = Input("x", "float32[N,L,768]");
  const ValueId shape = Node("Concat", {DimOf(x, 0), List({-1, 12, 64})}, {{"axis", int64_t{0}}});
  EXPECT_EQ(TypeOf(Node("Reshape", {x, shape})), "float32[N,L,12,64]");
}

TEST_F(ShapeArithmeticTest, MinusOneStandsForAProductOfSymbols) {
  const ValueId x = Input("x", "float32[N,C,H,W]");
  const ValueId n = DimOf(x, 0);
  const ValueId shape = Node("Concat", {n, List({-1})}, {{"axis", int64_t{0}}});
  const std::string type = TypeOf(Node("Reshape", {x, shape}));
  EXPECT_THAT(type, testing::StartsWith("float32[N,C*H*W"));
}

TEST_F(ShapeArithmeticTest, SlicedShapesKeepTheirElements) {
  const ValueId x = Input("x", "float32[N,3,H,W]");
  const ValueId sizes = Node("Slice", {Node("Shape", {x}), List({2}), List({4}), List({0})});
  const ValueId target = Node("Concat", {List({1, 8}), sizes}, {{"axis", int64_t{0}}});
  const ValueId zeros = Node("ConstantOfShape", {target});
  EXPECT_EQ(TypeOf(zeros), "float32[1,8,H,W]");
}

TEST_F(ShapeArithmeticTest, SplitAndSqueezedElementsExpand) {
  const ValueId x = Input("x", "float32[N,L]");
  const NodeId split =
      graph_
          .AddNode(
              {.op = "Split", .inputs = {Node("Shape", {x}), List({1, 1})}, .outputs = {"n", "l"}})
          .value();
  const ValueId l = graph_.node(split).outputs[1];
  const ValueId scalar = Node("Squeeze", {l, List({0})});
  const ValueId positions = Node("Range", {Number(0), scalar, Number(1)});
  const ValueId expanded = Node("Expand", {positions, Node("Shape", {x})});
  EXPECT_EQ(TypeOf(positions), "int64[L]");
  EXPECT_EQ(TypeOf(expanded), "int64[N,L]");
}

TEST_F(ShapeArithmeticTest, PositionsAreCutToTheLength) {
  const ValueId x = Input("x", "int64[N,L]");
  const ValueId table = Input("table", "int64[1,512]");
  const ValueId cut = Node("Slice", {table, List({0}), DimOf(x, 1), List({1}), List({1})});
  EXPECT_EQ(TypeOf(cut), "int64[1,L]");
}

TEST_F(ShapeArithmeticTest, SizesAreProducts) {
  const ValueId x = Input("x", "float32[N,2,L]");
  const ValueId size = Node("Unsqueeze", {Node("Size", {x}), List({0})});
  EXPECT_EQ(TypeOf(Node("Reshape", {x, size})), "float32[2*L*N]");
}

TEST_F(ShapeArithmeticTest, UnknownElementsStayUnknown) {
  const ValueId x = Input("x", "float32[N,L]");
  const ValueId shape = Input("shape", "int64[2]");
  EXPECT_EQ(TypeOf(Node("Reshape", {x, shape})), "float32[?,?]");
  EXPECT_EQ(TypeOf(Node("Expand", {x, shape})), "float32[?,?]");
  EXPECT_EQ(TypeOf(Node("ConstantOfShape", {shape})), "float32[?,?]");
}

TEST_F(ShapeArithmeticTest, AContradictionNamesTheNode) {
  const ValueId x = Input("x", "float32[2,3]");
  const std::string text = TypeOf(Node("Reshape", {x, List({4, 2})}));
  EXPECT_THAT(text, testing::HasSubstr("(Reshape)"));
  EXPECT_THAT(text, testing::HasSubstr("6 elements"));
}

TEST_F(ShapeArithmeticTest, ADeclaredTypeThatCannotBeIsAWarning) {
  const ValueId x = Input("x", "float32[N,2]");
  const ValueId wrong = Node("Relu", {x}), right = Node("Relu", {x});
  graph_.SetType(wrong, ValueType::Parse("float32[N,3]").value());
  graph_.SetType(right, ValueType::Parse("float32[M,2]").value());
  std::vector<std::string> warnings;
  ASSERT_TRUE(InferTypes(graph_, &warnings).ok());
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], testing::HasSubstr("is declared float32[N,3], found float32[N,2]"));
}

}  // namespace
}  // namespace kheya
