// PackedAttention, RestorePadding, IsAllFinite.
#include "ops/microsoft/attention_parts.h"
#include "ops/microsoft/microsoft_op.h"

namespace kheya {
namespace {

constexpr TypeMask kTypes = MaskOf({DType::kFloat32, DType::kFloat16});
constexpr ParamDef kInputs[] = {{"input", kTypes, 'T'},
                                {"weights", kTypes, 'T'},
                                {"bias", kTypes, 'T'},
                                {"token_offset", kInt32},
                                {"cumulative_sequence_length", kInt32},
                                {"attention_bias", kTypes, 'T', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"output", kTypes, 'T'}};
constexpr AttributeDef kAttributes[] = {{"num_heads", AttributeKind::kInt, true},
                                        {"qkv_hidden_sizes", AttributeKind::kInts},
                                        {"scale", AttributeKind::kFloat}};
constexpr ParamDef kRestoreInputs[] = {{"input", kTypes, 'T'}, {"token_offset", kInt32}};
constexpr ParamDef kFiniteInputs[] = {{"input", types::kFloat, 'V', Presence::kVariadic}};
constexpr ParamDef kFiniteOutputs[] = {{"output", types::kBool}};
constexpr AttributeDef kFiniteAttributes[] = {{"isinf_only", AttributeKind::kInt},
                                              {"isnan_only", AttributeKind::kInt}};

Status CheckRanks(const Expansion& e, int offsets) {
  for (const int input : {0, offsets}) {
    if (e.RankOf(input).value_or(2) == 2) continue;
    return InvalidArgumentError("found input {} of shape {}, expected rank 2", input,
                                ToString(*e.ShapeOf(input)));
  }
  return OkStatus();
}

// The places of the tokens [tokens, 1]: the first of `token_offset`.
ValueId TokenPlaces(Expansion& e, ValueId tokens, int offsets) {
  const ValueId count = e.Call("Shape", {tokens}, {{"end", int64_t{1}}, {"start", int64_t{0}}});
  const ValueId all = e.Call("Reshape", {e.In(offsets), e.Ints({-1})});
  const ValueId own =
      e.Call("Slice", {e.Cast(all, DType::kInt32, DType::kInt64), e.Ints({0}), count, e.Ints({0})});
  return e.Call("Unsqueeze", {own, e.Ints({1})});
}

// Tokens [count, size] at their places of [batch, length, size], zeros elsewhere.
ValueId Restored(Expansion& e, ValueId tokens, ValueId places, int offsets, DType dtype) {
  const ValueId size = e.Call("Shape", {tokens}, {{"end", int64_t{2}}, {"start", int64_t{1}}});
  const ValueId grid = e.Call("Shape", {e.In(offsets)});
  const ValueId shape = e.Call("Concat", {grid, size}, {{"axis", int64_t{0}}});
  const ValueId rows = e.Call("Reshape", {e.Call("ReduceProd", {grid}), e.Ints({1})});
  const ValueId flat = e.Call("Concat", {rows, size}, {{"axis", int64_t{0}}});
  const ValueId zero = e.Cast(e.Number(0), DType::kFloat32, dtype);
  const ValueId zeros = e.Call("Expand", {zero, flat});
  return e.Call("Reshape", {e.Call("ScatterND", {zeros, places, tokens}), shape});
}

Status ExpandRestore(Expansion& e) {
  KHEYA_RETURN_IF_ERROR(CheckRanks(e, 1));
  e.Give(0, Restored(e, e.In(0), TokenPlaces(e, e.In(0), 1), 1, e.TypeOf(0)));
  return OkStatus();
}

// Attention over the tokens at their places of a padded batch; each sees those of its sequence.
Status ExpandPacked(Expansion& e) {
  KHEYA_RETURN_IF_ERROR(CheckRanks(e, 3));
  KHEYA_RETURN_IF_ERROR(CheckVector(e, 2));
  KHEYA_RETURN_IF_ERROR(CheckVector(e, 4));
  const std::vector<int64_t> sizes = e.attributes().Ints("qkv_hidden_sizes");
  if (!sizes.empty() && sizes.size() != 3) {
    return InvalidArgumentError("found {} sizes of q, k and v, expected 3", sizes.size());
  }
  const ValueId projected = e.Call("Add", {e.Call("MatMul", {e.Wide(0), e.Wide(1)}), e.Wide(2)});
  const ValueId places = TokenPlaces(e, projected, 3);
  const ValueId padded = Restored(e, projected, places, 3, DType::kFloat32);
  const std::vector<ValueId> qkv =
      sizes.empty()
          ? e.CallMany("Split", {padded}, 3, {{"axis", int64_t{-1}}, {"num_outputs", int64_t{3}}})
          : e.CallMany("Split", {padded, e.Ints(sizes)}, 3, {{"axis", int64_t{-1}}});
  // How many tokens a sequence has: the difference of what was counted.
  const ValueId ends = e.Call("Slice", {e.In(4), e.Ints({1}), e.Ints({INT64_MAX}), e.Ints({0})});
  const ValueId begins = e.Call("Slice", {e.In(4), e.Ints({0}), e.Ints({-1}), e.Ints({0})});
  const ValueId lengths = e.Call("Unsqueeze", {e.Call("Sub", {ends, begins}), e.Ints({1})});
  const ValueId range = e.Call(
      "Range", {e.Number(0, DType::kInt64), SizeOf(e, padded, 1), e.Number(1, DType::kInt64)});
  const ValueId seen = e.Call("Less", {e.Cast(range, DType::kInt64, DType::kInt32), lengths});
  const ValueId bias =
      e.Call("Unsqueeze", {e.Call("Where", {seen, e.Number(0), e.Number(-1e30)}), e.Ints({1, 2})});
  const AttentionOutputs outputs =
      CallAttention(e, {qkv[0], qkv[1], qkv[2], AddOrEither(e, bias, e.Wide(5)), {}, {}});
  // Back to the tokens.
  const ValueId rows = e.Call("Flatten", {outputs.y}, {{"axis", int64_t{2}}});
  e.Round(0, e.Call("GatherND", {rows, places}), e.TypeOf(0));
  return OkStatus();
}

Status ExpandFinite(Expansion& e) {
  const bool nan_only = e.attributes().Int("isnan_only", 0) != 0;
  const bool inf_only = e.attributes().Int("isinf_only", 0) != 0;
  if (nan_only && inf_only) {
    return InvalidArgumentError("found isnan_only and isinf_only, expected one at most");
  }
  ValueId any = e.Number(0, DType::kInt64);
  for (int i = 0; i < e.num_inputs(); ++i) {
    const ValueId flat = e.Call("Reshape", {e.Wide(i), e.Ints({-1})});
    for (const char* op : {"IsNaN", "IsInf"}) {
      if ((op[2] == 'N' && inf_only) || (op[2] == 'I' && nan_only)) continue;
      const ValueId found = e.Cast(e.Call(op, {flat}), DType::kBool, DType::kInt64);
      any = e.Call("Add",
                   {any, e.Call("ReduceSum", {found, e.Ints({0})}, {{"keepdims", int64_t{0}}})});
    }
  }
  e.Give(0, e.Call("Equal", {any, e.Number(0, DType::kInt64)}));
  return OkStatus();
}

}  // namespace

extern const OpDef kPackedAttentionOp;
const OpDef kPackedAttentionOp =
    MicrosoftOp<ExpandPacked>("PackedAttention", "attention", kInputs, kOutputs, kAttributes);
extern const OpDef kRestorePaddingOp;
const OpDef kRestorePaddingOp =
    MicrosoftOp<ExpandRestore>("RestorePadding", "shape", kRestoreInputs, kOutputs, {});
extern const OpDef kIsAllFiniteOp;
const OpDef kIsAllFiniteOp = MicrosoftOp<ExpandFinite>("IsAllFinite", "elementwise", kFiniteInputs,
                                                       kFiniteOutputs, kFiniteAttributes);

}  // namespace kheya
