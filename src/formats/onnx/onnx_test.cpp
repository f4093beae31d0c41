#include "formats/onnx/onnx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "base/string_util.h"
#include "formats/testing/model_writer.h"
#include "formats/testing/temp_folder.h"
#include "graph/text.h"
#include "graph/verify.h"

namespace kheya::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr DType kF32 = DType::kFloat32;

class OnnxTest : public ::testing::Test {
 protected:
  Result<Graph> Load(std::string_view model, const ImportOptions& options = ImportOptions()) {
    warnings_.clear();
    KHEYA_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(folder_.Write("m.onnx", model)));
    KHEYA_ASSIGN_OR_RETURN(Graph graph, ImportOnnx(file, options, &warnings_));
    KHEYA_RETURN_IF_ERROR(Verify(graph).WithContext("verify"));
    return graph;
  }

  // The graph's lines, without types, or the error.
  std::vector<std::string> LoadText(const GraphText& graph, int64_t opset = 26,
                                    const std::vector<std::string>& functions = {}) {
    Result<Graph> loaded = Load(ModelMessage(GraphMessage(graph), opset, functions));
    if (!loaded.ok()) return {loaded.status().message()};
    PrintOptions options;
    options.types = false;
    const std::string text = PrintGraph(*loaded, options);
    std::vector<std::string> lines;
    for (std::string_view line : Split(text, '\n')) {
      if (!Trim(line).empty() && line.find('@') == line.npos) lines.emplace_back(Trim(line));
    }
    return lines;
  }

  std::string Error(const GraphText& graph, int64_t opset = 26) {
    return Load(ModelMessage(GraphMessage(graph), opset)).status().message();
  }

  TempFolder folder_;
  std::vector<std::string> warnings_;
};

std::string Floats(const std::vector<float>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}

std::string X() { return ValueMessage("x", kF32, {2, 3}); }
std::string Y() { return ValueMessage("y", kF32, {}); }
std::string Relu(const std::string& in, const std::string& out) {
  return NodeMessage({.op = "Relu", .inputs = {in}, .outputs = {out}, .name = "n" + out});
}

TEST_F(OnnxTest, BorrowsWeightsFromTheFile) {
  Result<Graph> graph = Load(ModelMessage(
      GraphMessage({.nodes = {NodeMessage({.op = "Add", .inputs = {"x", "w"}, .outputs = {"y"}})},
                    .inputs = {X(), ValueMessage("w", kF32, {3})},
                    .outputs = {Y()},
                    .initializers = {RawTensorMessage("w", 1, {3}, Floats({1, 2, 3}))}}),
      26));
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_EQ(graph->inputs().size(), 1u);  // w is a constant
  const Tensor* w = graph->Constant(*graph->FindValue("w"));
  ASSERT_NE(w, nullptr);
  EXPECT_EQ(w->At<float>(2), 3.0f);
  EXPECT_THAT(warnings_, ::testing::IsEmpty());
}

TEST_F(OnnxTest, KeepsInitializersAsInputsWhenAsked) {
  const std::string model = ModelMessage(
      GraphMessage({.nodes = {NodeMessage({.op = "Add", .inputs = {"x", "w"}, .outputs = {"y"}})},
                    .inputs = {X(), ValueMessage("w", kF32, {3})},
                    .outputs = {Y()},
                    .initializers = {RawTensorMessage("w", 1, {3}, Floats({1, 2, 3}))}}),
      26);
  ImportOptions by_name;
  by_name.overridden = {"w", "v"};
  Result<Graph> again = Load(model, by_name);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(again->inputs().size(), 2u);
  by_name.overridden = {"v"};
  Result<Graph> constant = Load(model, by_name);
  ASSERT_TRUE(constant.ok()) << constant.status().message();
  EXPECT_EQ(constant->inputs().size(), 1u);
  EXPECT_THAT(constant->default_inputs, ElementsAre("w"));
}

TEST_F(OnnxTest, RestoresTheOrderOfNodes) {
  EXPECT_THAT(LoadText({.nodes = {Relu("b", "y"), Relu("a", "b"), Relu("x", "a")},
                        .inputs = {X()},
                        .outputs = {Y()}}),
              ElementsAre(HasSubstr("graph"), HasSubstr("a = Relu(x)"), HasSubstr("b = Relu(a)"),
                          HasSubstr("y = Relu(b)"), "}"));
}

TEST_F(OnnxTest, RefusesBrokenGraphs) {
  EXPECT_THAT(Error({.nodes = {Relu("b", "a"), Relu("a", "b")}, .inputs = {X()}}),
              HasSubstr("node 'na' (Relu): is on a cycle"));
  EXPECT_THAT(Error({.nodes = {Relu("q", "y")}, .inputs = {X()}, .outputs = {Y()}}),
              HasSubstr("m.onnx': node 'ny' (Relu): 'q' is made by no node"));
  EXPECT_THAT(Error({.nodes = {Relu("x", "a")}, .inputs = {X()}, .outputs = {Y()}}),
              HasSubstr("output: 'y' is made by no node"));
  EXPECT_THAT(Error({.nodes = {Relu("x", "y"), Relu("x", "y")}, .inputs = {X()}}),
              HasSubstr("output 'y' is already made by node 'ny' (Relu)"));
  EXPECT_THAT(Error({.nodes = {Relu("x", "x")}, .inputs = {X()}}), HasSubstr("on a cycle"));
  EXPECT_THAT(Error({.nodes = {Relu("w", "x")}, .inputs = {X(), ValueMessage("w", kF32, {})}}),
              HasSubstr("output 'x' is an input or initializer too"));
  EXPECT_THAT(Error({.inputs = {X(), X()}}), HasSubstr("input 'x' is declared twice"));
}

TEST_F(OnnxTest, ForgivesOddFiles) {
  const std::string w = RawTensorMessage("w", 1, {1}, Floats({1}));
  const std::string other = RawTensorMessage("w", 1, {1}, Floats({2}));
  Result<Graph> graph = Load(ModelMessage(
      GraphMessage(
          {.nodes = {NodeMessage({.op = "Clip", .inputs = {"x", "", "w"}, .outputs = {"y"}})},
           .inputs = {X()},
           .outputs = {Y()},
           .initializers = {w, other, RawTensorMessage("unused", 1, {9}, "short")}}),
      0));
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->Constant(*graph->FindValue("w"))->At<float>(0), 2.0f);
  EXPECT_THAT(warnings_,
              ElementsAre(HasSubstr("opset 18 is assumed"), HasSubstr("'w' is there twice"),
                          HasSubstr("1 initializers are not used, 'unused' among them")));
}

TEST_F(OnnxTest, TakesAnOutputThatIsListedTwice) {
  Result<Graph> graph = Load(ModelMessage(
      GraphMessage({.nodes = {Relu("x", "y")}, .inputs = {X()}, .outputs = {Y(), Y()}}), 21));
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_EQ(graph->outputs().size(), 2u);
  EXPECT_EQ(graph->outputs()[0].value, graph->outputs()[1].value);
  EXPECT_EQ(graph->outputs()[0].name, "y");
  EXPECT_EQ(graph->outputs()[1].name, "y_2");
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("output 'y' is there again: it is called 'y_2'")));
}

TEST_F(OnnxTest, ChecksTensorData) {
  auto error = [&](const std::string& tensor) {
    return Error({.nodes = {Relu("w", "y")}, .outputs = {Y()}, .initializers = {tensor}});
  };
  EXPECT_THAT(error(RawTensorMessage("w", 1, {4}, "123456789012")),
              HasSubstr("tensor 'w': found 12 bytes of data, expected 16 for float32[4]"));
  EXPECT_THAT(error(RawTensorMessage("w", 1, {-1}, "")), HasSubstr("tensor 'w'"));
  EXPECT_THAT(error(RawTensorMessage("w", 1, {int64_t{1} << 62, 64}, "")), HasSubstr("tensor 'w'"));
  EXPECT_THAT(error(RawTensorMessage("w", 1, {int64_t{1} << 60}, "")), HasSubstr("tensor 'w'"));
  EXPECT_THAT(error(RawTensorMessage("w", 99, {1}, "1234")), HasSubstr("element type 99"));
  EXPECT_THAT(error(RawTensorMessage("w", 8, {1}, "1234")), HasSubstr("expected string_data"));
}

TEST_F(OnnxTest, ReadsExternalData) {
  folder_.Write("weights.bin", std::string(4, '\0') + Floats({5, 6}));
  std::filesystem::create_symlink("/etc/hostname", folder_.path() + "/link");
  auto load = [&](const std::vector<std::pair<std::string, std::string>>& entries) {
    return Load(ModelMessage(
        GraphMessage({.nodes = {Relu("w", "y")},
                      .outputs = {Y()},
                      .initializers = {ExternalTensorMessage("w", kF32, {2}, entries)}}),
        26));
  };
  Result<Graph> graph = load({{"location", "weights.bin"}, {"offset", "4"}, {"length", "8"}});
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->Constant(*graph->FindValue("w"))->At<float>(1), 6.0f);

  auto error = [&](const std::vector<std::pair<std::string, std::string>>& entries) {
    return load(entries).status().message();
  };
  EXPECT_THAT(error({{"location", "../m.onnx"}}), HasSubstr("leaves the folder"));
  EXPECT_THAT(error({{"location", "/etc/hostname"}}), HasSubstr("expected a relative path"));
  EXPECT_THAT(error({{"location", "link"}}), HasSubstr("leaves the folder"));
  EXPECT_THAT(error({{"location", "nothing.bin"}}), HasSubstr("nothing.bin"));
  EXPECT_THAT(error({{"offset", "4"}}), HasSubstr("has no location"));
  EXPECT_THAT(error({{"location", "weights.bin"}, {"offset", "8"}}), HasSubstr("is cut off"));
  EXPECT_THAT(error({{"location", "weights.bin"}, {"offset", "18446744073709551615"}}),
              HasSubstr("is cut off"));
  EXPECT_THAT(error({{"location", "weights.bin"}, {"offset", "-1"}}), HasSubstr("offset"));
  EXPECT_THAT(error({{"location", "weights.bin"}, {"length", "4"}}),
              HasSubstr("found 4 bytes of data, expected 8"));
}

TEST_F(OnnxTest, SubgraphsCaptureAndMayReuseNames) {
  // Both branches call their result "r", and the inner one reaches over two levels.
  auto branch = [](const std::string& op) {
    return GraphMessage({.nodes = {NodeMessage({.op = op, .inputs = {"a"}, .outputs = {"r"}})},
                         .outputs = {ValueMessage("r", kF32, {2, 3})}});
  };
  auto conditional = [&](const std::string& result, const std::string& then_branch) {
    return NodeMessage({.op = "If",
                        .inputs = {"c"},
                        .outputs = {result},
                        .attributes = {GraphAttribute("then_branch", then_branch),
                                       GraphAttribute("else_branch", branch("Abs"))}});
  };
  const std::string nested = GraphMessage(
      {.nodes = {conditional("r", branch("Relu"))}, .outputs = {ValueMessage("r", kF32, {2, 3})}});
  // The file lists the user of "a" first: captures count for the order.
  const GraphText graph{.nodes = {conditional("y", nested), Relu("x", "a")},
                        .inputs = {X(), ValueMessage("c", DType::kBool, {})},
                        .outputs = {Y()}};
  Result<Graph> loaded = Load(ModelMessage(GraphMessage(graph), 26));
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  const std::vector<NodeId> ids = loaded->NodeIds();
  ASSERT_EQ(ids.size(), 2u);
  EXPECT_EQ(loaded->node(ids[0]).op, "Relu");
  const Graph* then_graph = std::as_const(*loaded).Subgraphs(ids[1])[0];
  EXPECT_EQ(then_graph->captures().size(), 2u);  // c and a
}

TEST_F(OnnxTest, ConstantNodesBecomeConstants) {
  EXPECT_THAT(
      LoadText({.nodes = {NodeMessage({.op = "Constant",
                                       .outputs = {"k"},
                                       .attributes = {FloatsAttribute("value_floats", {1, 2, 3})}}),
                          NodeMessage({.op = "Add", .inputs = {"x", "k"}, .outputs = {"y"}})},
                .inputs = {X()},
                .outputs = {Y()}}),
      ElementsAre(HasSubstr("graph"), HasSubstr("k: float32[3] = [1.0, 2.0, 3.0]"),
                  HasSubstr("y = Add(x, k)"), "}"));
}

TEST_F(OnnxTest, MakesSparseTensorsDense) {
  auto load = [&](const std::vector<int64_t>& index_dims, const std::vector<int64_t>& indices) {
    const std::string raw(reinterpret_cast<const char*>(indices.data()), 8 * indices.size());
    ProtobufWriter sparse;
    sparse.Bytes(1, RawTensorMessage("w", 1, {2}, Floats({5, 6})));
    sparse.Bytes(2, RawTensorMessage("", 7, index_dims, raw));
    sparse.Int64(3, 2);
    sparse.Int64(3, 3);
    ProtobufWriter graph;
    graph.Bytes(1, Relu("w", "y"));
    graph.Bytes(12, Y());
    graph.Message(15, sparse);
    return Load(ModelMessage(graph.bytes(), 26));
  };
  const Tensor expected = Tensor::FromValues<float>(Shape{2, 3}, {0, 5, 0, 0, 0, 6});
  for (const auto& [dims, indices] :
       {std::pair<std::vector<int64_t>, std::vector<int64_t>>{{2}, {1, 5}},
        std::pair<std::vector<int64_t>, std::vector<int64_t>>{{2, 2}, {0, 1, 1, 2}}}) {
    Result<Graph> graph = load(dims, indices);
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    EXPECT_TRUE(BitwiseEqual(*graph->Constant(*graph->FindValue("w")), expected));
  }
  EXPECT_THAT(load({2}, {1, 6}).status().message(), HasSubstr("found sparse index 6"));
  EXPECT_THAT(load({2, 2}, {0, 1, -1, 2}).status().message(), HasSubstr("found sparse index -1"));
  EXPECT_THAT(load({3}, {0, 1, 2}).status().message(), HasSubstr("found values float32[2]"));
}

TEST_F(OnnxTest, InlinesFunctions) {
  const std::string leaky =
      FunctionMessage("Leaky", {"in", "unused"}, {"out"},
                      {NodeMessage({.op = "LeakyRelu",
                                    .inputs = {"in"},
                                    .outputs = {"t"},
                                    .attributes = {ReferenceAttribute("alpha", "slope", 1)}}),
                       NodeMessage({.op = "Neg", .inputs = {"t"}, .outputs = {"out"}})},
                      18);
  auto call = [](const std::string& in, const std::string& out,
                 std::vector<std::string> attributes) {
    return NodeMessage({.op = "Leaky",
                        .inputs = {in},
                        .outputs = {out},
                        .attributes = std::move(attributes),
                        .name = "call_" + out,
                        .domain = "local"});
  };
  EXPECT_THAT(
      LoadText({.nodes = {call("x", "a", {FloatAttribute("slope", 0.5f)}), call("a", "y", {})},
                .inputs = {X()},
                .outputs = {Y()}},
               26, {leaky}),
      ElementsAre(HasSubstr("graph"), HasSubstr("LeakyRelu(x) {name: \"call_a\", alpha: 0.5"),
                  HasSubstr("a = Neg("), HasSubstr("LeakyRelu(a)"), HasSubstr("y = Neg("), "}"));
}

TEST_F(OnnxTest, RefusesFunctionsThatCallThemselves) {
  auto caller = [](const std::string& name, const std::string& callee) {
    return FunctionMessage(
        name, {"in"}, {"out"},
        {NodeMessage({.op = callee, .inputs = {"in"}, .outputs = {"out"}, .domain = "local"})}, 18);
  };
  const std::string model = ModelMessage(
      GraphMessage({.nodes = {NodeMessage(
                        {.op = "F", .inputs = {"x"}, .outputs = {"y"}, .domain = "local"})},
                    .inputs = {X()},
                    .outputs = {Y()}}),
      26, {caller("F", "G"), caller("G", "F")});
  EXPECT_THAT(Load(model).status().message(), HasSubstr("function 'F' calls itself"));
}

TEST_F(OnnxTest, BoundsTheGrowthOfFunctions) {
  // Each function calls the next one ten times: 10^15 nodes.
  std::vector<std::string> functions;
  for (int level = 0; level < 15; ++level) {
    std::vector<std::string> nodes;
    std::string in = "in";
    for (int i = 0; i < 10; ++i) {
      const std::string out = i == 9 ? "out" : "t" + std::to_string(i);
      nodes.push_back(NodeMessage({.op = level == 14 ? "Relu" : "F" + std::to_string(level + 1),
                                   .inputs = {in},
                                   .outputs = {out},
                                   .domain = level == 14 ? "" : "local"}));
      in = out;
    }
    functions.push_back(FunctionMessage("F" + std::to_string(level), {"in"}, {"out"}, nodes, 18));
  }
  const std::string model = ModelMessage(
      GraphMessage({.nodes = {NodeMessage(
                        {.op = "F0", .inputs = {"x"}, .outputs = {"y"}, .domain = "local"})},
                    .inputs = {X()},
                    .outputs = {Y()}}),
      26, functions);
  EXPECT_EQ(Load(model).status().code(), StatusCode::kResourceExhausted);
}

TEST_F(OnnxTest, RefusesUnknownVersions) {
  EXPECT_THAT(Error({.inputs = {X()}}, 29), HasSubstr("opset 29 is not supported"));
  EXPECT_EQ(Error({.nodes = {Relu("x", "y")}, .inputs = {X()}, .outputs = {Y()}}, 1), "");
}

TEST_F(OnnxTest, KeepsUnknownOperators) {
  EXPECT_THAT(
      LoadText({.nodes = {NodeMessage(
                    {.op = "Foo", .inputs = {"x"}, .outputs = {"y"}, .domain = "com.example"})},
                .inputs = {X()},
                .outputs = {Y()}}),
      ::testing::Contains(HasSubstr("com.example::Foo")));
}

TEST_F(OnnxTest, RefusesWrongAttributes) {
  auto error = [&](const std::string& attribute) {
    return Error({.nodes = {NodeMessage({.op = "Foo",
                                         .inputs = {"x"},
                                         .outputs = {"y"},
                                         .attributes = {attribute},
                                         .name = "f"})},
                  .inputs = {X()},
                  .outputs = {Y()}});
  };
  EXPECT_THAT(error(ReferenceAttribute("a", "b", 1)),
              HasSubstr("node 'f' (Foo): attribute 'a': refers to attribute 'b' outside"));
  EXPECT_THAT(error(ReferenceAttribute("a", "", 4)), HasSubstr("found 0 tensors, expected 1"));
  EXPECT_THAT(error(ReferenceAttribute("a", "", 77)), HasSubstr("type 77"));
}

TEST_F(OnnxTest, RefusesWhatIsNotAModel) {
  EXPECT_THAT(Load("").status().message(), HasSubstr("found no graph"));
  EXPECT_THAT(Load("\x3a\x05x").status().message(), HasSubstr("is cut off"));
}

}  // namespace
}  // namespace kheya::test
