// FusedConv, NhwcConv, NhwcFusedConv, NhwcMaxPool, ConvTransposeWithDynamicPads.
#include "ops/microsoft/microsoft_op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"X", types::kFloat, 'T'},
                                {"W", types::kFloat, 'T'},
                                {"B", types::kFloat, 'T', Presence::kOptional},
                                {"Z", types::kFloat, 'T', Presence::kOptional}};
constexpr std::span<const ParamDef> kPlainInputs = std::span(kInputs).first(3);
constexpr ParamDef kOutputs[] = {{"Y", types::kFloat, 'T'}};
constexpr AttributeDef kFusedAttributes[] = {
    {"auto_pad", AttributeKind::kString},   {"dilations", AttributeKind::kInts},
    {"group", AttributeKind::kInt},         {"kernel_shape", AttributeKind::kInts},
    {"pads", AttributeKind::kInts},         {"strides", AttributeKind::kInts},
    {"activation", AttributeKind::kString}, {"activation_params", AttributeKind::kFloats}};
constexpr std::span<const AttributeDef> kPlainAttributes = std::span(kFusedAttributes).first(6);
constexpr ParamDef kPoolInputs[] = {{"x", kBytes, 'T'}};
constexpr ParamDef kPoolOutputs[] = {{"y", kBytes, 'T'}};
constexpr AttributeDef kPoolAttributes[] = {
    {"auto_pad", AttributeKind::kString}, {"ceil_mode", AttributeKind::kInt},
    {"dilations", AttributeKind::kInts},  {"kernel_shape", AttributeKind::kInts, true},
    {"pads", AttributeKind::kInts},       {"strides", AttributeKind::kInts}};
constexpr ParamDef kDynamicInputs[] = {{"X", types::kFloat, 'T'},
                                       {"W", types::kFloat, 'T'},
                                       {"Pads", types::kInt64, '\0', Presence::kOptional},
                                       {"B", types::kFloat, 'T', Presence::kOptional}};
constexpr AttributeDef kDynamicAttributes[] = {
    {"auto_pad", AttributeKind::kString},     {"dilations", AttributeKind::kInts},
    {"group", AttributeKind::kInt},           {"kernel_shape", AttributeKind::kInts},
    {"output_padding", AttributeKind::kInts}, {"strides", AttributeKind::kInts}};

// activation(Conv(x, w, b) + z).
Result<ValueId> ConvOf(Expansion& e, ValueId x, ValueId w, ValueId z) {
  const ValueId terms[] = {e.Call("Conv", {x, w, e.Wide(2)}, Copied(e, kConvAttributes)), z};
  return Activated(e, SumOf(e, terms), e.attributes().String("activation", ""),
                   e.attributes().Floats("activation_params"));
}

Status ExpandFusedConv(Expansion& e) {
  KHEYA_ASSIGN_OR_RETURN(const ValueId y, ConvOf(e, e.Wide(0), e.Wide(1), e.Wide(3)));
  e.Round(0, y, e.TypeOf(0));
  return OkStatus();
}

// x, w, z and y with channels last: w is [M, kernel..., C / group].
Status ExpandNhwcConv(Expansion& e) {
  const std::optional<int> rank = e.RankOf(0);
  if (!rank || !e.RankOf(1)) {
    e.GiveType(0, e.TypeOf(0));
    return OkStatus();
  }
  if (*rank < 3 || *rank != *e.RankOf(1)) {
    return InvalidArgumentError("found X of shape {} and W of shape {}, expected one rank over 2",
                                ToString(*e.ShapeOf(0)), ToString(*e.ShapeOf(1)));
  }
  const ValueId x = e.ToChannelsFirst(e.Wide(0), *rank);
  const ValueId w = e.ToChannelsFirst(e.Wide(1), *rank);
  ValueId z = e.Wide(3);
  if (z.valid() && e.RankOf(3) != rank) {
    return InvalidArgumentError("found Z of another rank than X");
  }
  if (z.valid()) z = e.ToChannelsFirst(z, *rank);
  KHEYA_ASSIGN_OR_RETURN(const ValueId y, ConvOf(e, x, w, z));
  e.Round(0, e.ToChannelsLast(y, *rank), e.TypeOf(0));
  return OkStatus();
}

Status ExpandNhwcMaxPool(Expansion& e) {
  constexpr const char* kCopied[] = {"auto_pad",     "ceil_mode", "dilations",
                                     "kernel_shape", "pads",      "strides"};
  const std::optional<int> rank = e.RankOf(0);
  if (!rank) {
    e.GiveType(0, e.TypeOf(0));
    return OkStatus();
  }
  if (*rank < 3) {
    return InvalidArgumentError("found input {}, expected rank 3 or more", ToString(*e.ShapeOf(0)));
  }
  const ValueId y = e.Call("MaxPool", {e.ToChannelsFirst(e.In(0), *rank)}, Copied(e, kCopied));
  e.Give(0, e.ToChannelsLast(y, *rank));
  return OkStatus();
}

Status ExpandConvTranspose(Expansion& e) {
  constexpr const char* kCopied[] = {"auto_pad",     "dilations",      "group",
                                     "kernel_shape", "output_padding", "strides"};
  Expansion::Attributes attributes = Copied(e, kCopied);
  std::optional<std::vector<int64_t>> pads = e.KnownInts(2);
  if (e.Has(2) && !pads) {
    if (e.evaluating()) return InvalidArgumentError("found Pads of rank 2 or more");
    std::optional<SymbolicShape> shape;
    if (e.RankOf(0)) shape = SymbolicShape(static_cast<size_t>(*e.RankOf(0)));
    e.GiveType(0, e.TypeOf(0), std::move(shape));
    return OkStatus();
  }
  if (pads) attributes.push_back({"pads", *std::move(pads)});
  const ValueId y = e.Call("ConvTranspose", {e.Wide(0), e.Wide(1), e.Wide(3)}, attributes);
  e.Round(0, y, e.TypeOf(0));
  return OkStatus();
}

constexpr const char* kCategory = "convolution and pooling";

}  // namespace

extern const OpDef kMicrosoftFusedConvOp;
const OpDef kMicrosoftFusedConvOp =
    MicrosoftOp<ExpandFusedConv>("FusedConv", kCategory, kInputs, kOutputs, kFusedAttributes);
extern const OpDef kNhwcConvOp;
const OpDef kNhwcConvOp =
    MicrosoftOp<ExpandNhwcConv>("NhwcConv", kCategory, kPlainInputs, kOutputs, kPlainAttributes);
extern const OpDef kNhwcFusedConvOp;
const OpDef kNhwcFusedConvOp =
    MicrosoftOp<ExpandNhwcConv>("NhwcFusedConv", kCategory, kInputs, kOutputs, kFusedAttributes);
extern const OpDef kNhwcMaxPoolOp;
const OpDef kNhwcMaxPoolOp = MicrosoftOp<ExpandNhwcMaxPool>("NhwcMaxPool", kCategory, kPoolInputs,
                                                            kPoolOutputs, kPoolAttributes);
extern const OpDef kConvTransposeWithDynamicPadsOp;
const OpDef kConvTransposeWithDynamicPadsOp = MicrosoftOp<ExpandConvTranspose>(
    "ConvTransposeWithDynamicPads", kCategory, kDynamicInputs, kOutputs, kDynamicAttributes);

}  // namespace kheya
