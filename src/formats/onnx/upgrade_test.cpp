#include "formats/onnx/upgrade.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "graph/text.h"
#include "graph/verify.h"

namespace kheya::onnx {
namespace {

using ::testing::HasSubstr;

// Upgrades one node y = OP(x, z) of `version`; gives the lines of the graph in one string.
std::string UpgradeText(int64_t version, NodeSpec spec, int num_inputs = 1) {
  Graph graph("g");
  const SymbolicShape shape{Dim(2), Dim(3), Dim(4)};
  const ValueId x = graph.AddInput("x", ValueType::OfTensor(DType::kFloat32, shape));
  const ValueId z =
      graph.AddInput("z", ValueType::OfTensor(DType::kFloat32, SymbolicShape{Dim(3)}));
  spec.inputs = num_inputs == 1 ? std::vector<ValueId>{x} : std::vector<ValueId>{x, z};
  if (spec.outputs.empty()) spec.outputs = {"y"};
  Status status = UpgradeNode(graph, version, spec);
  if (!status.ok()) return status.message();
  Result<NodeId> node = graph.AddNode(std::move(spec));
  if (!node.ok()) return node.status().message();
  if (Status verified = Verify(graph); !verified.ok()) return verified.message();
  PrintOptions options;
  options.types = false;
  const std::string text = PrintGraph(graph, options);
  return text.substr(text.find('{') + 1);
}

using Ints = std::vector<int64_t>;

struct UpgradeCase {
  const char* name;
  int64_t version;
  NodeSpec spec;
  std::vector<const char*> expected;  // parts of the text, in any order
  int num_inputs = 1;
};

std::vector<UpgradeCase> Cases() {
  return {
      {"squeeze",
       11,
       {.op = "Squeeze", .attributes = {{"axes", Ints{0, -1}}}},
       {"int64[2] = [0, -1]", "Squeeze(x, ", "axes"}},
      {"squeeze_all", 11, {.op = "Squeeze"}, {"y = Squeeze(x)"}},
      {"squeeze_new", 13, {.op = "Squeeze"}, {"y = Squeeze(x, z)"}, 2},
      {"reduce_sum",
       12,
       {.op = "ReduceSum", .attributes = {{"axes", Ints{1}}}},
       {"int64[1] = [1]", "ReduceSum(x, "}},
      {"reduce_mean",
       17,
       {.op = "ReduceMean", .attributes = {{"axes", Ints{1}}}},
       {"int64[1] = [1]", "ReduceMean(x, "}},
      {"slice",
       9,
       {.op = "Slice", .attributes = {{"starts", Ints{1}}, {"ends", Ints{2}}, {"axes", Ints{0}}}},
       {"[1]", "[2]", "[0]", "Slice(x, "}},
      {"slice_without_ends",
       9,
       {.op = "Slice", .attributes = {{"starts", Ints{1}}}},
       {"found no attributes 'starts' and 'ends'"}},
      {"split",
       11,
       {.op = "Split", .outputs = {"y", "w"}, .attributes = {{"split", Ints{1, 1}}}},
       {"[1, 1]", "y, w = Split(x, "}},
      {"split_evenly",
       13,
       {.op = "Split", .outputs = {"y", "w"}},
       {"y, w = Split(x)", "num_outputs: 2"}},
      {"clip",
       6,
       {.op = "Clip", .attributes = {{"min", 0.0f}, {"max", 6.0f}}},
       {"float32[] = [0.0]", "float32[] = [6.0]", "Clip(x, "}},
      {"clip_above",
       10,
       {.op = "Clip", .attributes = {{"max", 6.0f}}},
       {"float32[] = [6.0]", "Clip(x, _, "}},
      {"pad",
       10,
       {.op = "Pad", .attributes = {{"pads", Ints{0, 1}}, {"value", 2.0f}}},
       {"[0, 1]", "float32[] = [2.0]", "Pad(x, "}},
      {"topk", 9, {.op = "TopK", .attributes = {{"k", int64_t{5}}}}, {"[5]", "TopK(x, "}},
      {"softmax_last",
       12,
       {.op = "Softmax", .attributes = {{"axis", int64_t{2}}}},
       {"y = Softmax(x) {axis: -1}"}},
      {"softmax_default",
       12,
       {.op = "Softmax"},
       {"Flatten(x) {axis: 1}", "Softmax(", "Shape(x)", "Reshape("}},
      {"softmax_new", 13, {.op = "Softmax"}, {"y = Softmax(x)"}},
      {"hardmax", 7, {.op = "Hardmax"}, {"Hardmax(", "Reshape("}},
      {"dropout", 10, {.op = "Dropout", .attributes = {{"ratio", 0.5f}}}, {"y = Dropout(x)"}},
      {"batch_norm",
       7,
       {.op = "BatchNormalization", .attributes = {{"spatial", int64_t{0}}}},
       {"'spatial': found 0, only 1 is supported"}},
      {"group_norm", 18, {.op = "GroupNormalization"}, {"found 2 inputs and 0 groups"}, 2},
      {"resize10",
       10,
       {.op = "Resize", .attributes = {{"mode", std::string("nearest")}}},
       {"Resize(x, _, z)", "asymmetric", "floor"},
       2},
      {"upsample7",
       7,
       {.op = "Upsample",
        .attributes = {{"mode", std::string("linear")}, {"scales", std::vector<float>{1, 2, 2}}}},
       {"float32[3] = [1.0, 2.0, 2.0]", "Resize(x, _, ", "asymmetric"}},
      {"upsample9", 9, {.op = "Upsample"}, {"Resize(x, _, z)"}, 2},
      {"scatter", 10, {.op = "Scatter"}, {"ScatterElements(x, z)"}, 2},
      {"grid_sample",
       16,
       {.op = "GridSample", .attributes = {{"mode", std::string("bilinear")}}},
       {"mode: \"linear\""},
       2},
      {"roi_align", 10, {.op = "RoiAlign"}, {"output_half_pixel"}},
      {"scan8", 8, {.op = "Scan"}, {"kheya::Scan8(x)"}},
      {"broadcast6",
       6,
       {.op = "Add", .attributes = {{"broadcast", int64_t{1}}, {"axis", int64_t{1}}}},
       {"int64[1] = [1]", "Unsqueeze(z, ", "Add(x, "},
       2},
      {"broadcast6_last",
       6,
       {.op = "Add", .attributes = {{"broadcast", int64_t{1}}}},
       {"y = Add(x, z)"},
       2},
      {"broadcast6_wrong",
       6,
       {.op = "Mul", .attributes = {{"axis", int64_t{9}}}},
       {"attribute 'axis': found 9, expected -3 to 2"},
       2},
      {"prelu6", 6, {.op = "PRelu"}, {"int64[1] = [1]", "Unsqueeze(z, ", "PRelu(x, "}, 2},
      {"prelu7", 7, {.op = "PRelu"}, {"y = PRelu(x, z)"}, 2},
      {"wrong_kind", 9, {.op = "TopK", .attributes = {{"k", 1.0f}}}, {"attribute 'k': found kind"}},
      {"cast1",
       5,
       {.op = "Cast", .attributes = {{"to", std::string("float16")}}},
       {"Cast(x) {to: 10}"}},
      {"cast1_wrong",
       1,
       {.op = "Cast", .attributes = {{"to", std::string("HALF")}}},
       {"attribute 'to': found 'HALF', expected the name of an element type"}},
      {"cast1_missing", 1, {.op = "Cast"}, {"found no attribute 'to'"}},
      {"concat1", 3, {.op = "Concat"}, {"Concat(x, z) {axis: 1}"}, 2},
      {"lp_pool1", 1, {.op = "LpPool", .attributes = {{"p", 3.0f}}}, {"LpPool(x) {p: 3}"}},
      {"lp_pool1_part",
       1,
       {.op = "GlobalLpPool", .attributes = {{"p", 2.5f}}},
       {"attribute 'p': found 2.5, only whole numbers"}},
      {"pad1",
       1,
       {.op = "Pad", .attributes = {{"paddings", Ints{0, 1}}, {"value", 2.0f}}},
       {"[0, 1]", "float32[] = [2.0]", "Pad(x, "}},
      {"pad1_missing", 1, {.op = "Pad"}, {"found no attribute 'paddings'"}},
      {"relu1", 1, {.op = "Relu", .attributes = {{"consumed_inputs", Ints{0}}}}, {"y = Relu(x)"}},
      {"reshape1",
       4,
       {.op = "Reshape", .attributes = {{"shape", Ints{0, -1}}, {"consumed_inputs", Ints{0, 0}}}},
       {"int64[2] = [0, -1]", "Reshape(x, "}},
      {"reshape1_missing", 1, {.op = "Reshape"}, {"found no attribute 'shape'"}},
      {"gru1", 1, {.op = "GRU", .attributes = {{"output_sequence", int64_t{1}}}}, {"GRU(x)"}},
      {"selu1", 5, {.op = "Selu"}, {"alpha: 1.6732", "gamma: 1.0507"}},
      {"split1", 1, {.op = "Split"}, {"input 'split' of opset 1 is not supported"}, 2},
      {"split1_evenly", 1, {.op = "Split", .outputs = {"y", "w"}}, {"num_outputs: 2"}},
      {"tile1", 1, {.op = "Tile"}, {"found 1 inputs, expected 3"}},
  };
}

// Tile of opset 1 on x float32[2,3,4], with these constants.
std::string Tile1Text(Tensor tiles, Tensor axis) {
  Graph graph("g");
  const SymbolicShape shape{Dim(2), Dim(3), Dim(4)};
  const ValueId x = graph.AddInput("x", ValueType::OfTensor(DType::kFloat32, shape));
  NodeSpec spec{.op = "Tile",
                .inputs = {x, graph.AddConstant("tiles", std::move(tiles)),
                           graph.AddConstant("axis", std::move(axis))},
                .outputs = {"y"}};
  if (Status status = UpgradeNode(graph, 1, spec); !status.ok()) return status.message();
  const Tensor* repeats = graph.Constant(spec.inputs[1]);
  std::string text;
  for (int64_t repeat : repeats->data<int64_t>()) text += std::to_string(repeat) + " ";
  return text;
}

TEST(Upgrade, TileAlongOneAxis) {
  EXPECT_EQ(Tile1Text(Tensor::Scalar(5.0f), Tensor::Scalar(1.0f)), "1 5 1 ");
  EXPECT_EQ(Tile1Text(Tensor::Scalar(int64_t{5}), Tensor::Scalar(int64_t{-3})), "5 1 1 ");
  EXPECT_THAT(Tile1Text(Tensor::Scalar(5.5f), Tensor::Scalar(1.0f)),
              HasSubstr("input 1: found 5.5, expected a whole number"));
  EXPECT_THAT(Tile1Text(Tensor::Scalar(5.0f), Tensor::Scalar(3.0f)),
              HasSubstr("axis: found 3, expected -3 to 2"));
  EXPECT_THAT(Tile1Text(Tensor::FromValues<float>(Shape{2}, {1.0f, 2.0f}), Tensor::Scalar(3.0f)),
              HasSubstr("input 1: found float32[2], expected one number"));
}

TEST(Upgrade, GroupsAreNormalizedInDoublesWhereTheyAreDoubles) {
  for (DType dtype : {DType::kFloat32, DType::kFloat64}) {
    Graph graph("g");
    const auto input = [&](const char* name, SymbolicShape shape) {
      return graph.AddInput(name, ValueType::OfTensor(dtype, std::move(shape)));
    };
    NodeSpec spec{
        .op = "GroupNormalization",
        .inputs = {input("x", {Dim(2), Dim(4)}), input("s", {Dim(2)}), input("b", {Dim(2)})},
        .outputs = {"y"},
        .attributes = {{"num_groups", int64_t{2}}}};
    ASSERT_TRUE(UpgradeNode(graph, 18, spec).ok());
    const bool said = std::ranges::any_of(spec.attributes, [](const Attribute& attribute) {
      const auto* value = std::get_if<int64_t>(&attribute.value);
      return attribute.name == "stash_type" && value != nullptr &&
             *value == static_cast<int64_t>(DType::kFloat64);
    });
    EXPECT_EQ(said, dtype == DType::kFloat64);
  }
}

TEST(Upgrade, EveryRule) {
  for (const UpgradeCase& each : Cases()) {
    SCOPED_TRACE(each.name);
    const std::string text = UpgradeText(each.version, each.spec, each.num_inputs);
    for (const char* part : each.expected) EXPECT_THAT(text, HasSubstr(part));
  }
}

}  // namespace
}  // namespace kheya::onnx
