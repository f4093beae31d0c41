// SkipLayerNormalization, SkipSimplifiedLayerNormalization, SimplifiedLayerNormalization.
#include "ops/microsoft/microsoft_op.h"

namespace kheya {
namespace {

constexpr TypeMask kTypes = MaskOf({DType::kFloat32, DType::kFloat16, DType::kBFloat16});
constexpr ParamDef kSkipInputs[] = {{"input", kTypes, 'T'},
                                    {"skip", kTypes, 'T'},
                                    {"gamma", kTypes, 'T'},
                                    {"beta", kTypes, 'T', Presence::kOptional},
                                    {"bias", kTypes, 'T', Presence::kOptional}};
constexpr ParamDef kSkipSimplifiedInputs[] = {{"input", kTypes, 'T'},
                                              {"skip", kTypes, 'T'},
                                              {"gamma", kTypes, 'T'},
                                              {"bias", kTypes, 'T', Presence::kOptional}};
constexpr ParamDef kSkipOutputs[] = {{"output", kTypes, 'T'},
                                     {"mean", kFloat32, '\0', Presence::kOptional},
                                     {"inv_std_var", kFloat32, '\0', Presence::kOptional},
                                     {"input_skip_bias_sum", kTypes, 'T', Presence::kOptional}};
constexpr AttributeDef kSkipAttributes[] = {{"epsilon", AttributeKind::kFloat}};
constexpr ParamDef kInputs[] = {{"X", types::kFloat, 'T'}, {"scale", types::kFloat, 'V'}};
constexpr ParamDef kOutputs[] = {
    {"Y", types::kFloat, 'V'},
    {"inv_std_var", MaskOf({DType::kFloat32, DType::kFloat64}), '\0', Presence::kOptional}};
constexpr AttributeDef kAttributes[] = {{"axis", AttributeKind::kInt},
                                        {"epsilon", AttributeKind::kFloat},
                                        {"stash_type", AttributeKind::kInt}};

// input + skip + bias, which must have the shape of the input.
Result<ValueId> SkipSum(Expansion& e, int bias) {
  const std::optional<int> rank = e.RankOf(0);
  const std::optional<int> skip_rank = e.RankOf(1);
  bool fits = !rank || !skip_rank || *skip_rank <= *rank;
  for (int axis = -1; fits && skip_rank && axis >= -*skip_rank; --axis) {
    const Dim skip = e.DimOf(1, axis);
    const Dim own = e.DimOf(0, axis);
    fits = !skip.known() || !own.known() || skip.value() == own.value() ||
           (skip.value() == 1 && axis != -1);
  }
  if (!fits) {
    return InvalidArgumentError("found an input of shape {} and a skip of shape {}",
                                ToString(*e.ShapeOf(0)), ToString(*e.ShapeOf(1)));
  }
  if (e.Has(bias) && e.RankOf(bias).value_or(1) != 1) {
    return InvalidArgumentError("found a bias of shape {}, expected rank 1",
                                ToString(*e.ShapeOf(bias)));
  }
  const ValueId terms[] = {e.Wide(0), e.Wide(1), e.Wide(bias)};
  return SumOf(e, terms);
}

Status ExpandSkip(Expansion& e) {
  KHEYA_ASSIGN_OR_RETURN(const ValueId sum, SkipSum(e, 4));
  const std::vector<ValueId> normalized =
      e.CallMany("LayerNormalization", {sum, e.Wide(2), e.Wide(3)}, 3,
                 {{"axis", int64_t{-1}}, {"epsilon", e.attributes().Float("epsilon", 1e-12f)}});
  e.Round(0, normalized[0], e.TypeOf(0));
  e.Give(1, normalized[1]);
  e.Give(2, normalized[2]);
  e.Round(3, sum, e.TypeOf(0));
  return OkStatus();
}

// 1 / sqrt(mean of squares + epsilon) over the axes from `axis` on.
ValueId InverseOfRms(Expansion& e, ValueId x, int64_t axis, int64_t rank, float epsilon) {
  std::vector<int64_t> axes;
  for (int64_t i = axis < 0 ? axis + rank : axis; i < rank; ++i) axes.push_back(i);
  const ValueId squares = e.Call("ReduceMean", {e.Call("Mul", {x, x}), e.Ints(std::move(axes))});
  return e.Call("Reciprocal",
                {e.Call("Sqrt", {e.Call("Add", {squares, e.NumberLike(epsilon, x)})})});
}

Status ExpandSkipSimplified(Expansion& e) {
  KHEYA_ASSIGN_OR_RETURN(const ValueId sum, SkipSum(e, 3));
  const float epsilon = e.attributes().Float("epsilon", 1e-12f);
  const ValueId y =
      e.Call("RMSNormalization", {sum, e.Wide(2)}, {{"axis", int64_t{-1}}, {"epsilon", epsilon}});
  e.Round(0, y, e.TypeOf(0));
  if (e.Wants(2) && e.RankOf(0)) e.Give(2, InverseOfRms(e, sum, -1, *e.RankOf(0), epsilon));
  if (e.Wants(2) && !e.RankOf(0)) e.GiveType(2, DType::kFloat32);
  e.Round(3, sum, e.TypeOf(0));
  return OkStatus();
}

Status ExpandSimplified(Expansion& e) {
  const float epsilon = e.attributes().Float("epsilon", 1e-5f);
  const int64_t axis = e.attributes().Int("axis", -1);
  const std::optional<int> rank = e.RankOf(0);
  if (rank && (axis < -*rank || axis >= *rank)) {
    return InvalidArgumentError("found axis {}, expected one of [{}, {})", axis, -*rank, *rank);
  }
  // In the wider type of the two, then in that of the scale.
  const bool is_double = e.TypeOf(0) == DType::kFloat64 || e.TypeOf(1) == DType::kFloat64;
  const DType wide = is_double ? DType::kFloat64 : DType::kFloat32;
  const ValueId x = e.Cast(e.In(0), e.TypeOf(0), wide);
  const ValueId y = e.Call("RMSNormalization", {x, e.Cast(e.In(1), e.TypeOf(1), wide)},
                           {{"axis", axis}, {"epsilon", epsilon}});
  e.Give(0, e.Cast(y, wide, e.TypeOf(1)));
  const DType stash = e.TypeOf(0) == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  if (e.Wants(1) && rank) e.Give(1, e.Cast(InverseOfRms(e, x, axis, *rank, epsilon), wide, stash));
  if (e.Wants(1) && !rank) e.GiveType(1, stash);
  return OkStatus();
}

constexpr OpDef Simplified(const char* domain) {
  OpDef op = MicrosoftOp<ExpandSimplified>("SimplifiedLayerNormalization", "normalization", kInputs,
                                           kOutputs, kAttributes);
  op.domain = domain;
  return op;
}

}  // namespace

extern const OpDef kSkipLayerNormalizationOp;
const OpDef kSkipLayerNormalizationOp = MicrosoftOp<ExpandSkip>(
    "SkipLayerNormalization", "normalization", kSkipInputs, kSkipOutputs, kSkipAttributes);
extern const OpDef kSkipSimplifiedLayerNormalizationOp;
const OpDef kSkipSimplifiedLayerNormalizationOp =
    MicrosoftOp<ExpandSkipSimplified>("SkipSimplifiedLayerNormalization", "normalization",
                                      kSkipSimplifiedInputs, kSkipOutputs, kSkipAttributes);
// ONNX Runtime writes it in the domain of ONNX, whose standard does not have it.
extern const OpDef kSimplifiedLayerNormalizationOp;
const OpDef kSimplifiedLayerNormalizationOp = Simplified("");
extern const OpDef kMicrosoftSimplifiedLayerNormalizationOp;
const OpDef kMicrosoftSimplifiedLayerNormalizationOp = Simplified(kMicrosoftDomain);

}  // namespace kheya
