// Attention, QAttention and MultiHeadAttention.
#include "ops/microsoft/attention_parts.h"
#include "ops/microsoft/microsoft_op.h"
#include "ops/microsoft/quantized_products.h"

namespace kheya {
namespace {

constexpr const char* kCategory = "attention";
constexpr TypeMask kTypes = MaskOf({DType::kFloat32, DType::kFloat16, DType::kBFloat16});
constexpr ParamDef kInputs[] = {{"input", kTypes, 'T'},
                                {"weights", kTypes, 'T'},
                                {"bias", kTypes, 'T', Presence::kOptional},
                                {"mask_index", kInt32, '\0', Presence::kOptional},
                                {"past", kTypes, 'T', Presence::kOptional},
                                {"attention_bias", kTypes, 'T', Presence::kOptional},
                                {"past_sequence_length", kInt32, '\0', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"output", kTypes, 'T'},
                                 {"present", kTypes, 'T', Presence::kOptional}};
constexpr AttributeDef kAttributes[] = {
    {"do_rotary", AttributeKind::kInt},         {"mask_filter_value", AttributeKind::kFloat},
    {"num_heads", AttributeKind::kInt, true},   {"past_present_share_buffer", AttributeKind::kInt},
    {"qkv_hidden_sizes", AttributeKind::kInts}, {"rotary_embedding_dim", AttributeKind::kInt},
    {"scale", AttributeKind::kFloat},           {"unidirectional", AttributeKind::kInt}};
constexpr ParamDef kQuantizedInputs[] = {{"input", kBytes, 'A'},
                                         {"weight", kBytes, 'B'},
                                         {"bias", kTypes, 'T'},
                                         {"input_scale", kTypes, 'T'},
                                         {"weight_scale", kTypes, 'T'},
                                         {"mask_index", kInt32, '\0', Presence::kOptional},
                                         {"input_zero_point", kBytes, 'A', Presence::kOptional},
                                         {"weight_zero_point", kBytes, 'B', Presence::kOptional},
                                         {"past", kTypes, 'T', Presence::kOptional}};
constexpr AttributeDef kQuantizedAttributes[] = {
    {"do_rotary", AttributeKind::kInt},       {"mask_filter_value", AttributeKind::kFloat},
    {"num_heads", AttributeKind::kInt, true}, {"past_present_share_buffer", AttributeKind::kInt},
    {"scale", AttributeKind::kFloat},         {"unidirectional", AttributeKind::kInt}};
constexpr ParamDef kMultiHeadInputs[] = {
    {"query", kTypes, 'T'},
    {"key", kTypes, 'T', Presence::kOptional},
    {"value", kTypes, 'T', Presence::kOptional},
    {"bias", kTypes, 'T', Presence::kOptional},
    {"key_padding_mask", kInt32, '\0', Presence::kOptional},
    {"attention_bias", kTypes, 'T', Presence::kOptional},
    {"past_key", kTypes, 'T', Presence::kOptional},
    {"past_value", kTypes, 'T', Presence::kOptional},
    {"past_sequence_length", kInt32, '\0', Presence::kOptional},
    {"cache_indirection", kInt32, '\0', Presence::kOptional}};
constexpr ParamDef kMultiHeadOutputs[] = {{"output", kTypes, 'T'},
                                          {"present_key", kTypes, 'T', Presence::kOptional},
                                          {"present_value", kTypes, 'T', Presence::kOptional},
                                          {"qk", kTypes, '\0', Presence::kOptional}};
constexpr AttributeDef kMultiHeadAttributes[] = {{"mask_filter_value", AttributeKind::kFloat},
                                                 {"num_heads", AttributeKind::kInt, true},
                                                 {"scale", AttributeKind::kFloat},
                                                 {"unidirectional", AttributeKind::kInt}};

Status ExpandAttention(Expansion& e) {
  if (e.Has(6)) return UnimplementedError("past_sequence_length is not supported");
  KHEYA_RETURN_IF_ERROR(CheckVector(e, 2));
  const ValueId terms[] = {e.Call("MatMul", {e.Wide(0), e.Wide(1)}), e.Wide(2)};
  return GiveSelfAttention(
      e, {SumOf(e, terms), e.attributes().Ints("qkv_hidden_sizes"), 3, 4, 5, e.TypeOf(0)});
}

Status ExpandQAttention(Expansion& e) {
  KHEYA_RETURN_IF_ERROR(CheckVector(e, 2));
  const ValueId product =
      ScaledProduct(e, {e.In(0), e.Wide(3), e.In(6)}, {e.In(1), e.Wide(4), e.In(7)});
  const ValueId terms[] = {product, e.Wide(2)};
  return GiveSelfAttention(e, {SumOf(e, terms), {}, 5, 8, -1, e.TypeOf(2)});
}

// q, k and v from what is packed into the first inputs:
//   query [batch, length, heads, 3, size] alone, key [batch, length, heads, 2, size], or three.
std::vector<ValueId> Unpacked(Expansion& e) {
  const int packed = !e.Has(1) ? 0 : !e.Has(2) ? 1 : 2;
  if (packed == 2) return {e.Wide(0), e.Wide(1), e.Wide(2)};
  const int parts = packed == 0 ? 3 : 2;
  const std::vector<ValueId> cut = e.CallMany(
      "Split", {e.Wide(packed)}, parts, {{"axis", int64_t{3}}, {"num_outputs", int64_t{parts}}});
  std::vector<ValueId> result;
  if (packed == 1) result.push_back(e.Wide(0));
  for (const ValueId part : cut) {
    const ValueId heads = e.Call("Squeeze", {part, e.Ints({3})});
    result.push_back(e.Call("Reshape", {heads, e.Ints({0, 0, -1})}));
  }
  return result;
}

Status CheckMultiHead(const Expansion& e) {
  if (e.Has(8) || e.Has(9)) {
    return UnimplementedError("past_sequence_length and cache_indirection are not supported");
  }
  if (!e.Has(1) && e.Has(2)) return InvalidArgumentError("found a value without a key");
  const int q_rank = e.RankOf(0).value_or(0);
  const int k_rank = e.RankOf(1).value_or(0);
  const int v_rank = e.RankOf(2).value_or(0);
  if (q_rank != 0 && q_rank != (e.Has(1) ? 3 : 5)) {
    return InvalidArgumentError("found query {}, expected rank {}", ToString(*e.ShapeOf(0)),
                                e.Has(1) ? 3 : 5);
  }
  const bool fits = k_rank == 0 || (e.Has(2) ? k_rank == 3 || k_rank == 4 : k_rank == 5);
  if (!fits || (k_rank != 0 && v_rank != 0 && k_rank != v_rank)) {
    return InvalidArgumentError("found key {} {} value", ToString(*e.ShapeOf(1)),
                                e.Has(2) ? "with a" : "without");
  }
  if (e.attributes().Int("num_heads", 0) < 1) {
    return InvalidArgumentError("found {} heads, expected at least 1",
                                e.attributes().Int("num_heads", 0));
  }
  return OkStatus();
}

// Adds to q, k and v their parts of the bias; keys that come as heads have none.
Status AddBias(Expansion& e, std::vector<ValueId>& qkv, bool keys_as_heads) {
  if (!e.Has(3)) return OkStatus();
  KHEYA_RETURN_IF_ERROR(CheckVector(e, 3));
  const Dim bias = e.DimOf(3, 0);
  Dim size = e.DimOf(0, 2);
  if (!e.Has(1)) size = e.DimOf(0, 2) * e.DimOf(0, 4);
  if (!size.known() || !bias.known()) {
    return OkStatus();  // at inference: it changes no shape
  }
  const int64_t rest = bias.value() - 2 * size.value();
  if (rest < 0) {
    return InvalidArgumentError("found a bias of {} elements with queries of {}", bias.value(),
                                size.value());
  }
  const std::vector<ValueId> parts = e.CallMany(
      "Split", {e.Wide(3), e.Ints({size.value(), size.value(), rest})}, 3, {{"axis", int64_t{0}}});
  for (size_t i = 0; i < (keys_as_heads ? 1 : qkv.size()); ++i) {
    qkv[i] = e.Call("Add", {qkv[i], parts[i]});
  }
  return OkStatus();
}

// [batch, length, heads * size] as [batch, heads, length, size].
ValueId AsHeads(Expansion& e, ValueId value) {
  const ValueId shape = e.Ints({0, 0, e.attributes().Int("num_heads", 0), -1});
  return e.Transpose(e.Call("Reshape", {value, shape}), {0, 2, 1, 3});
}

Status ExpandMultiHead(Expansion& e) {
  KHEYA_RETURN_IF_ERROR(CheckMultiHead(e));
  if (!e.RankOf(0) || (e.Has(1) && !e.RankOf(1))) {
    for (int i = 0; i < 4; ++i) e.GiveType(i, e.TypeOf(0));
    return OkStatus();
  }
  const bool keys_as_heads = e.RankOf(1) == 4;
  std::vector<ValueId> qkv = Unpacked(e);
  KHEYA_RETURN_IF_ERROR(AddBias(e, qkv, keys_as_heads));
  AttentionInputs inputs = {AsHeads(e, qkv[0]), qkv[1], qkv[2], {}, e.Wide(6), e.Wide(7)};
  if (!keys_as_heads) {
    inputs.k = AsHeads(e, inputs.k);
    inputs.v = AsHeads(e, inputs.v);
  }
  ValueId total = SizeOf(e, inputs.k, 2);
  if (e.Has(6)) total = e.Call("Add", {total, SizeOf(e, inputs.past_key, 2)});
  if (e.Has(4)) {
    KHEYA_ASSIGN_OR_RETURN(inputs.bias, MaskBias(e, 4, e.DimOf(0, 0), total));
  }
  if (e.Has(5)) inputs.bias = AddOrEither(e, inputs.bias, e.Wide(5));
  const AttentionOutputs outputs = CallAttention(e, inputs);
  const ValueId y = e.Transpose(outputs.y, {0, 2, 1, 3});
  e.Round(0, e.Call("Reshape", {y, e.Ints({0, 0, -1})}), e.TypeOf(0));
  e.Round(1, outputs.present_key, e.TypeOf(0));
  e.Round(2, outputs.present_value, e.TypeOf(0));
  return OkStatus();
}

}  // namespace

extern const OpDef kMicrosoftAttentionOp;
const OpDef kMicrosoftAttentionOp =
    MicrosoftOp<ExpandAttention>("Attention", kCategory, kInputs, kOutputs, kAttributes);
extern const OpDef kQAttentionOp;
const OpDef kQAttentionOp = MicrosoftOp<ExpandQAttention>("QAttention", kCategory, kQuantizedInputs,
                                                          kOutputs, kQuantizedAttributes);
extern const OpDef kMultiHeadAttentionOp;
const OpDef kMultiHeadAttentionOp = MicrosoftOp<ExpandMultiHead>(
    "MultiHeadAttention", kCategory, kMultiHeadInputs, kMultiHeadOutputs, kMultiHeadAttributes);

}  // namespace kheya
