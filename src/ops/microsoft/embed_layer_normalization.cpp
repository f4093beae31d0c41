// EmbedLayerNormalization and QEmbedLayerNormalization.
#include "ops/microsoft/microsoft_op.h"

namespace kheya {
namespace {

constexpr TypeMask kTypes = MaskOf({DType::kFloat32, DType::kFloat16});
constexpr ParamDef kInputs[] = {{"input_ids", kInt32},
                                {"segment_ids", kInt32, '\0', Presence::kOptional},
                                {"word_embedding", kTypes, 'T'},
                                {"position_embedding", kTypes, 'T'},
                                {"segment_embedding", kTypes, 'T', Presence::kOptional},
                                {"gamma", kTypes, 'T'},
                                {"beta", kTypes, 'T'},
                                {"mask", kInt32, '\0', Presence::kOptional},
                                {"position_ids", kInt32, '\0', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"output", kTypes, 'T'},
                                 {"mask_index", kInt32, '\0', Presence::kOptional},
                                 {"embedding_sum", kTypes, 'T', Presence::kOptional}};
constexpr AttributeDef kAttributes[] = {{"epsilon", AttributeKind::kFloat},
                                        {"mask_index_type", AttributeKind::kInt}};
constexpr ParamDef kQuantizedInputs[] = {
    {"input_ids", kInt32},
    {"segment_ids", kInt32, '\0', Presence::kOptional},
    {"word_embedding_quant", kBytes, 'Q'},
    {"position_embedding_quant", kBytes, 'Q'},
    {"segment_embedding", kBytes, 'Q', Presence::kOptional},
    {"gamma_quant", kBytes, 'Q'},
    {"beta_quant", kBytes, 'Q'},
    {"mask", kInt32, '\0', Presence::kOptional},
    {"word_embedding_scale", kFloat32},
    {"position_embedding_scale", kFloat32},
    {"segment_embedding_scale", kFloat32, '\0', Presence::kOptional},
    {"gamma_scale", kFloat32},
    {"beta_scale", kFloat32},
    {"word_embedding_zero_point", kBytes, 'Q'},
    {"position_embedding_zero_point", kBytes, 'Q'},
    {"segment_embedding_zero_point", kBytes, 'Q', Presence::kOptional},
    {"gamma_zero_point", kBytes, 'Q'},
    {"beta_zero_point", kBytes, 'Q'}};
constexpr ParamDef kQuantizedOutputs[] = {{"layernorm_out", kFloat32}, {"mask_index_out", kInt32}};
constexpr AttributeDef kQuantizedAttributes[] = {{"epsilon", AttributeKind::kFloat}};

// float32 values; an invalid id stands for what is left out.
struct Tables {
  ValueId word, position, segment, gamma, beta;
};

// Rows 0, 1, ... of the positions for each token of a row.
ValueId Positions(Expansion& e, int ids) {
  const ValueId length = e.Call("Shape", {e.In(ids)}, {{"end", int64_t{2}}, {"start", int64_t{1}}});
  return e.Call("Range", {e.Number(0, DType::kInt64), e.Call("Squeeze", {length}),
                          e.Number(1, DType::kInt64)});
}

// The sum of the embeddings [batch, length, hidden].
Result<ValueId> EmbeddingSum(Expansion& e, const Tables& tables, ValueId position_ids) {
  for (const int ids : {0, 1}) {
    if (e.RankOf(ids).value_or(2) == 2) continue;
    return InvalidArgumentError("found ids of shape {}, expected rank 2",
                                ToString(*e.ShapeOf(ids)));
  }
  if (e.Has(1) != tables.segment.valid()) {
    return InvalidArgumentError("found one of segment_ids and segment_embedding, expected both");
  }
  const ValueId positions = position_ids.valid() ? position_ids : Positions(e, 0);
  const ValueId terms[] = {e.Call("Gather", {tables.word, e.In(0)}),
                           e.Call("Gather", {tables.position, positions}),
                           e.Has(1) ? e.Call("Gather", {tables.segment, e.In(1)}) : ValueId()};
  return SumOf(e, terms);
}

ValueId Normalized(Expansion& e, ValueId sum, const Tables& tables) {
  return e.Call("LayerNormalization", {sum, tables.gamma, tables.beta},
                {{"axis", int64_t{-1}}, {"epsilon", e.attributes().Float("epsilon", 1e-12f)}});
}

// How many places of each row the mask has; 0 without a mask.
ValueId MaskIndex(Expansion& e, int mask) {
  const ValueId rows =
      e.Has(mask) ? e.In(mask) : e.Call("Mul", {e.In(0), e.Number(0, DType::kInt32)});
  return e.Call("ReduceSum", {rows, e.Ints({1})}, {{"keepdims", int64_t{0}}});
}

Status Expand(Expansion& e) {
  const Tables tables = {e.Wide(2), e.Wide(3), e.Wide(4), e.Wide(5), e.Wide(6)};
  KHEYA_ASSIGN_OR_RETURN(const ValueId sum, EmbeddingSum(e, tables, e.In(8)));
  e.Round(0, Normalized(e, sum, tables), e.TypeOf(2));
  if (e.Wants(1)) e.Give(1, MaskIndex(e, 7));
  e.Round(2, sum, e.TypeOf(2));
  return OkStatus();
}

Status ExpandQuantized(Expansion& e) {
  const auto real = [&](int table, int scale) {
    if (!e.Has(table)) return ValueId();
    return e.Call("DequantizeLinear", {e.In(table), e.In(scale), e.In(scale + 5)});
  };
  const Tables tables = {real(2, 8), real(3, 9), real(4, 10), real(5, 11), real(6, 12)};
  KHEYA_ASSIGN_OR_RETURN(const ValueId sum, EmbeddingSum(e, tables, ValueId()));
  e.Give(0, Normalized(e, sum, tables));
  if (e.Wants(1)) e.Give(1, MaskIndex(e, 7));
  return OkStatus();
}

}  // namespace

extern const OpDef kEmbedLayerNormalizationOp;
const OpDef kEmbedLayerNormalizationOp =
    MicrosoftOp<Expand>("EmbedLayerNormalization", "normalization", kInputs, kOutputs, kAttributes);
extern const OpDef kQEmbedLayerNormalizationOp;
const OpDef kQEmbedLayerNormalizationOp =
    MicrosoftOp<ExpandQuantized>("QEmbedLayerNormalization", "quantization", kQuantizedInputs,
                                 kQuantizedOutputs, kQuantizedAttributes);

}  // namespace kheya
