// Types of few bits with odd counts, and com.microsoft with sizes that contradict each other.
#include <cmath>

#include "hostile/parts.h"

namespace kheya::test {
namespace {

constexpr DType kSmallTypes[] = {DType::kInt4,           DType::kUint4,      DType::kInt2,
                                 DType::kUint2,          DType::kFloat4E2M1, DType::kFloat8E4M3FN,
                                 DType::kFloat8E5M2FNUZ, DType::kFloat8E8M0};

void AddSmallTypes(std::vector<HostileModel>& models) {
  for (DType dtype : kSmallTypes) {
    const std::string type = DTypeName(dtype);
    const std::string to = IntAttribute("to", static_cast<int64_t>(dtype));
    const Operand x = In("float32[3,5]");
    const Operand scale = ScalarFloat(0.5f);
    for (size_t bytes : {0, 1, 2, 3, 4, 5, 16}) {
      models.push_back(OneNode({type + "_of_bytes_" + std::to_string(bytes),
                                "Cast",
                                {Filled(dtype, {5}, bytes)},
                                {IntAttribute("to", 1)}}));
    }
    AddRows(
        models,
        {{type + "_quantize", "QuantizeLinear", {x, scale, Filled(dtype, {}, 1)}},
         {type + "_quantize_by_attribute",
          "QuantizeLinear",
          {x, scale},
          {IntAttribute("output_dtype", static_cast<int64_t>(dtype))}},
         {type + "_quantize_blocks",
          "QuantizeLinear",
          {x, In("float32[3,2]"), Filled(dtype, {3, 2}, 3)},
          {IntAttribute("block_size", 3), IntAttribute("axis", 1)}},
         {type + "_dequantize", "DequantizeLinear", {Filled(dtype, {3, 5}, 8), scale}},
         {type + "_dequantize_axis",
          "DequantizeLinear",
          {Filled(dtype, {3, 5}, 8), In("float32[5]"), Filled(dtype, {5}, 3)},
          {IntAttribute("axis", 1)}},
         {type + "_dequantize_huge", "DequantizeLinear", {Filled(dtype, {INT64_MAX, 2}, 8), scale}},
         {type + "_to_strings", "Cast", {Filled(dtype, {5}, 3)}, {IntAttribute("to", 8)}},
         {type + "_from_nan", "Cast", {K(Floats{NAN, INFINITY, -INFINITY, 1e30f, -0.0f})}, {to}},
         {type + "_bit_cast", "BitCast", {In("float32[3]")}, {to}},
         {type + "_reshape", "Reshape", {Filled(dtype, {3, 5}, 8), K(Ints{5, 3})}},
         {type + "_transpose", "Transpose", {Filled(dtype, {3, 5}, 8)}},
         {type + "_transposed_input", "Transpose", {In(type + "[3,5]")}},
         {type + "_concat",
          "Concat",
          {In(type + "[3]"), In(type + "[4]")},
          {IntAttribute("axis", 0)}},
         {type + "_slice",
          "Slice",
          {In(type + "[7]"), K(Ints{1}), K(Ints{6}), K(Ints{0}), K(Ints{2})}},
         {type + "_gather", "Gather", {In(type + "[7]"), K(Ints{6, -7, 1})}},
         {type + "_pad", "Pad", {In(type + "[3]"), K(Ints{1, 2})}},
         {type + "_add", "Add", {In(type + "[3]"), In(type + "[3]")}},
         {type + "_where", "Where", {In("bool[3]"), In(type + "[3]"), In(type + "[1]")}},
         {type + "_split", "Split", {In(type + "[7]")}, {IntAttribute("num_outputs", 2)}, 2},
         {type + "_constant_of_shape",
          "ConstantOfShape",
          {K(Ints{5})},
          {TensorAttribute("value", Filled(dtype, {1}, 1).tensor)}}});
  }
}

void AddQuantization(std::vector<HostileModel>& models) {
  for (int64_t odd : kOddInts) {
    const std::string text = std::to_string(odd);
    for (const char* name : {"axis", "block_size", "saturate", "output_dtype", "precision"}) {
      models.push_back(OneNode({std::string("quantize_") + name + "_" + text,
                                "QuantizeLinear",
                                {In("float32[3,6]"), In("float32[3,2]")},
                                {IntAttribute(name, odd)}}));
      models.push_back(OneNode({std::string("dequantize_") + name + "_" + text,
                                "DequantizeLinear",
                                {In("uint8[3,6]"), In("float32[6]")},
                                {IntAttribute(name, odd)}}));
    }
  }
  AddRows(
      models,
      {{"quantize_zero_scale", "QuantizeLinear", {In("float32[3]"), ScalarFloat(0)}},
       {"quantize_nan_scale", "QuantizeLinear", {In("float32[3]"), ScalarFloat(NAN)}},
       {"quantize_types", "QuantizeLinear", {In("float32[3]"), ScalarFloat(1), In("float32[]")}},
       {"dequantize_types", "DequantizeLinear", {In("uint8[3]"), ScalarFloat(1), In("int8[]")}},
       {"dequantize_strings", "DequantizeLinear", {In("string[3]"), ScalarFloat(1)}},
       {"dynamic_of_nothing", "DynamicQuantizeLinear", {In("float32[0]")}, {}, 3},
       {"dynamic_of_nan", "DynamicQuantizeLinear", {K(Floats{NAN, INFINITY})}, {}, 3},
       {"integer_zero_points",
        "MatMulInteger",
        {In("uint8[2,3]"), In("int8[3,4]"), In("uint8[7]"), In("int8[9]")}},
       {"integer_inner", "MatMulInteger", {In("uint8[2,3]"), In("int8[4,4]")}}});
}

// In the first case of `file`: every attribute with odd numbers, every operand of another size.
struct Contrib {
  const char* file;
  size_t operands;
  Strings attributes;
};

const std::vector<Contrib>& Contribs() {
  static const auto* rows = new std::vector<Contrib>{
      {"MatMulNBits", 6, {"K", "N", "bits", "block_size", "accuracy_level"}},
      {"MatMulBnb4", 3, {"K", "N", "block_size", "quant_type", "transB"}},
      {"GatherBlockQuantized", 4, {"block_size", "quantize_axis", "gather_axis", "bits"}},
      {"Attention", 7, {"num_heads", "unidirectional", "do_rotary", "rotary_embedding_dim"}},
      {"MultiHeadAttention", 8, {"num_heads", "unidirectional"}},
      {"GroupQueryAttention", 9, {"num_heads", "kv_num_heads", "local_window_size", "do_rotary"}},
      {"PackedAttention", 6, {"num_heads"}},
      {"QAttention", 9, {"num_heads", "unidirectional"}},
      {"RotaryEmbedding", 4, {"num_heads", "rotary_embedding_dim", "interleaved"}},
      {"GroupNorm", 3, {"groups", "activation", "channels_last"}},
      {"EmbedLayerNormalization", 9, {"mask_index_type"}},
      {"QLinearConcat", 8, {"axis"}},
      {"QLinearAveragePool", 5, {"ceil_mode", "channels_last"}},
      {"CropAndResize", 4, {}},
      {"RestorePadding", 2, {}},
      {"DynamicQuantizeLSTM", 12, {"hidden_size"}},
      {"BiasSoftmax", 2, {"axis", "is_inner_broadcast"}},
      {"ConvTransposeWithDynamicPads", 4, {"group"}},
      {"MurmurHash3", 1, {"seed", "positive"}},
      {"CDist", 2, {}},
      {"Inverse", 1, {}},
      {"QGemm", 9, {"transA", "transB"}},
      {"QLinearConv", 9, {"group"}},
      {"FusedMatMul", 2, {"transA", "transBatchA"}},
  };
  return *rows;
}

void AddContribs(std::vector<HostileModel>& models) {
  const Operand odd[] = {None(),           In("float32[]"),  In("float32[1,1,1,1,1]"),
                         In("uint8[2,0]"), In("int32[2,3]"), Filled(DType::kInt32, {3}, 12)};
  for (const Contrib& row : Contribs()) {
    const std::string& right = FirstCase(std::string("microsoft/") + row.file + ".json");
    for (size_t place = 0; place < row.operands; ++place) {
      for (size_t i = 0; i < std::size(odd); ++i) {
        models.push_back(
            {std::string(row.file) + " operand " + std::to_string(place) + " " + std::to_string(i),
             WithOperand(right, place, odd[i])});
      }
    }
    for (const std::string& name : row.attributes) {
      models.push_back(
          {std::string(row.file) + " without " + name, WithAttribute(right, name, "")});
      for (int64_t number : kOddInts) {
        models.push_back({std::string(row.file) + " " + name + " " + std::to_string(number),
                          WithAttribute(right, name, IntAttribute(name, number))});
      }
    }
  }
}

}  // namespace

std::vector<HostileModel> HostileQuantized() {
  std::vector<HostileModel> models;
  AddSmallTypes(models);
  AddQuantization(models);
  AddContribs(models);
  return models;
}

}  // namespace kheya::test
