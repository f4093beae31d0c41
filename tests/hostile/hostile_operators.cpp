#include "formats/testing/model_writer.h"
#include "hostile/hostile_models.h"

namespace kheya::test {
namespace {

constexpr DType kF32 = DType::kFloat32;
using Strings = std::vector<std::string>;
using Ints = std::vector<int64_t>;

std::string Int64s(std::string_view name, const Ints& values) {
  const std::string raw(reinterpret_cast<const char*>(values.data()), 8 * values.size());
  return RawTensorMessage(name, 7, {static_cast<int64_t>(values.size())}, raw);
}

std::string Int64(std::string_view name, int64_t value) {
  return RawTensorMessage(name, 7, {}, {reinterpret_cast<const char*>(&value), 8});
}

std::string Float32s(std::string_view name, const std::vector<float>& values) {
  const std::string raw(reinterpret_cast<const char*>(values.data()), 4 * values.size());
  return RawTensorMessage(name, 1, {static_cast<int64_t>(values.size())}, raw);
}

// y = OP(x, k0, k1, ...): x float32[2,3,4,4], the others constants.
struct Call {
  std::string name;
  std::string op;
  Strings constants = {};  // TensorProto messages named k0, k1, ...
  Strings attributes = {};
  bool uses_x = true;
};

std::string Model(const Call& call) {
  Strings inputs;
  if (call.uses_x) inputs.push_back("x");
  for (size_t i = 0; i < call.constants.size(); ++i) inputs.push_back("k" + std::to_string(i));
  return ModelMessage(GraphMessage({.nodes = {NodeMessage({.op = call.op,
                                                           .inputs = inputs,
                                                           .outputs = {"y"},
                                                           .attributes = call.attributes,
                                                           .name = "node"})},
                                    .inputs = {ValueMessage("x", kF32, {2, 3, 4, 4})},
                                    .outputs = {UntypedValueMessage("y")},
                                    .initializers = call.constants}),
                      21);
}

// Constants that grow: nothing here has an input that is not constant.
std::vector<Call> GrowingCalls() {
  const std::string one = Float32s("k0", {1});
  return {
      {"constant_of_shape", "ConstantOfShape", {Int64s("k0", {1'000'000'000})}, {}, false},
      {"constant_of_shape_cube",
       "ConstantOfShape",
       {Int64s("k0", {100000, 100000, 100000})},
       {},
       false},
      {"constant_of_shape_overflow",
       "ConstantOfShape",
       {Int64s("k0", {INT64_MAX, INT64_MAX})},
       {},
       false},
      {"constant_of_shape_negative", "ConstantOfShape", {Int64s("k0", {-1})}, {}, false},
      {"expand", "Expand", {one, Int64s("k1", {1'000'000'000})}, {}, false},
      {"expand_overflow", "Expand", {one, Int64s("k1", {INT64_MAX, 3})}, {}, false},
      {"expand_negative", "Expand", {one, Int64s("k1", {-4})}, {}, false},
      {"tile", "Tile", {one, Int64s("k1", {1'000'000'000})}, {}, false},
      {"tile_negative", "Tile", {one, Int64s("k1", {-1})}, {}, false},
      {"tile_overflow", "Tile", {Float32s("k0", {1, 2}), Int64s("k1", {INT64_MAX})}, {}, false},
      {"range", "Range", {Int64("k0", 0), Int64("k1", INT64_MAX), Int64("k2", 1)}, {}, false},
      {"range_step_zero", "Range", {Int64("k0", 0), Int64("k1", 9), Int64("k2", 0)}, {}, false},
      {"range_extremes",
       "Range",
       {Int64("k0", INT64_MIN), Int64("k1", INT64_MAX), Int64("k2", 1)},
       {},
       false},
      {"range_back",
       "Range",
       {Int64("k0", INT64_MAX), Int64("k1", INT64_MIN), Int64("k2", INT64_MIN)},
       {},
       false},
      {"pad", "Pad", {one, Int64s("k1", {1'000'000'000'000, 0})}, {}, false},
      {"pad_overflow", "Pad", {one, Int64s("k1", {INT64_MAX, INT64_MAX})}, {}, false},
      {"pad_negative", "Pad", {one, Int64s("k1", {-5, -5})}, {}, false},
      {"one_hot",
       "OneHot",
       {Int64s("k0", {0}), Int64("k1", 1'000'000'000'000), Float32s("k2", {0, 1})},
       {},
       false},
      {"one_hot_negative",
       "OneHot",
       {Int64s("k0", {0}), Int64("k1", -1), Float32s("k2", {0, 1})},
       {},
       false},
      {"resize", "Resize", {one, Float32s("k1", {}), Float32s("k2", {1e9f})}, {}, false},
      {"resize_nan",
       "Resize",
       {one, Float32s("k1", {}), Float32s("k2", {0.0f / 0.0f * -1})},
       {},
       false},
      {"resize_infinite",
       "Resize",
       {one, Float32s("k1", {}), Float32s("k2", {1e38f * 10})},
       {},
       false},
      {"resize_negative", "Resize", {one, Float32s("k1", {}), Float32s("k2", {-2})}, {}, false},
  };
}

// Constants with indices and values at the edge of what is defined.
std::vector<Call> EdgeCalls() {
  const std::string one = Float32s("k0", {1});
  return {
      {"gather_beyond", "Gather", {one, Int64s("k1", {5})}, {}, false},
      {"gather_before", "Gather", {one, Int64s("k1", {INT64_MIN})}, {}, false},
      {"gather_nd", "GatherND", {one, Int64s("k1", {7})}, {}, false},
      {"scatter_nd", "ScatterND", {one, Int64s("k1", {7}), Float32s("k2", {1})}, {}, false},
      {"scatter_elements", "ScatterElements", {one, Int64s("k1", {-9}), one}, {}, false},
      {"top_k", "TopK", {one, Int64s("k1", {INT64_MAX})}, {}, false},
      {"top_k_negative", "TopK", {one, Int64s("k1", {-1})}, {}, false},
      {"division_by_zero", "Div", {Int64s("k0", {1}), Int64s("k1", {0})}, {}, false},
      {"division_overflow", "Div", {Int64s("k0", {INT64_MIN}), Int64s("k1", {-1})}, {}, false},
      {"mod_by_zero", "Mod", {Int64s("k0", {1}), Int64s("k1", {0})}, {}, false},
      {"mod_overflow", "Mod", {Int64s("k0", {INT64_MIN}), Int64s("k1", {-1})}, {}, false},
      {"abs_overflow", "Abs", {Int64s("k0", {INT64_MIN})}, {}, false},
      {"neg_overflow", "Neg", {Int64s("k0", {INT64_MIN})}, {}, false},
      {"add_overflow", "Add", {Int64s("k0", {INT64_MAX}), Int64s("k1", {INT64_MAX})}, {}, false},
      {"mul_overflow", "Mul", {Int64s("k0", {INT64_MAX}), Int64s("k1", {INT64_MAX})}, {}, false},
      {"reduce_sum_overflow", "ReduceSum", {Int64s("k0", {INT64_MAX, INT64_MAX})}, {}, false},
      {"cum_sum_overflow",
       "CumSum",
       {Int64s("k0", {INT64_MAX, INT64_MAX}), Int64("k1", 0)},
       {},
       false},
      {"cast_nan",
       "Cast",
       {Float32s("k0", {0.0f / 0.0f * -1, 1e30f, -1e30f})},
       {IntAttribute("to", 7)},
       false},
      {"cast_nowhere", "Cast", {one}, {IntAttribute("to", 99)}, false},
      {"eye_like", "EyeLike", {one}, {IntAttribute("k", INT64_MIN)}, false},
      {"shift",
       "BitShift",
       {Int64s("k0", {1}), Int64s("k1", {700})},
       {StringAttribute("direction", "LEFT")},
       false},
  };
}

std::vector<Call> ShapeCalls() {
  return {
      {"reshape_two_unknown", "Reshape", {Int64s("k0", {-1, -1})}},
      {"reshape_overflow", "Reshape", {Int64s("k0", {INT64_MAX, INT64_MAX, -1})}},
      {"reshape_negative", "Reshape", {Int64s("k0", {-7})}},
      {"reshape_zero_and_unknown",
       "Reshape",
       {Int64s("k0", {0, -1, 0})},
       {IntAttribute("allowzero", 1)}},
      {"reshape_beyond", "Reshape", {Int64s("k0", {0, 0, 0, 0, 0, 0})}},
      {"reshape_long", "Reshape", {Int64s("k0", Ints(2000, 1))}},
      {"reshape_to_floats", "Reshape", {Float32s("k0", {1, 2})}},
      {"transpose_twice", "Transpose", {}, {IntsAttribute("perm", {0, 0, 1, 2})}},
      {"transpose_beyond", "Transpose", {}, {IntsAttribute("perm", {9, 8, 7, 6})}},
      {"transpose_negative", "Transpose", {}, {IntsAttribute("perm", {-1, -2, -3, -4})}},
      {"transpose_short", "Transpose", {}, {IntsAttribute("perm", {0})}},
      {"concat_axis", "Concat", {}, {IntAttribute("axis", 99)}},
      {"concat_axis_min", "Concat", {}, {IntAttribute("axis", INT64_MIN)}},
      {"concat_without_axis", "Concat"},
      {"split_negative", "Split", {Int64s("k0", {-2, 4})}, {IntAttribute("axis", 0)}},
      {"split_sum", "Split", {Int64s("k0", {1})}, {IntAttribute("axis", 0)}},
      {"split_parts", "Split", {}, {IntAttribute("num_outputs", INT64_MAX)}},
      {"split_no_parts", "Split", {}, {IntAttribute("num_outputs", 0)}},
      {"slice_extremes",
       "Slice",
       {Int64s("k0", {INT64_MIN}), Int64s("k1", {INT64_MAX}), Int64s("k2", {0}),
        Int64s("k3", {INT64_MIN})}},
      {"slice_step_zero",
       "Slice",
       {Int64s("k0", {0}), Int64s("k1", {1}), Int64s("k2", {0}), Int64s("k3", {0})}},
      {"slice_axes_twice",
       "Slice",
       {Int64s("k0", {0, 0}), Int64s("k1", {1, 1}), Int64s("k2", {0, 0})}},
      {"slice_axis_beyond", "Slice", {Int64s("k0", {0}), Int64s("k1", {1}), Int64s("k2", {9})}},
      {"slice_lengths", "Slice", {Int64s("k0", {0, 1, 2}), Int64s("k1", {1})}},
      {"slice_of_floats", "Slice", {Float32s("k0", {0}), Float32s("k1", {1})}},
      {"squeeze_beyond", "Squeeze", {Int64s("k0", {99})}},
      {"squeeze_wide", "Squeeze", {Int64s("k0", {1})}},
      {"unsqueeze_twice", "Unsqueeze", {Int64s("k0", {0, 0})}},
      {"unsqueeze_many",
       "Unsqueeze",
       {Int64s("k0", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13})}},
      {"unsqueeze_min", "Unsqueeze", {Int64s("k0", {INT64_MIN})}},
      {"flatten_axis", "Flatten", {}, {IntAttribute("axis", 1000)}},
      {"softmax_axis", "Softmax", {}, {IntAttribute("axis", INT64_MAX)}},
      {"reduce_axes", "ReduceMean", {Int64s("k0", {0, 0, 9})}},
      {"reduce_axes_min", "ReduceMean", {Int64s("k0", {INT64_MIN})}},
      {"arg_max_axis", "ArgMax", {}, {IntAttribute("axis", -9)}},
      {"depth_to_space", "DepthToSpace", {}, {IntAttribute("blocksize", INT64_MAX)}},
      {"depth_to_space_zero", "DepthToSpace", {}, {IntAttribute("blocksize", 0)}},
      {"space_to_depth_negative", "SpaceToDepth", {}, {IntAttribute("blocksize", -2)}},
      {"layer_norm_axis", "LayerNormalization", {Float32s("k0", {1})}, {IntAttribute("axis", 77)}},
      {"group_norm_zero",
       "GroupNormalization",
       {Float32s("k0", {1}), Float32s("k1", {1})},
       {IntAttribute("num_groups", 0)}},
      {"expand_rank", "Expand", {Int64s("k0", Ints(40, 1))}},
      {"tile_short", "Tile", {Int64s("k0", {1})}},
      {"pad_odd", "Pad", {Int64s("k0", {1, 2, 3})}},
      {"pad_reflect",
       "Pad",
       {Int64s("k0", {99, 99, 99, 99, 99, 99, 99, 99})},
       {StringAttribute("mode", "reflect")}},
      {"pad_mode",
       "Pad",
       {Int64s("k0", {0, 0, 0, 0, 0, 0, 0, 0})},
       {StringAttribute("mode", "odd")}},
      {"einsum_empty", "Einsum", {}, {StringAttribute("equation", "")}},
      {"einsum_odd", "Einsum", {}, {StringAttribute("equation", "...i...,->->,")}},
      {"einsum_long", "Einsum", {}, {StringAttribute("equation", std::string(100000, 'i'))}},
      {"einsum_diagonal", "Einsum", {}, {StringAttribute("equation", "iijk->q")}},
  };
}

std::vector<Call> WindowCalls() {
  const std::string w = RawTensorMessage("k0", 1, {3, 3, 1, 1}, std::string(36, '\0'));
  std::vector<Call> calls;
  for (const char* op : {"Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool"}) {
    const bool has_weights = std::string_view(op).starts_with("Conv");
    const Strings constants = has_weights ? Strings{w} : Strings{};  // 3 to 3 channels
    auto add = [&](const char* name, Strings attributes) {
      if (!has_weights)
        attributes.insert(attributes.begin(), IntsAttribute("kernel_shape", {1, 1}));
      calls.push_back({std::string(op) + "_" + name, op, constants, std::move(attributes)});
    };
    add("pads_three", {IntsAttribute("pads", {1, 1, 1})});
    add("pads_negative", {IntsAttribute("pads", {-9, -9, -9, -9})});
    add("pads_huge", {IntsAttribute("pads", {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX})});
    add("pads_large", {IntsAttribute("pads", {1 << 30, 1 << 30, 1 << 30, 1 << 30})});
    add("strides_zero", {IntsAttribute("strides", {0, 0})});
    add("strides_negative", {IntsAttribute("strides", {-1, -1})});
    add("strides_huge", {IntsAttribute("strides", {INT64_MAX, INT64_MAX})});
    add("dilations_huge", {IntsAttribute("dilations", {INT64_MAX, INT64_MAX})});
    add("dilations_zero", {IntsAttribute("dilations", {0, 0})});
    add("auto_pad_odd", {StringAttribute("auto_pad", "SOMEHOW")});
    add("strides_as_text", {StringAttribute("strides", "2")});
    add("strides_as_float", {FloatAttribute("strides", 2)});
    add("strides_as_graph", {GraphAttribute("strides", GraphMessage({}))});
    add("strides_as_tensor", {TensorAttribute("strides", RawTensorMessage("", 1, {1}, "abcd"))});
    add("unknown_attribute", {IntAttribute("no_such_thing", 1)});
    add("output_padding", {IntsAttribute("output_padding", {INT64_MAX, -1})});
    add("output_shape", {IntsAttribute("output_shape", {INT64_MAX, INT64_MAX})});
    if (has_weights) {
      add("group_zero", {IntAttribute("group", 0)});
      add("group_negative", {IntAttribute("group", -3)});
      add("group_odd", {IntAttribute("group", 7)});
      add("kernel_other", {IntsAttribute("kernel_shape", {5, 5})});
      add("kernel_short", {IntsAttribute("kernel_shape", {1})});
    }
  }
  for (const char* op : {"MaxPool", "AveragePool", "LpPool"}) {
    for (int64_t kernel : {int64_t{0}, int64_t{-1}, INT64_MAX, int64_t{1} << 31}) {
      calls.push_back({fmt::format("{}_kernel_{}", op, kernel),
                       op,
                       {},
                       {IntsAttribute("kernel_shape", {kernel, kernel})}});
    }
  }
  calls.push_back({"gemm_rank", "Gemm", {Float32s("k0", {1})}});
  calls.push_back({"matmul_mismatch", "MatMul", {Float32s("k0", {1, 2, 3})}});
  calls.push_back({"matmul_of_integers", "MatMul", {Int64s("k0", {1, 2, 3, 4})}});
  calls.push_back(
      {"batch_norm_sizes",
       "BatchNormalization",
       {Float32s("k0", {1}), Float32s("k1", {1, 2}), Float32s("k2", {1}), Float32s("k3", {})}});
  return calls;
}

// y = OP(v, v) again and again, on a constant or on a symbolic shape.
HostileModel Doubling(const std::string& name, const std::string& op, int times, bool constant,
                      const Strings& attributes = {}) {
  Strings nodes;
  nodes.push_back(constant ? NodeMessage({.op = "Identity", .inputs = {"k"}, .outputs = {"v0"}})
                           : NodeMessage({.op = "Shape", .inputs = {"x"}, .outputs = {"v0"}}));
  for (int i = 0; i < times; ++i) {
    const std::string from = "v" + std::to_string(i);
    nodes.push_back(NodeMessage({.op = op,
                                 .inputs = {from, from},
                                 .outputs = {"v" + std::to_string(i + 1)},
                                 .attributes = attributes}));
  }
  nodes.push_back(
      NodeMessage({.op = "Identity", .inputs = {"v" + std::to_string(times)}, .outputs = {"y"}}));
  return {name, ModelMessage(GraphMessage({.nodes = nodes,
                                           .inputs = {ValueMessage("x", kF32, {-1, 3})},
                                           .outputs = {UntypedValueMessage("y")},
                                           .initializers = {Int64s("k", {1, 2, 3})}}),
                             21)};
}

// A loop of 10^15 rounds over constants.
HostileModel EndlessLoop() {
  const std::string body = GraphMessage(
      {.nodes = {NodeMessage({.op = "Identity", .inputs = {"c"}, .outputs = {"d"}}),
                 NodeMessage({.op = "Add", .inputs = {"a", "a"}, .outputs = {"b"}})},
       .inputs = {ValueMessage("i", DType::kInt64, {}), ValueMessage("c", DType::kBool, {}),
                  ValueMessage("a", DType::kInt64, {1})},
       .outputs = {ValueMessage("d", DType::kBool, {}), ValueMessage("b", DType::kInt64, {1})}});
  return {
      "endless_loop",
      ModelMessage(
          GraphMessage({.nodes = {NodeMessage({.op = "Loop",
                                               .inputs = {"n", "t", "k"},
                                               .outputs = {"y"},
                                               .attributes = {GraphAttribute("body", body)}})},
                        .outputs = {ValueMessage("y", DType::kInt64, {1})},
                        .initializers = {Int64("n", 1'000'000'000'000'000),
                                         RawTensorMessage("t", 9, {}, "\1"), Int64s("k", {1})}}),
          21)};
}

}  // namespace

std::vector<HostileModel> HostileOperators() {
  std::vector<HostileModel> models;
  for (const auto& calls : {GrowingCalls(), EdgeCalls(), ShapeCalls(), WindowCalls()}) {
    for (const Call& call : calls) models.push_back({call.name, Model(call)});
  }
  models.push_back(Doubling("concat_doubling", "Concat", 60, true, {IntAttribute("axis", 0)}));
  models.push_back(
      Doubling("concat_doubling_shape", "Concat", 60, false, {IntAttribute("axis", 0)}));
  models.push_back(Doubling("multiply_shape", "Mul", 60, false));
  models.push_back(Doubling("add_shape", "Add", 200, false));
  models.push_back(Doubling("subtract_shape", "Sub", 200, false));
  models.push_back(Doubling("divide_shape", "Div", 60, false));
  models.push_back(EndlessLoop());
  return models;
}

}  // namespace kheya::test
