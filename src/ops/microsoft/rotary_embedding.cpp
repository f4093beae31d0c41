// RotaryEmbedding of com.microsoft: positions and caches come in another order, and one position
// may stand for a whole row.
#include "ops/microsoft/microsoft_op.h"

namespace kheya {
namespace {

constexpr TypeMask kTypes = MaskOf({DType::kFloat32, DType::kFloat16, DType::kBFloat16});
constexpr ParamDef kInputs[] = {{"input", kTypes, 'T'},
                                {"position_ids", types::kInt64},
                                {"cos_cache", kTypes, 'T'},
                                {"sin_cache", kTypes, 'T'}};
constexpr ParamDef kOutputs[] = {{"output", kTypes, 'T'}};
constexpr AttributeDef kAttributes[] = {{"interleaved", AttributeKind::kInt},
                                        {"is_packed_batching", AttributeKind::kInt},
                                        {"num_heads", AttributeKind::kInt},
                                        {"rotary_embedding_dim", AttributeKind::kInt},
                                        {"scale", AttributeKind::kFloat}};

// The heads of an input of rank 3: as said, or by the size that the caches rotate.
Result<int64_t> NumHeads(const Expansion& e) {
  const int64_t rotated = e.attributes().Int("rotary_embedding_dim", 0);
  const int64_t said = e.attributes().Int("num_heads", 0);
  if (said > 0) return said;
  if (rotated > 0) {
    return InvalidArgumentError("found rotary_embedding_dim {} without num_heads", rotated);
  }
  const Dim hidden = e.DimOf(0, 2);
  const Dim half = e.DimOf(2, 1);
  if (!hidden.known() || !half.known()) return 0;
  if (half.value() < 1 || hidden.value() % (2 * half.value()) != 0) {
    return InvalidArgumentError("found input {} and cos_cache {}", ToString(*e.ShapeOf(0)),
                                ToString(*e.ShapeOf(2)));
  }
  return hidden.value() / (2 * half.value());
}

// Positions [batch, length]: a single one is that of the first token.
ValueId Positions(Expansion& e, bool heads_first) {
  if (e.RankOf(1) == 2) return e.In(1);
  const auto size = [&](int64_t axis) {
    return e.Call("Shape", {e.In(0)}, {{"end", axis + 1}, {"start", axis}});
  };
  const ValueId length = size(heads_first ? 2 : 1);
  const ValueId first = e.Call("Reshape", {e.In(1), e.Ints({1})});
  const ValueId row = e.Call("Range", {e.Number(0, DType::kInt64), e.Call("Squeeze", {length}),
                                       e.Number(1, DType::kInt64)});
  return e.Call("Expand", {e.Call("Add", {row, first}),
                           e.Call("Concat", {size(0), length}, {{"axis", int64_t{0}}})});
}

Status Expand(Expansion& e) {
  if (e.attributes().Int("is_packed_batching", 0) != 0) {
    return UnimplementedError("is_packed_batching is not supported");
  }
  const float scale = e.attributes().Float("scale", 1.0f);
  if (scale != 1.0f) return UnimplementedError("a scale of {} is not supported", scale);
  const SymbolicShape* shape = e.ShapeOf(0);
  if (!e.evaluating()) {
    e.GiveType(0, e.TypeOf(0), shape == nullptr ? std::nullopt : std::optional(*shape));
    return OkStatus();
  }
  if (shape->size() != 3 && shape->size() != 4) {
    return InvalidArgumentError("found input {}, expected rank 3 or 4", ToString(*shape));
  }
  Expansion::Attributes attributes = {{"interleaved", e.attributes().Int("interleaved", 0)}};
  if (shape->size() == 3) {
    KHEYA_ASSIGN_OR_RETURN(const int64_t heads, NumHeads(e));
    attributes.push_back({"num_heads", heads});
  }
  attributes.push_back({"rotary_embedding_dim", e.attributes().Int("rotary_embedding_dim", 0)});
  e.Give(0, e.Call("RotaryEmbedding", {e.In(0), e.In(2), e.In(3), Positions(e, shape->size() == 4)},
                   attributes));
  return OkStatus();
}

}  // namespace

extern const OpDef kMicrosoftRotaryEmbeddingOp;
const OpDef kMicrosoftRotaryEmbeddingOp =
    MicrosoftOp<Expand>("RotaryEmbedding", "attention", kInputs, kOutputs, kAttributes);

}  // namespace kheya
