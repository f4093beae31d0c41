#include "graph/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "graph/verify.h"

namespace kheya {
namespace {

using ::testing::HasSubstr;

PrintOptions Full() {
  PrintOptions options;
  options.max_constant_elements = std::numeric_limits<int64_t>::max();
  return options;
}

// The graph as it comes back; its text is the same.
Graph RoundTrip(const Graph& graph) {
  const std::string text = PrintGraph(graph, Full());
  Result<Graph> parsed = ParseGraph(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status().ToString() << "\n" << text;
  if (!parsed.ok()) return Graph();
  EXPECT_EQ(PrintGraph(*parsed, Full()), text);
  return std::move(parsed).value();
}

TEST(GraphText, PrintsTheFormOfItsHeader) {
  constexpr const char* kText = R"(graph mlp(x: float32[batch,3]) -> (y) {
  w: float32[3,2] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
  t: float32[batch,2] = MatMul(x, w)
  y = Relu(t) {name: "act"}
}
)";
  const Result<Graph> graph = ParseGraph(kText);
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(PrintGraph(*graph), kText);
  EXPECT_EQ(graph->value(graph->inputs()[0]).type.ToString(), "float32[batch,3]");
}

TEST(GraphText, KeepsEveryFact) {
  Graph graph("g");
  graph.producer = "pytorch \"2.1\"\n";
  graph.declared_opsets = {{"", 17}, {"com.microsoft", 1}};
  graph.metadata() = {{"kheya.spec", "{\"a\": [1, 2]}"}, {"", std::string("\0\x01\x7f\xff", 4)}};
  graph.model_domain = "org.\"example\"";
  graph.model_version = -7;
  graph.doc = "what\nit does";
  graph.default_inputs = {"w"};
  graph.graph_metadata = {{"k", "v"}};
  graph.AddOutput("y", graph.AddInput("x", {}));
  const Graph parsed = RoundTrip(graph);
  EXPECT_EQ(parsed.producer, graph.producer);
  EXPECT_EQ(parsed.model_domain, graph.model_domain);
  EXPECT_EQ(parsed.model_version, graph.model_version);
  EXPECT_EQ(parsed.doc, graph.doc);
  EXPECT_EQ(parsed.default_inputs, graph.default_inputs);
  EXPECT_EQ(parsed.graph_metadata, graph.graph_metadata);
  EXPECT_EQ(parsed.declared_opsets, graph.declared_opsets);
  EXPECT_EQ(parsed.metadata(), graph.metadata());
  EXPECT_EQ(parsed.outputs()[0].name, "y");
}

TEST(GraphText, KeepsOddNames) {
  Graph graph("a \"graph\" {}");
  for (const char* name : {"onnx::Conv_1", "_", "__", "123", "a b", "x\ny", "graph", "é", "a=b",
                           "#", "captures", "->", "name", "a.b/c", "0x12", "..."}) {
    const ValueId input = graph.AddInput(name, {});
    const NodeId node = graph
                            .AddNode({.op = name,
                                      .domain = name,
                                      .name = name,
                                      .inputs = {input, {}},
                                      .outputs = {std::string("o ") + name, ""},
                                      .attributes = {{name, int64_t{1}}}})
                            .value();
    graph.AddOutput(name, graph.node(node).outputs[0]);
  }
  const Graph parsed = RoundTrip(graph);
  ASSERT_EQ(parsed.num_nodes(), graph.num_nodes());
  for (NodeId id : graph.NodeIds()) {
    EXPECT_EQ(parsed.node(id).op, graph.node(id).op);
    EXPECT_EQ(parsed.node(id).domain, graph.node(id).domain);
    EXPECT_EQ(parsed.node(id).name, graph.node(id).name);
    EXPECT_EQ(parsed.node(id).inputs.size(), 2u);
    EXPECT_EQ(parsed.node(id).attributes[0].name, graph.node(id).attributes[0].name);
  }
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    EXPECT_EQ(parsed.value(parsed.inputs()[i]).name, graph.value(graph.inputs()[i]).name);
    EXPECT_EQ(parsed.outputs()[i].name, graph.outputs()[i].name);
  }
}

TEST(GraphText, KeepsNodesOfDomainlessNumberLikeOperators) {
  Graph graph("g");
  graph.AddOutput("y",
                  graph.node(graph.AddNode({.op = "1Op", .outputs = {"y"}}).value()).outputs[0]);
  const Graph parsed = RoundTrip(graph);
  EXPECT_EQ(parsed.node(NodeId{0}).op, "1Op");
}

TEST(GraphText, KeepsEveryAttributeKind) {
  Graph graph("g");
  auto body = std::make_shared<Graph>("body");
  body->AddOutput("o", body->AddInput("i", ValueType::OfTensor(DType::kFloat32)));
  const Tensor tensor = Tensor::FromValues<int64_t>(Shape{2}, {1, -2});
  const ValueType type = ValueType::OfSequence(ValueType::OfTensor(DType::kFloat32));
  std::vector<Attribute> attributes = {
      {"int", std::numeric_limits<int64_t>::min()},
      {"float", -0.0f},
      {"whole", 2.0f},
      {"string", std::string("a\"\\\n\x02 # b")},
      {"tensor", tensor},
      {"graph", body},
      {"type", type},
      {"ints", std::vector<int64_t>{1, -2}},
      {"floats", std::vector<float>{1.0f, 1e-45f, std::numeric_limits<float>::infinity()}},
      {"strings", std::vector<std::string>{"a", ""}},
      {"tensors", std::vector<Tensor>{tensor, tensor}},
      {"graphs", std::vector<std::shared_ptr<Graph>>{body, body}},
      {"types", std::vector<ValueType>{type, type}},
      {"no_ints", std::vector<int64_t>()},
      {"no_floats", std::vector<float>()},
      {"no_strings", std::vector<std::string>()},
      {"no_tensors", std::vector<Tensor>()},
      {"no_graphs", std::vector<std::shared_ptr<Graph>>()},
      {"no_types", std::vector<ValueType>()}};
  ASSERT_TRUE(graph.AddNode({.op = "Op", .outputs = {"y"}, .attributes = attributes}).ok());
  const Graph parsed = RoundTrip(graph);
  const std::vector<Attribute>& found = parsed.node(NodeId{0}).attributes;
  ASSERT_EQ(found.size(), attributes.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].name, attributes[i].name);
    EXPECT_EQ(found[i].kind(), attributes[i].kind()) << found[i].name;
  }
  EXPECT_EQ(std::get<std::string>(found[3].value), std::get<std::string>(attributes[3].value));
  EXPECT_TRUE(BitwiseEqual(std::get<Tensor>(found[4].value), tensor));
  EXPECT_EQ(std::get<ValueType>(found[6].value), type);
  EXPECT_EQ(std::get<std::vector<float>>(found[8].value),
            std::get<std::vector<float>>(attributes[8].value));
}

TEST(GraphText, KeepsElementsToTheLastBit) {
  const auto bits = [](uint32_t value) { return std::bit_cast<float>(value); };
  const auto bits64 = [](uint64_t value) { return std::bit_cast<double>(value); };
  std::vector<Tensor> tensors = {
      Tensor::FromValues<float>(
          Shape{2, 5}, {0.1f, -0.0f, 1e-45f, 3.4028235e38f, bits(0x7fc00000), bits(0xffc00000),
                        bits(0x7f800001), bits(0x7f800000), bits(0xff800000), 16777216.0f}),
      Tensor::FromValues<double>(
          Shape{4}, {0.1, 5e-324, bits64(0x7ff8000000000000), bits64(0x7ff0000000000001)}),
      Tensor::FromValues<uint64_t>(Shape{2}, {0, std::numeric_limits<uint64_t>::max()}),
      Tensor::FromValues<int8_t>(Shape{2}, {-128, 127}),
      Tensor::FromValues<bool>(Shape{2}, {true, false}),
      Tensor::FromValues<std::string>(Shape{2}, {"a, b]", ""}),
      Tensor::FromValues<int32_t>(Shape{0, 3}, {}),
      Tensor::Scalar(int16_t{-5})};
  Graph graph("g");
  for (const Tensor& tensor : tensors) graph.AddConstant("c", tensor);
  const Graph parsed = RoundTrip(graph);
  const std::vector<ValueId> ids = parsed.ValueIds();
  ASSERT_EQ(ids.size(), tensors.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    EXPECT_TRUE(BitwiseEqual(*parsed.Constant(ids[i]), tensors[i])) << tensors[i].TypeString();
  }
}

TEST(GraphText, KeepsEveryValueOfSixteenBitFloats) {
  for (DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kFloat8E4M3FN, DType::kComplex64}) {
    Tensor tensor = Tensor::Allocate(dtype, Shape{65536}).value();
    auto* bytes = static_cast<std::byte*>(tensor.mutable_view().data);
    for (size_t i = 0; i < tensor.num_bytes(); ++i) {
      bytes[i] = static_cast<std::byte>(i % 2 == 0 ? i / 2 : i / 512);
    }
    Graph graph("g");
    graph.AddConstant("c", tensor);
    const Graph parsed = RoundTrip(graph);
    ASSERT_EQ(parsed.ValueIds().size(), 1u);
    EXPECT_TRUE(BitwiseEqual(*parsed.Constant(parsed.ValueIds()[0]), tensor)) << DTypeName(dtype);
  }
}

TEST(GraphText, KeepsNestedSubgraphsAndTheirCaptures) {
  const Result<Graph> graph = ParseGraph(R"(
    # Comments and blanks are free.
    graph main(n: int64[], c: bool[], x: float32[2]) -> (y) {
      y, _ = Loop(n, c, x) {
        body: graph body(i: int64[], k: bool[], s: float32[2])
          captures (outer_x: float32[2] = x) -> (k, r) {
          r = If(k) {
            then_branch: graph t() captures (a = s, b = outer_x) -> (o) { o = Add(a, b) },
            else_branch: graph e() -> (o) { o: float32[2] = [0, 0] }
          }
        }
      }
    })");
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  const Graph parsed = RoundTrip(*graph);
  const ValueId x = parsed.FindValue("x").value();
  EXPECT_EQ(parsed.value(x).uses.size(), 2u);
}

TEST(GraphText, LargeConstantsAreShortened) {
  Graph graph("g");
  graph.AddConstant("w", Tensor::FromValues<float>(Shape{3}, {1, 2, 3}));
  PrintOptions options;
  options.max_constant_elements = 2;
  const std::string text = PrintGraph(graph, options);
  EXPECT_THAT(text, HasSubstr("w: float32[3] = ... #"));
  EXPECT_THAT(ParseGraph(text).status().message(), HasSubstr("were left out of the text"));
}

struct Refused {
  const char* text;
  const char* message;
};

class RefusedText : public testing::TestWithParam<Refused> {};

TEST_P(RefusedText, SaysWhereAndWhy) {
  const Result<Graph> graph = ParseGraph(GetParam().text);
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(graph.status().message(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Texts, RefusedText,
    testing::Values(
        Refused{"", "line 1, column 1: found the end, expected 'graph'"},
        Refused{"graph g(x) -> (x) {} more", "found 'more', expected the end"},
        Refused{"graph g(x) -> (x) {", "found the end"},
        Refused{"graph g(x, x) -> (x) {}", "'x' is defined twice"},
        Refused{"graph g(x) -> (y) {}", "graph output 'y' is 'y', which no line defines"},
        Refused{"graph g(x) -> (x, x) {}", "found two graph outputs named 'x'"},
        Refused{"graph g(x) -> (y) {\n  y = Op(z)\n}", "line 2, column 11: found 'z'"},
        Refused{"graph g(x) -> (y) { y, y = Op(x) }", "'y' is defined twice"},
        Refused{"graph g(x) -> (y) { \"\" = Op(x) }", "found an empty name"},
        Refused{"graph g(_) -> () {}", "found an input without a name"},
        Refused{"graph g() captures (a = b) -> (a) {}", "in a graph that is no subgraph"},
        Refused{"graph g() -> () { c: float32[2] = [1] }", "found 4 bytes of elements, expected 8"},
        Refused{"graph g() -> () { c: string[2] = [\"a\"] }", "found 1 strings, expected 2"},
        Refused{"graph g() -> () { c: float32[n] = [1] }", "with known dimensions"},
        Refused{"graph g() -> () { c = [1] }", "with known dimensions"},
        Refused{"graph g() -> () { a, c: int8[1] = [1] }", "found a constant with 2 names"},
        Refused{"graph g() -> () { c: int8[1] = [300] }",
                "found '300', expected an element of int8"},
        Refused{"graph g() -> () { c: float32[1] = 0x01 }", "found 1 bytes of elements"},
        Refused{"graph g() -> () { c: float32[1] = 0x0g }", "expected bytes as 0x"},
        Refused{"graph g() -> () { c: float32[4611686018427387904] = [1] }", "bytes"},
        Refused{"graph g() -> () { c: float32[4611686018427387904,4] = [1] }", ""},
        Refused{"graph g() -> () { y = Op() {a: } }", "expected an attribute's value"},
        Refused{"graph g() -> () { y = Op() {a: []} }", "found an empty list without its kind"},
        Refused{"graph g() -> () { y = Op() {a: [1, \"b\"]} }", "found a list of several kinds"},
        Refused{"graph g() -> () { y = Op() {a: [[1]]} }", "found a list in a list"},
        Refused{"graph g() -> () { y = Op() {a: [ints []]} }", "found a list in a list"},
        Refused{"graph g() -> () { y = Op() {a: 1x} }", "found '1x', expected a number"},
        Refused{"graph g() -> () { y = Op() {a: 1, a: 2} }", "found attribute 'a' twice"},
        Refused{"graph g() -> () { y = Op() {a: \"b} }", "found the end inside a string"},
        Refused{"graph g() -> () { y = Op() {a: \"\\q\"} }", "found escape"},
        Refused{"graph g() -> () { y = Op() {a: \"\\xg0\"} }", "no two hexadecimal digits"},
        Refused{"graph g() -> () { y: [ = Op() }", ""},
        Refused{"graph g() -> () { @what \"a\" }", "expected 'producer', 'opset', 'model'"}));

TEST(GraphText, DepthIsLimited) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "graph g() -> () { y = Op() {a: ";
  EXPECT_THAT(ParseGraph(text).status().message(), HasSubstr("nested deeper than 32"));
  const std::string type = "graph g(x: " + std::string(100000, '(') + ") -> () {}";
  EXPECT_FALSE(ParseGraph(type).ok());
}

TEST(GraphText, AnyCutOfATextIsRefusedOrSound) {
  Graph graph("g");
  const std::string text = R"(graph g(c: bool[], x: float32[N,2]) -> (y = z) {
  @metadata "k" "v"
  w: float32[2] = [1.5, nan]
  z: float32[N,2], _ = com.x::Op(x, _, w) {name: "n", s: ["a"], t: tensor(int8[2] [1, 2]),
    g: graph b() captures (a = w) -> (a) {}}
})";
  ASSERT_TRUE(ParseGraph(text).ok()) << ParseGraph(text).status().ToString();
  for (size_t i = 0; i < text.size(); ++i) {
    EXPECT_FALSE(ParseGraph(text.substr(0, i)).ok()) << i;
    std::string changed = text;
    for (char c : {'"', '(', '}', '\0', '\xff', '0'}) {
      changed[i] = c;
      const Result<Graph> parsed = ParseGraph(changed);
      if (parsed.ok()) RoundTrip(*parsed);
    }
  }
}

TEST(GraphDot, ShowsNodesEdgesAndClusters) {
  const Graph graph = ParseGraph(R"(graph g(c: bool[], x: float32[2]) -> (y) {
    d: float32[2] = Abs(x) {name: "a\"b"}
    y = If(c) {then_branch: graph t() captures (i = d) -> (o) { o = Neg(i) }}
  })")
                          .value();
  const std::string dot = PrintDot(graph);
  EXPECT_THAT(dot, testing::StartsWith("digraph \"g\" {"));
  EXPECT_THAT(dot, HasSubstr("label=\"Abs\\na\\\"b\""));
  EXPECT_THAT(dot, HasSubstr("v1 -> n0 [label=\"float32[2]\"]"));
  EXPECT_THAT(dot, HasSubstr("subgraph cluster_1 {"));
  EXPECT_THAT(dot, HasSubstr("n0 -> g1_v0 [style=dashed]"));
}

}  // namespace
}  // namespace kheya
