// Gelu and its kin of com.microsoft.
#include "ops/microsoft/microsoft_op.h"

namespace kheya {
namespace {

constexpr ParamDef kOne[] = {{"X", types::kFloat, 'T'}};
constexpr ParamDef kTwo[] = {{"A", types::kFloat, 'T'}, {"B", types::kFloat, 'T'}};
constexpr ParamDef kFast[] = {{"X", types::kFloat, 'T'},
                              {"bias", types::kFloat, 'T', Presence::kOptional}};
constexpr ParamDef kSplit[] = {{"X", types::kFloat, 'T'}, {"bias", types::kFloat, 'T'}};
constexpr ParamDef kOutputs[] = {{"Y", types::kFloat, 'T'}};
constexpr AttributeDef kQuick[] = {{"alpha", AttributeKind::kFloat}};

// The bias has one value for each place of the last axis.
Status CheckBias(const Expansion& e) {
  const std::optional<int> rank = e.RankOf(1);
  const Dim size = e.DimOf(0, -1);
  const Dim bias = e.DimOf(1, 0);
  const bool fits = !size.known() || !bias.known() || size.value() == bias.value();
  if (!e.Has(1) || !rank || (*rank == 1 && fits)) return OkStatus();
  return InvalidArgumentError("found a bias of shape {}, expected [{}]", ToString(*e.ShapeOf(1)),
                              size.ToString());
}

Status ExpandGelu(Expansion& e) {
  e.Give(0, e.Call("Gelu", {e.In(0)}));
  return OkStatus();
}

Status ExpandBiasGelu(Expansion& e) {
  KHEYA_RETURN_IF_ERROR(CheckBias(e));
  e.Round(0, e.Call("Gelu", {e.Call("Add", {e.Wide(0), e.Wide(1)})}), e.TypeOf(0));
  return OkStatus();
}

Status ExpandFastGelu(Expansion& e) {
  KHEYA_RETURN_IF_ERROR(CheckBias(e));
  const ValueId terms[] = {e.Wide(0), e.Wide(1)};
  const ValueId y = e.Call("Gelu", {SumOf(e, terms)}, {{"approximate", std::string("tanh")}});
  e.Round(0, y, e.TypeOf(0));
  return OkStatus();
}

Status ExpandQuickGelu(Expansion& e) {
  const ValueId x = e.Wide(0);
  const float alpha = e.attributes().Float("alpha", 1.702f);
  const ValueId gate = e.Call("Sigmoid", {e.Call("Mul", {x, e.NumberLike(alpha, x)})});
  e.Round(0, e.Call("Mul", {x, gate}), e.TypeOf(0));
  return OkStatus();
}

// y = a gelu(b), a and b the halves of x + bias along the last axis.
Status ExpandBiasSplitGelu(Expansion& e) {
  KHEYA_RETURN_IF_ERROR(CheckBias(e));
  const Dim size = e.DimOf(0, -1);
  if (size.known() && size.value() % 2 != 0) {
    return InvalidArgumentError("found {} places on the last axis, expected an even number",
                                size.value());
  }
  const std::vector<ValueId> halves =
      e.CallMany("Split", {e.Call("Add", {e.Wide(0), e.Wide(1)})}, 2,
                 {{"axis", int64_t{-1}}, {"num_outputs", int64_t{2}}});
  e.Round(0, e.Call("Mul", {halves[0], e.Call("Gelu", {halves[1]})}), e.TypeOf(0));
  return OkStatus();
}

}  // namespace

extern const OpDef kMicrosoftGeluOp;
const OpDef kMicrosoftGeluOp = MicrosoftOp<ExpandGelu>("Gelu", "elementwise", kOne, kOutputs, {});
extern const OpDef kBiasGeluOp;
const OpDef kBiasGeluOp =
    MicrosoftOp<ExpandBiasGelu>("BiasGelu", "elementwise", kTwo, kOutputs, {});
extern const OpDef kFastGeluOp;
const OpDef kFastGeluOp =
    MicrosoftOp<ExpandFastGelu>("FastGelu", "elementwise", kFast, kOutputs, {});
extern const OpDef kQuickGeluOp;
const OpDef kQuickGeluOp =
    MicrosoftOp<ExpandQuickGelu>("QuickGelu", "elementwise", kOne, kOutputs, kQuick);
extern const OpDef kBiasSplitGeluOp;
const OpDef kBiasSplitGeluOp =
    MicrosoftOp<ExpandBiasSplitGelu>("BiasSplitGelu", "elementwise", kSplit, kOutputs, {});

}  // namespace kheya
