// What ExportOnnx writes; the backend cases' round trips are in backend_cases_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "formats/formats.h"
#include "formats/testing/temp_folder.h"
#include "graph/text.h"
#include "ops/infer.h"

namespace kheya {
namespace {

using testing::HasSubstr;
using testing::Not;

Graph Parsed(const char* text) {
  Result<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  if (!graph.ok()) return Graph();
  EXPECT_TRUE(InferTypes(*graph).ok());
  return std::move(graph).value();
}

// The graph after it was written at an opset and read again, or the error of writing it.
Result<Graph> Through(const char* text, int opset = kCanonicalOpset) {
  KHEYA_ASSIGN_OR_RETURN(const std::string bytes, ExportOnnxBytes(Parsed(text), {.opset = opset}));
  KHEYA_ASSIGN_OR_RETURN(Graph again, ImportOnnxBytes(std::as_bytes(std::span(bytes)), nullptr,
                                                      ImportOptions(), nullptr));
  KHEYA_RETURN_IF_ERROR(InferTypes(again));
  again.declared_opsets.clear();
  return again;
}

std::string TextThrough(const char* text, int opset = kCanonicalOpset) {
  const Result<Graph> again = Through(text, opset);
  return again.ok() ? PrintGraph(*again) : "error: " + again.status().message();
}

TEST(ExportOnnx, KeepsNamesOfOutputsThatAreOneValue) {
  const Result<Graph> again = Through(R"(
graph twice(x: float32[2]) -> (a = y, b = y, c = x, k = one) {
  one: float32[1] = [1.0]
  y = Relu(x)
})");
  ASSERT_TRUE(again.ok()) << again.status().message();
  std::vector<std::string> names;
  for (const GraphOutput& output : again->outputs()) names.push_back(output.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b", "c", "k"}));
}

TEST(ExportOnnx, WritesWeightsApartAndAligned) {
  test::TempFolder folder;
  Graph graph("weights");
  const ValueId x = graph.AddInput("x", ValueType::OfTensor(DType::kFloat32, SymbolicShape{300}));
  Result<Tensor> a = Tensor::Zeros(DType::kFloat32, Shape{300});
  Result<Tensor> b = Tensor::Zeros(DType::kFloat32, Shape{300});
  a->mutable_data<float>()[299] = 3;
  b->mutable_data<float>()[0] = 5;
  Result<NodeId> node =
      graph.AddNode({.op = "Sum",
                     .inputs = {x, graph.AddConstant("a", *a), graph.AddConstant("b", *b)},
                     .outputs = {"y"}});
  graph.AddOutput("y", graph.node(*node).outputs[0]);
  ASSERT_TRUE(InferTypes(graph).ok());
  const std::string path = folder.path() + "/w.onnx";
  ASSERT_TRUE(ExportOnnx(graph, path, {.external_data = true}).ok());
  EXPECT_EQ(ReadFile(path + ".data")->size(), 4096 + 1200);
  Result<ImportedModel> again = Import(path, ImportOptions());
  ASSERT_TRUE(again.ok()) << again.status().message();
  ASSERT_TRUE(InferTypes(again->graph).ok());
  again->graph.declared_opsets.clear();
  EXPECT_EQ(PrintGraph(again->graph), PrintGraph(graph));
}

struct OlderCase {
  const char* name;
  int opset;
  const char* text;      // the graph
  const char* expected;  // nullptr: the same graph is read back; "reads: TEXT": one with TEXT;
                         // else what is in the error
};

constexpr OlderCase kOlder[] = {
    {"axes become an attribute", 12,
     "graph g(x: float32[2,3]) -> (y) {\n  y/axes: int64[1] = [1]\n  y = Unsqueeze(x, y/axes)\n}",
     nullptr},
    {"axes of a reduction", 13,
     "graph g(x: float32[2,3]) -> (y) {\n  y/axes: int64[1] = [1]\n"
     "  y = ReduceMax(x, y/axes) {keepdims: 0}\n}",
     nullptr},
    {"computed axes", 12,
     "graph g(x: float32[2,3], axes: int64[1]) -> (y) {\n  y = Unsqueeze(x, axes)\n}",
     "'axes' is computed"},
    {"a reduction over nothing", 12,
     "graph g(x: float32[2,3]) -> (y) {\n  y = ReduceSum(x) {noop_with_empty_axes: 1}\n}",
     "over no axis"},
    {"softmax over the last axis", 11,
     "graph g(x: float32[2,3]) -> (y) {\n  y = Softmax(x) {axis: -1}\n}", nullptr},
    {"softmax over another axis", 11,
     "graph g(x: float32[2,3]) -> (y) {\n  y = Softmax(x) {axis: 0}\n}", "axis 0 is not the last"},
    {"softmax of rows that were made for it", 12,
     "graph g(x: float32[N,3,4]) -> (y) {\n  f = Flatten(x) {axis: 1}\n  r = Softmax(f) {axis: "
     "-1}\n"
     "  s = Shape(x)\n  y = Reshape(r, s) {allowzero: 1}\n}",
     "reads: y/rows: float32[N,12] = Softmax(y/flat)"},
    {"a reshape without a 0", 13,
     "graph g(x: float32[2,3,4]) -> (y) {\n  s: int64[2] = [6, 4]\n"
     "  y = Reshape(x, s) {allowzero: 1}\n}",
     "reads: = Reshape(x, s)\n"},
    {"a reshape with a 0", 13,
     "graph g(x: float32[2,0]) -> (y) {\n  s: int64[2] = [0, 4]\n"
     "  y = Reshape(x, s) {allowzero: 1}\n}",
     "'allowzero'"},
    {"averages without gaps", 13,
     "graph g(x: float32[1,1,4,4]) -> (y) {\n"
     "  y = AveragePool(x) {dilations: [1, 1], kernel_shape: [2, 2]}\n}",
     "reads: AveragePool(x) {kernel_shape: [2, 2]}"},
    {"a node without its input", 11, "graph g() -> (y) {\n  y = Softmax()\n}", "no input 'input'"},
    {"a node of after Swish without its inputs", 11, "graph g() -> (y) {\n  y = SwiGLU()\n}",
     "no input 'A'"},
    {"an attribute of another kind", 11,
     "graph g(x: float32[2]) -> (y) {\n  y = Mod(x, x) {fmod: \"a\"}\n}",
     "found attribute 'fmod' of kind"},
    {"norms without gaps", 13,
     "graph g(x: float32[1,1,4,4]) -> (y) {\n"
     "  y = LpPool(x) {dilations: [1, 1], kernel_shape: [2, 2]}\n}",
     "reads: LpPool(x) {kernel_shape: [2, 2]"},
    {"averages with gaps", 13,
     "graph g(x: float32[1,1,4,4]) -> (y) {\n"
     "  y = AveragePool(x) {dilations: [2, 1], kernel_shape: [2, 2]}\n}",
     "'dilations'"},
    {"split by sizes", 11,
     "graph g(x: float32[4]) -> (y, z) {\n  y/split: int64[2] = [1, 3]\n"
     "  y, z = Split(x, y/split)\n}",
     nullptr},
    {"split in equal parts", 13,
     "graph g(x: float32[4]) -> (y, z) {\n  y, z = Split(x) {num_outputs: 2}\n}", nullptr},
    {"split in unequal parts", 13,
     "graph g(x: float32[5]) -> (y, z) {\n  y, z = Split(x) {num_outputs: 2}\n}",
     "unequal or unknown"},
    {"pads of some axes", 13,
     "graph g(x: float32[2,3]) -> (y) {\n  pads: int64[2] = [1, 2]\n  axes: int64[1] = [-1]\n"
     "  y = Pad(x, pads, _, axes)\n}",
     "reads: int64[4] = [0, 1, 0, 2]"},
    {"dropout's ratio", 11,
     "graph g(x: float32[2]) -> (y) {\n  ratio: float32[] = [0.25]\n  y = Dropout(x, ratio)\n}",
     "reads: Dropout(x)"},
    {"an attribute of later that says what went without saying", 13,
     "graph g(x: float32[2], s: int64[1]) -> (y) {\n  y = Reshape(x, s) {allowzero: 0}\n}",
     "reads: Reshape(x, s)\n"},
    {"an attribute of later that says more", 13,
     "graph g(x: float32[2], s: int64[1]) -> (y) {\n  y = Reshape(x, s) {allowzero: 1}\n}",
     "'allowzero'"},
    {"an operator of later", 13,
     "graph g(x: float32[2], w: float32[1]) -> (y) {\n  y = CumProd(x, w)\n}",
     "has no such operator"},
    {"gelu", 13, "graph g(x: float32[2]) -> (y) {\n  y = Gelu(x)\n}", "reads: Erf("},
    {"gelu by tanh", 13,
     "graph g(x: float32[2]) -> (y) {\n  y = Gelu(x) {approximate: \"tanh\"}\n}", "reads: Tanh("},
    {"layer normalization", 13,
     "graph g(x: float32[2,3], s: float32[3]) -> (y) {\n  y = LayerNormalization(x, s)\n}",
     "reads: ReduceMean("},
    {"RMS normalization where axes are an input", 18,
     "graph g(x: float32[2,3], s: float32[3]) -> (y) {\n  y = RMSNormalization(x, s)\n}",
     "reads: ReduceMean("},
    {"layer normalization and its mean", 13,
     "graph g(x: float32[2,3], s: float32[3]) -> (y, m) {\n"
     "  y, m = LayerNormalization(x, s)\n}",
     "more than one output"},
    {"a type of later", 13, "graph g(x: float32[2]) -> (y) {\n  y = Cast(x) {to: 17}\n}",
     "float8e4m3fn"},
    {"a type of an input of later", 12, "graph g(x: bfloat16[2]) -> (y) {\n  y = Relu(x)\n}",
     "bfloat16[2]"},
    {"scales of channels", 12,
     "graph g(x: float32[2,3], s: float32[3], z: uint8[3]) -> (y) {\n"
     "  y = QuantizeLinear(x, s, z) {axis: 1}\n}",
     "one scale"},
    {"samples of volumes", 16,
     "graph g(x: float32[1,1,2,2,2], grid: float32[1,2,2,2,3]) -> (y) {\n"
     "  y = GridSample(x, grid)\n}",
     "rank 4"},
    {"groups as channels", 20,
     "graph g(x: float32[1,4,2], s: float32[4], b: float32[4]) -> (y) {\n"
     "  y = GroupNormalization(x, s, b) {epsilon: 0.5, num_groups: 2}\n}",
     "reads: InstanceNormalization(y_1, y_number, y_number_1) {epsilon: 0.5}"},
    {"groups of what is normalized in float32", 11,
     "graph g(x: float16[1,4,2], s: float16[4], b: float16[4]) -> (y) {\n"
     "  y = GroupNormalization(x, s, b) {num_groups: 2}\n}",
     "reads: Cast("},
    {"groups in double precision", 17,
     "graph g(x: float64[1,4,2], s: float64[4], b: float64[4]) -> (y) {\n"
     "  y = GroupNormalization(x, s, b) {num_groups: 2}\n}",
     "reads: ReduceMean("},
    {"groups of one dimension", 20,
     "graph g(x: float32[4], s: float32[4], b: float32[4]) -> (y) {\n"
     "  y = GroupNormalization(x, s, b) {num_groups: 2}\n}",
     "needs a known rank"},
    {"too many groups", 20,
     "graph g(x: float32[1,4,2], s: float32[4], b: float32[4]) -> (y) {\n"
     "  y = GroupNormalization(x, s, b) {num_groups: 1099511627776}\n}",
     "expected 1 to 1048576"},
    {"rests of integers", 27, "graph g(x: int32[2], d: int32[1]) -> (y) {\n  y = Mod(x, d)\n}",
     nullptr},
    {"rests of floats that C has", 27,
     "graph g(x: float32[2], d: float32[1]) -> (y) {\n  y = Mod(x, d) {fmod: 1}\n}", nullptr},
    {"rests of floats", 27, "graph g(x: float32[2], d: float32[1]) -> (y) {\n  y = Mod(x, d)\n}",
     "fmod 0"},
    {"SwiGLU", 24, "graph g(a: float32[2], b: float32[2]) -> (y) {\n  y = SwiGLU(a, b)\n}",
     "reads: Swish(a)"},
    {"SwiGLU of before Swish", 13,
     "graph g(a: float32[2], b: float32[2]) -> (y) {\n  y = SwiGLU(a, b) {alpha: 2.0}\n}",
     "reads: Sigmoid("},
    {"space to depth in another order", 27,
     "graph g(x: float32[1,2,2,2]) -> (y) {\n"
     "  y = SpaceToDepth(x) {blocksize: 2, mode: \"CRD\"}\n}",
     "'mode'"},
    {"an operator that nobody knows", 28, "graph g(x: float32[2]) -> (y) {\n  y = Frobnicate(x)\n}",
     "no such operator"},
    {"an operator of Kheya's own", 28,
     "graph g(x: float32[2]) -> (y) {\n  y = kheya::FusedBatchNorm(x, x, x)\n}", "Kheya's own"},
};

TEST(ExportOnnx, WritesOlderOpsets) {
  for (const OlderCase& one : kOlder) {
    SCOPED_TRACE(one.name);
    const std::string found = TextThrough(one.text, one.opset);
    if (one.expected == nullptr) {
      EXPECT_EQ(found, PrintGraph(Parsed(one.text)));
    } else if (std::string_view(one.expected).starts_with("reads: ")) {
      EXPECT_THAT(found, HasSubstr(one.expected + 7));
    } else {
      EXPECT_THAT(found, HasSubstr("error"));
      EXPECT_THAT(found, HasSubstr(one.expected));
    }
  }
}

TEST(ExportOnnx, WritesOrEqualAsTwo) {
  const std::string text = TextThrough(
      "graph g(a: float32[2], b: float32[2]) -> (y) {\n  y = GreaterOrEqual(a, b)\n}", 11);
  EXPECT_THAT(text, HasSubstr("Greater(a, b)"));
  EXPECT_THAT(text, HasSubstr("Equal(a, b)"));
  EXPECT_THAT(text, HasSubstr("Or("));
}

// Elements of the only output, float32, for x = 0, 0.5, 1, ...
std::vector<float> ResultOf(const Graph& graph) {
  Result<Tensor> x = Tensor::Zeros(DType::kFloat32, Shape{2, 4, 3});
  for (size_t i = 0; i < 24; ++i) x->mutable_data<float>()[i] = 0.5f * static_cast<float>(i);
  const Result<std::vector<Value>> outputs =
      Interpret(graph, std::vector<Value>{Value(*x)}, InterpretOptions());
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  if (!outputs.ok()) return {};
  const std::span<const float> data = (*outputs)[0].tensor().data<float>();
  return {data.begin(), data.end()};
}

TEST(ExportOnnx, ExpandsGroupsWithTheSameResult) {
  for (int type : {1, 10, 11}) {  // float32, float16, float64
    SCOPED_TRACE(type);
    const std::string text = fmt::format(
        "graph g(x: float32[2,4,3]) -> (y) {{\n  s: float32[4] = [1, 2, 3, 4]\n"
        "  b: float32[4] = [5, 6, 7, 8]\n  xt = Cast(x) {{to: {0}}}\n  st = Cast(s) {{to: {0}}}\n"
        "  bt = Cast(b) {{to: {0}}}\n  yt = GroupNormalization(xt, st, bt) {{num_groups: 2}}\n"
        "  y = Cast(yt) {{to: 1}}\n}}",
        type);
    const std::vector<float> expected = ResultOf(Parsed(text.c_str()));
    for (int opset : {11, 20}) {
      const Result<Graph> again = Through(text.c_str(), opset);
      ASSERT_TRUE(again.ok()) << again.status().message();
      EXPECT_THAT(PrintGraph(*again), Not(HasSubstr("GroupNormalization")));
      EXPECT_THAT(ResultOf(*again),
                  ::testing::Pointwise(::testing::FloatNear(type == 10 ? 0.02f : 1e-5f), expected));
    }
  }
}

TEST(ExportOnnx, KeepsWhatTheFileSays) {
  Graph graph =
      Parsed("graph g(x: float32[2]) -> (y) {\n  w: float32[2] = [1, 2]\n  y = Add(x, w)\n}");
  graph.default_inputs = {"w"};
  graph.producer = "me 1";
  graph.model_domain = "org.example";
  graph.model_version = 7;
  graph.doc = "of the graph";
  graph.graph_metadata = {{"k", "v"}};
  graph.metadata() = {{"doc_string", "of the model"}, {"l", "w"}};
  Result<std::string> bytes = ExportOnnxBytes(graph, ExportOptions());
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  Result<Graph> read =
      ImportOnnxBytes(std::as_bytes(std::span(*bytes)), nullptr, ImportOptions(), nullptr);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->producer, graph.producer);
  EXPECT_EQ(read->model_domain, graph.model_domain);
  EXPECT_EQ(read->model_version, graph.model_version);
  EXPECT_EQ(read->doc, graph.doc);
  EXPECT_EQ(read->default_inputs, graph.default_inputs);
  EXPECT_EQ(read->graph_metadata, graph.graph_metadata);
  EXPECT_THAT(read->metadata(), ::testing::UnorderedElementsAreArray(graph.metadata()));
}

std::string TextOf(const Notes& notes) {
  std::string text;
  const auto add = [&](const auto& some) {
    for (const auto& [key, note] : some) {
      text += fmt::format("{} '{}'", key, note.doc);
      for (const auto& [name, value] : note.metadata) text += fmt::format(" {}={}", name, value);
      text += '\n';
    }
  };
  add(notes.nodes);
  add(notes.inputs);
  add(notes.outputs);
  for (const auto& constant : notes.constants)
    add(std::map{std::pair("constant", constant.second)});
  return text;
}

TEST(ExportOnnx, KeepsNotesWhereAsked) {
  Graph graph = Parsed(
      "graph g(x: float32[2], c: bool[]) -> (y, z = w) {\n  w: float32[2] = [1, 2]\n"
      "  v: float32[2] = [3, 4]\n  a = Add(x, w)\n  b = Add(a, v)\n"
      "  y = If(c) {then_branch: graph t() captures (i = b) -> (o) { o = Neg(i) },\n"
      "    else_branch: graph e() captures (i = b) -> (o) { o = Abs(i) }}\n}");
  const auto set_all = [](Graph& one, const std::string& where) {
    const auto note = [&](const char* what) {
      return Note{"doc " + where + what, {{"k", where + what}, {"", ""}}};
    };
    one.notes.nodes[one.NodeIds()[0].index] = note("node");
    one.notes.outputs[one.outputs()[0].name] = note("output");
  };
  graph.default_inputs = {"v"};
  graph.notes.inputs = {{"x", {"doc", {}}}, {"v", {"of a default", {{"k", "v"}}}}};
  graph.notes.constants[graph.FindValue("w")->index] = {"", {{"of", "w"}}};
  set_all(graph, "outer ");
  const NodeId branch = graph.NodeIds()[2];
  set_all(*graph.Subgraphs(branch)[0], "inner ");
  graph.Subgraphs(branch)[0]->doc = "of the branch";
  const Result<std::string> bytes = ExportOnnxBytes(graph, ExportOptions());
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  for (bool keep : {true, false}) {
    const Result<Graph> read =
        ImportOnnxBytes(std::as_bytes(std::span(*bytes)), nullptr, {.keep_notes = keep}, nullptr);
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(TextOf(read->notes), keep ? TextOf(graph.notes) : "");
    EXPECT_EQ(TextOf(read->Subgraphs(branch)[0]->notes),
              keep ? TextOf(graph.Subgraphs(branch)[0]->notes) : "");
    EXPECT_EQ(read->Subgraphs(branch)[0]->doc, keep ? "of the branch" : "");
  }
}

TEST(ExportOnnx, NamesEveryNodeOnce) {
  const std::string text = TextThrough(
      "graph g(x: float32[2]) -> (y) {\n  a = Relu(x) {name: \"call\"}\n"
      "  b = Relu(a) {name: \"call_1\"}\n  c = Relu(b) {name: \"call\"}\n"
      "  y = Relu(c) {name: \"call\"}\n}");
  for (const char* name : {"\"call\"", "\"call_1\"", "\"call_2\"", "\"call_3\""}) {
    EXPECT_THAT(text, HasSubstr(name));
  }
}

TEST(ExportOnnx, RefusesOpsetsItCannotWrite) {
  for (int opset : {0, 10, 29}) {
    EXPECT_THAT(TextThrough("graph g(x: float32[2]) -> (y) {\n  y = Relu(x)\n}", opset),
                HasSubstr("expected 11 to 28"));
  }
}

}  // namespace
}  // namespace kheya
