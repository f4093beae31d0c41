#include "formats/testing/model_writer.h"
#include "hostile/hostile_models.h"

namespace kheya::test {
namespace {

constexpr DType kF32 = DType::kFloat32;

std::string Weights(std::string_view name, const std::vector<int64_t>& dims) {
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  std::string raw;
  for (int64_t i = 0; i < count; ++i) raw += std::string_view("\x00\x00\x80\x3e", 4);  // 0.25
  return RawTensorMessage(name, 1, dims, raw);
}

std::string Int64s(std::string_view name, const std::vector<int64_t>& values) {
  const std::string raw(reinterpret_cast<const char*>(values.data()), 8 * values.size());
  return RawTensorMessage(name, 7, {static_cast<int64_t>(values.size())}, raw);
}

std::string ConvNet() {
  return ModelMessage(
      GraphMessage(
          {.nodes = {NodeMessage({.op = "Conv",
                                  .inputs = {"x", "w", "b"},
                                  .outputs = {"c"},
                                  .attributes = {IntsAttribute("kernel_shape", {3, 3}),
                                                 IntsAttribute("pads", {1, 1, 1, 1}),
                                                 IntsAttribute("strides", {2, 2})},
                                  .name = "conv1"}),
                     NodeMessage({.op = "BatchNormalization",
                                  .inputs = {"c", "b", "b", "b", "b"},
                                  .outputs = {"n"}}),
                     NodeMessage({.op = "Relu", .inputs = {"n"}, .outputs = {"r"}}),
                     NodeMessage({.op = "MaxPool",
                                  .inputs = {"r"},
                                  .outputs = {"p"},
                                  .attributes = {IntsAttribute("kernel_shape", {2, 2})}}),
                     NodeMessage({.op = "GlobalAveragePool", .inputs = {"p"}, .outputs = {"g"}}),
                     NodeMessage({.op = "Flatten", .inputs = {"g"}, .outputs = {"f"}}),
                     NodeMessage(
                         {.op = "Gemm",
                          .inputs = {"f", "m"},
                          .outputs = {"y"},
                          .attributes = {FloatAttribute("alpha", 2), IntAttribute("transB", 0)}})},
           .inputs = {ValueMessage("x", kF32, {-1, 3, 8, 8})},
           .outputs = {ValueMessage("y", kF32, {-1, 5})},
           .initializers = {Weights("w", {4, 3, 3, 3}), Weights("b", {4}), Weights("m", {4, 5})}}),
      13);
}

std::string ShapeNet() {
  return ModelMessage(
      GraphMessage(
          {.nodes = {NodeMessage({.op = "Shape", .inputs = {"x"}, .outputs = {"s"}}),
                     NodeMessage({.op = "Gather", .inputs = {"s", "i"}, .outputs = {"d"}}),
                     NodeMessage({.op = "Concat",
                                  .inputs = {"d", "k"},
                                  .outputs = {"t"},
                                  .attributes = {IntAttribute("axis", 0)}}),
                     NodeMessage({.op = "Reshape", .inputs = {"x", "t"}, .outputs = {"r"}}),
                     NodeMessage({.op = "Slice", .inputs = {"r", "i", "k"}, .outputs = {"l"}}),
                     NodeMessage({.op = "Transpose",
                                  .inputs = {"l"},
                                  .outputs = {"u"},
                                  .attributes = {IntsAttribute("perm", {1, 0})}}),
                     NodeMessage({.op = "Softmax", .inputs = {"u"}, .outputs = {"y"}})},
           .inputs = {ValueMessage("x", kF32, {-1, 4})},
           .outputs = {UntypedValueMessage("y")},
           .initializers = {Int64s("i", {0}), Int64s("k", {-1})}}),
      17);
}

std::string OldNet() {
  return ModelMessage(
      GraphMessage({.nodes = {NodeMessage({.op = "Unsqueeze",
                                           .inputs = {"x"},
                                           .outputs = {"a"},
                                           .attributes = {IntsAttribute("axes", {0})}}),
                              NodeMessage({.op = "Clip",
                                           .inputs = {"a"},
                                           .outputs = {"b"},
                                           .attributes = {FloatAttribute("min", 0),
                                                          FloatAttribute("max", 6)}}),
                              NodeMessage({.op = "Upsample",
                                           .inputs = {"b"},
                                           .outputs = {"c"},
                                           .attributes = {FloatsAttribute("scales", {1, 1, 2}),
                                                          StringAttribute("mode", "nearest")}}),
                              NodeMessage({.op = "Softmax", .inputs = {"c"}, .outputs = {"d"}}),
                              NodeMessage({.op = "Split", .inputs = {"d"}, .outputs = {"y", "z"}})},
                    .inputs = {ValueMessage("x", kF32, {4, 4})},
                    .outputs = {UntypedValueMessage("y"), UntypedValueMessage("z")}}),
      7);
}

std::string BranchNet() {
  const std::string then_branch =
      GraphMessage({.nodes = {NodeMessage({.op = "Neg", .inputs = {"x"}, .outputs = {"r"}})},
                    .outputs = {ValueMessage("r", kF32, {2})}});
  const std::string else_branch = GraphMessage(
      {.nodes = {NodeMessage({.op = "Constant",
                              .outputs = {"r"},
                              .attributes = {TensorAttribute("value", Weights("", {2}))}})},
       .outputs = {ValueMessage("r", kF32, {2})}});
  const std::string body =
      FunctionMessage("Twice", {"v"}, {"w"},
                      {NodeMessage({.op = "Add", .inputs = {"v", "v"}, .outputs = {"w"}})}, 18);
  return ModelMessage(
      GraphMessage(
          {.nodes = {NodeMessage({.op = "If",
                                  .inputs = {"c"},
                                  .outputs = {"i"},
                                  .attributes = {GraphAttribute("then_branch", then_branch),
                                                 GraphAttribute("else_branch", else_branch)}}),
                     NodeMessage({.op = "Twice",
                                  .inputs = {"i"},
                                  .outputs = {"y"},
                                  .name = "call",
                                  .domain = "local"})},
           .inputs = {ValueMessage("c", DType::kBool, {}), ValueMessage("x", kF32, {2})},
           .outputs = {ValueMessage("y", kF32, {2})}}),
      21, {body});
}

}  // namespace

std::vector<std::string> SeedModels() { return {ConvNet(), ShapeNet(), OldNet(), BranchNet()}; }

}  // namespace kheya::test
