#include "ops/microsoft/attention_parts.h"

#include <utility>

#include "ops/microsoft/microsoft_op.h"

namespace kheya {

AttentionOutputs CallAttention(Expansion& e, const AttentionInputs& inputs) {
  const int64_t heads = e.attributes().Int("num_heads", 0);
  Expansion::Attributes attributes = {
      {"is_causal", int64_t{e.attributes().Int("unidirectional", 0) != 0}},
      {"kv_num_heads", heads},
      {"q_num_heads", heads}};
  const float scale = e.attributes().Float("scale", 0.0f);
  if (scale != 0.0f) attributes.push_back({"scale", scale});
  const std::vector<ValueId> outputs = e.CallMany(
      "Attention", {inputs.q, inputs.k, inputs.v, inputs.bias, inputs.past_key, inputs.past_value},
      3, std::move(attributes));
  return {outputs[0], outputs[1], outputs[2], ValueId()};
}

ValueId AddOrEither(Expansion& e, ValueId a, ValueId b) {
  if (!a.valid()) return b;
  return b.valid() ? e.Call("Add", {a, b}) : a;
}

ValueId SizeOf(Expansion& e, ValueId value, int64_t axis) {
  const ValueId size = e.Call("Shape", {value}, {{"end", axis + 1}, {"start", axis}});
  return e.Call("Squeeze", {size});
}

namespace {

// Whether each key lies before its row's end: [batch, 1] against [keys].
ValueId Below(Expansion& e, ValueId keys, ValueId ends) {
  return e.Call("Less", {keys, e.Call("Unsqueeze", {ends, e.Ints({1})})});
}

// Bools [batch, keys] from a mask of rank 1.
Result<ValueId> FromEnds(Expansion& e, int mask, const Dim& batch, ValueId total) {
  const Dim count = e.DimOf(mask, 0);
  if (!count.known() || !batch.known()) return ValueId();
  const ValueId zero = e.Number(0, DType::kInt64);
  const ValueId range = e.Call("Range", {zero, total, e.Number(1, DType::kInt64)});
  const ValueId keys = e.Cast(range, DType::kInt64, DType::kInt32);
  if (count.value() == batch.value()) return Below(e, keys, e.In(mask));
  if (count.value() != 2 * batch.value()) {
    return UnimplementedError("a mask of shape {} is not supported", ToString(*e.ShapeOf(mask)));
  }
  const std::vector<ValueId> halves =
      e.CallMany("Split", {e.In(mask)}, 2, {{"axis", int64_t{0}}, {"num_outputs", int64_t{2}}});
  const ValueId before = Below(e, keys, halves[1]);
  return e.Call("And", {Below(e, keys, halves[0]), e.Call("Not", {before})});
}

}  // namespace

Result<ValueId> MaskBias(Expansion& e, int mask, const Dim& batch, ValueId total) {
  const std::optional<int> rank = e.RankOf(mask);
  if (!rank) return ValueId();
  ValueId seen;
  if (*rank == 1) {
    KHEYA_ASSIGN_OR_RETURN(seen, FromEnds(e, mask, batch, total));
    if (!seen.valid()) return seen;
  } else if (*rank == 2 || *rank == 3) {
    seen = e.Cast(e.In(mask), DType::kInt32, DType::kBool);
  } else {
    return UnimplementedError("a mask of rank {} is not supported", *rank);
  }
  const std::vector<int64_t> axes =
      *rank == 3 ? std::vector<int64_t>{1} : std::vector<int64_t>{1, 2};
  const float filter = e.attributes().Float("mask_filter_value", -10000.0f);
  return e.Call("Unsqueeze",
                {e.Call("Where", {seen, e.Number(0), e.Number(filter)}), e.Ints(axes)});
}

namespace {

// One of the two halves [batch, heads, length, size] of a past [2, ...].
ValueId HalfOfPast(Expansion& e, ValueId past, int64_t index) {
  return e.Call("Gather", {past, e.Number(static_cast<double>(index), DType::kInt64)},
                {{"axis", int64_t{0}}});
}

Status CheckSelf(Expansion& e, const SelfAttention& self) {
  const AttributeReader attributes = e.attributes();
  if (attributes.Int("do_rotary", 0) != 0) return UnimplementedError("do_rotary is not supported");
  if (attributes.Int("past_present_share_buffer", 0) != 0) {
    return UnimplementedError("past_present_share_buffer is not supported");
  }
  if (e.RankOf(0).value_or(3) != 3) {
    return InvalidArgumentError("found input {}, expected rank 3", ToString(*e.ShapeOf(0)));
  }
  if (e.Has(self.past) && e.RankOf(self.past).value_or(5) != 5) {
    return InvalidArgumentError("found past {}, expected rank 5", ToString(*e.ShapeOf(self.past)));
  }
  if (!self.sizes.empty() && self.sizes.size() != 3) {
    return InvalidArgumentError("found {} sizes of q, k and v, expected 3", self.sizes.size());
  }
  return OkStatus();
}

std::vector<ValueId> CutProjected(Expansion& e, const SelfAttention& self) {
  if (!self.sizes.empty()) {
    return e.CallMany("Split", {self.projected, e.Ints(self.sizes)}, 3, {{"axis", int64_t{-1}}});
  }
  return e.CallMany("Split", {self.projected}, 3,
                    {{"axis", int64_t{-1}}, {"num_outputs", int64_t{3}}});
}

}  // namespace

Status GiveSelfAttention(Expansion& e, const SelfAttention& self) {
  KHEYA_RETURN_IF_ERROR(CheckSelf(e, self));
  const std::vector<ValueId> parts = CutProjected(e, self);
  AttentionInputs inputs = {parts[0], parts[1], parts[2], {}, {}, {}};
  ValueId total = SizeOf(e, e.In(0), 1);
  if (e.Has(self.past)) {
    const ValueId past = e.Wide(self.past);
    inputs.past_key = HalfOfPast(e, past, 0);
    inputs.past_value = HalfOfPast(e, past, 1);
    total = e.Call("Add", {total, SizeOf(e, past, 3)});
  }
  if (e.Has(self.mask)) {
    KHEYA_ASSIGN_OR_RETURN(inputs.bias, MaskBias(e, self.mask, e.DimOf(0, 0), total));
  }
  if (self.bias >= 0 && e.Has(self.bias)) {
    inputs.bias = AddOrEither(e, inputs.bias, e.Wide(self.bias));
  }
  const AttentionOutputs outputs = CallAttention(e, inputs);
  e.Round(0, outputs.y, self.dtype);
  if (e.Wants(1)) {
    const ValueId axis = e.Ints({0});
    const ValueId present = e.Call("Concat",
                                   {e.Call("Unsqueeze", {outputs.present_key, axis}),
                                    e.Call("Unsqueeze", {outputs.present_value, axis})},
                                   {{"axis", int64_t{0}}});
    e.Round(1, present, self.dtype);
  }
  return OkStatus();
}

}  // namespace kheya
