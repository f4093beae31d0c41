// BiasAdd, BiasDropout, BiasSoftmax, GroupNorm, SkipGroupNorm and integer helpers.
#include "ops/microsoft/microsoft_op.h"

namespace kheya {
namespace {

constexpr TypeMask kFloats = MaskOf({DType::kFloat32, DType::kFloat16});
constexpr ParamDef kOutputs[] = {{"Y", types::kFloat, 'T'}};
constexpr ParamDef kAddInputs[] = {
    {"X", types::kFloat, 'T'}, {"bias", types::kFloat, 'T'}, {"skip", types::kFloat, 'T'}};
constexpr ParamDef kDropoutInputs[] = {{"data", types::kFloat, 'T'},
                                       {"bias", types::kFloat, 'T'},
                                       {"residual", types::kFloat, 'T', Presence::kOptional},
                                       {"ratio", types::kFloat, '\0', Presence::kOptional},
                                       {"training_mode", types::kBool, '\0', Presence::kOptional}};
constexpr ParamDef kDropoutOutputs[] = {{"output", types::kFloat, 'T'},
                                        {"mask", types::kBool, '\0', Presence::kOptional}};
constexpr AttributeDef kSeed[] = {{"seed", AttributeKind::kInt}};
constexpr ParamDef kSoftmaxInputs[] = {{"data", types::kFloat, 'T'}, {"bias", types::kFloat, 'T'}};
constexpr AttributeDef kSoftmaxAttributes[] = {{"axis", AttributeKind::kInt},
                                               {"is_inner_broadcast", AttributeKind::kInt, true}};
constexpr ParamDef kGroupInputs[] = {
    {"X", kFloats, 'T'}, {"gamma", kFloats, 'M'}, {"beta", kFloats, 'M'}};
constexpr ParamDef kSkipGroupInputs[] = {{"X", kFloats, 'T'},
                                         {"gamma", kFloats, 'M'},
                                         {"beta", kFloats, 'M'},
                                         {"skip", kFloats, 'T'},
                                         {"bias", kFloats, 'T', Presence::kOptional}};
constexpr ParamDef kSkipGroupOutputs[] = {{"Y", kFloats, 'T'},
                                          {"S", kFloats, 'T', Presence::kOptional}};
constexpr AttributeDef kGroupAttributes[] = {{"activation", AttributeKind::kInt, true},
                                             {"channels_last", AttributeKind::kInt},
                                             {"epsilon", AttributeKind::kFloat},
                                             {"groups", AttributeKind::kInt, true}};

Status ExpandBiasAdd(Expansion& e) {
  const ValueId terms[] = {e.Wide(0), e.Wide(1), e.Wide(2)};
  e.Round(0, SumOf(e, terms), e.TypeOf(0));
  return OkStatus();
}

// dropout(data + bias) + residual.
Status ExpandBiasDropout(Expansion& e) {
  const std::vector<ValueId> y =
      e.CallMany("Dropout", {e.Call("Add", {e.Wide(0), e.Wide(1)}), e.Wide(3), e.In(4)},
                 e.Wants(1) ? 2 : 1, {{"seed", e.attributes().Int("seed", 0)}});
  const ValueId terms[] = {y[0], e.Wide(2)};
  e.Round(0, SumOf(e, terms), e.TypeOf(0));
  if (e.Wants(1)) e.Give(1, y[1]);
  return OkStatus();
}

// softmax(data + bias) over the axes from `axis` on. The bias lacks leading axes, or has 1 for
// those right before `axis`.
Status ExpandBiasSoftmax(Expansion& e) {
  const int64_t axis = e.attributes().Int("axis", 1);
  const ValueId sum = e.Call("Add", {e.Wide(0), e.Wide(1)});
  const ValueId rows = e.Call("Flatten", {sum}, {{"axis", axis}});
  const ValueId y = e.Call("Softmax", {rows}, {{"axis", int64_t{1}}});
  e.Round(0, e.Call("Reshape", {y, e.Call("Shape", {sum})}), e.TypeOf(0));
  return OkStatus();
}

// Group normalization of x with the activation, channels where the node says.
Status GiveNormalized(Expansion& e, ValueId x) {
  const AttributeReader attributes = e.attributes();
  const bool last = attributes.Int("channels_last", 1) != 0;
  const int rank = *e.RankOf(0);
  const int64_t activation = attributes.Int("activation", 0);
  if (activation != 0 && activation != 1) {
    return InvalidArgumentError("found activation {}, expected 0 (none) or 1 (SiLU)", activation);
  }
  const ValueId first = last ? e.ToChannelsFirst(x, rank) : x;
  ValueId y = e.Call("GroupNormalization", {first, e.Wide(1), e.Wide(2)},
                     {{"epsilon", attributes.Float("epsilon", 1e-5f)},
                      {"num_groups", attributes.Int("groups", 0)}});
  if (activation == 1) y = e.Call("Mul", {y, e.Call("Sigmoid", {y})});
  e.Round(0, last ? e.ToChannelsLast(y, rank) : y, e.TypeOf(0));
  return OkStatus();
}

Status CheckRank(const Expansion& e) {
  const int rank = *e.RankOf(0);
  if (rank >= 3) return OkStatus();
  return InvalidArgumentError("found X of rank {}, expected 3 or more", rank);
}

Status ExpandGroupNorm(Expansion& e) {
  if (!e.RankOf(0)) {
    e.GiveType(0, e.TypeOf(0));
    return OkStatus();
  }
  KHEYA_RETURN_IF_ERROR(CheckRank(e));
  return GiveNormalized(e, e.Wide(0));
}

// The skip has the shape of x or [N, C] for all places; the bias is [C].
Status ExpandSkipGroupNorm(Expansion& e) {
  if (!e.RankOf(0) || !e.RankOf(3)) {
    e.GiveType(0, e.TypeOf(0));
    e.GiveType(1, e.TypeOf(0));
    return OkStatus();
  }
  KHEYA_RETURN_IF_ERROR(CheckRank(e));
  const bool last = e.attributes().Int("channels_last", 1) != 0;
  std::vector<int64_t> places;
  for (int axis = 2; axis < *e.RankOf(0); ++axis) places.push_back(last ? axis - 1 : axis);
  ValueId skip = e.Wide(3);
  if (*e.RankOf(3) == 2) skip = e.Call("Unsqueeze", {skip, e.Ints(places)});
  ValueId bias = e.Wide(4);
  if (bias.valid() && !last) {
    std::vector<int64_t> behind;
    for (int axis = 1; axis < *e.RankOf(0) - 1; ++axis) behind.push_back(axis);
    bias = e.Call("Unsqueeze", {bias, e.Ints(behind)});
  }
  const ValueId terms[] = {e.Wide(0), skip, bias};
  const ValueId sum = SumOf(e, terms);
  e.Round(1, sum, e.TypeOf(0));
  return GiveNormalized(e, sum);
}

constexpr TypeMask kSums = MaskOf({DType::kInt32, DType::kUint32});
constexpr ParamDef kIntegerInputs[] = {{"data", kBytes}};
constexpr ParamDef kIntegerOutputs[] = {{"reduced", kSums}};
constexpr AttributeDef kReduceAttributes[] = {{"axes", AttributeKind::kInts, true},
                                              {"keepdims", AttributeKind::kInt, true}};
constexpr ParamDef kMulInputs[] = {{"A", kBytes, 'T'},
                                   {"A_zero_point", kBytes, 'T', Presence::kOptional},
                                   {"B", kBytes, 'T'},
                                   {"B_zero_point", kBytes, 'T', Presence::kOptional}};
constexpr ParamDef kMulOutputs[] = {{"C", kInt32}};

// int32 sums of int8, uint32 sums of uint8.
Status ExpandReduceSumInteger(Expansion& e) {
  const DType dtype = e.TypeOf(0) == DType::kInt8 ? DType::kInt32 : DType::kUint32;
  e.Give(0, e.Call("ReduceSum",
                   {e.Cast(e.In(0), e.TypeOf(0), dtype), e.Ints(e.attributes().Ints("axes"))},
                   {{"keepdims", e.attributes().Int("keepdims", 1)}}));
  return OkStatus();
}

Status ExpandMulInteger(Expansion& e) {
  const auto difference = [&](int input) {
    const ValueId value = e.Cast(e.In(input), e.TypeOf(input), DType::kInt32);
    if (!e.Has(input + 1)) return value;
    return e.Call("Sub", {value, e.Cast(e.In(input + 1), e.TypeOf(input), DType::kInt32)});
  };
  const ValueId a = difference(0);
  e.Give(0, e.Call("Mul", {a, difference(2)}));
  return OkStatus();
}

}  // namespace

extern const OpDef kBiasAddOp;
const OpDef kBiasAddOp =
    MicrosoftOp<ExpandBiasAdd>("BiasAdd", "elementwise", kAddInputs, kOutputs, {});
extern const OpDef kBiasDropoutOp;
const OpDef kBiasDropoutOp = {.domain = kMicrosoftDomain,
                              .name = "BiasDropout",
                              .category = "elementwise",
                              .inputs = kDropoutInputs,
                              .outputs = kDropoutOutputs,
                              .attributes = kSeed,
                              .infer = InferBy<ExpandBiasDropout>,
                              .evaluate = EvaluateBy<ExpandBiasDropout>,
                              .deterministic = false};
extern const OpDef kBiasSoftmaxOp;
const OpDef kBiasSoftmaxOp = MicrosoftOp<ExpandBiasSoftmax>(
    "BiasSoftmax", "normalization", kSoftmaxInputs, kOutputs, kSoftmaxAttributes);
extern const OpDef kGroupNormOp;
const OpDef kGroupNormOp = MicrosoftOp<ExpandGroupNorm>("GroupNorm", "normalization", kGroupInputs,
                                                        kOutputs, kGroupAttributes);
extern const OpDef kSkipGroupNormOp;
const OpDef kSkipGroupNormOp = MicrosoftOp<ExpandSkipGroupNorm>(
    "SkipGroupNorm", "normalization", kSkipGroupInputs, kSkipGroupOutputs, kGroupAttributes);
extern const OpDef kReduceSumIntegerOp;
const OpDef kReduceSumIntegerOp = MicrosoftOp<ExpandReduceSumInteger>(
    "ReduceSumInteger", "reduction", kIntegerInputs, kIntegerOutputs, kReduceAttributes);
extern const OpDef kMulIntegerOp;
const OpDef kMulIntegerOp =
    MicrosoftOp<ExpandMulInteger>("MulInteger", "quantization", kMulInputs, kMulOutputs, {});

}  // namespace kheya
