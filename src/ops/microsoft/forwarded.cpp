// Operators of com.microsoft that an operator of ai.onnx does, with small differences.
#include "ops/microsoft/microsoft_op.h"

namespace kheya {
namespace {

constexpr const char* kShapeCategory = "shape";
constexpr ParamDef kTriluInputs[] = {{"X", types::kNumeric | types::kBool, 'T'},
                                     {"k", types::kInt64, '\0', Presence::kOptional}};
constexpr ParamDef kTriluOutputs[] = {{"Y", types::kNumeric | types::kBool, 'T'}};
constexpr AttributeDef kTriluAttributes[] = {{"upper", AttributeKind::kInt}};
constexpr ParamDef kGatherInputs[] = {{"data", types::kAll, 'T'}, {"indices", types::kIndex}};
constexpr ParamDef kAllOutputs[] = {{"output", types::kAll, 'T'}};
constexpr ParamDef kPadInputs[] = {{"data", types::kFloat, 'T'},
                                   {"pads", types::kInt64},
                                   {"value", types::kFloat, 'T', Presence::kOptional}};
constexpr ParamDef kFloatOutputs[] = {{"output", types::kFloat, 'T'}};
constexpr AttributeDef kModeAttributes[] = {{"mode", AttributeKind::kString}};
constexpr TypeMask kRangeTypes =
    MaskOf({DType::kFloat32, DType::kFloat64, DType::kInt16, DType::kInt32, DType::kInt64});
constexpr ParamDef kRangeInputs[] = {{"start", kRangeTypes, 'T'},
                                     {"limit", kRangeTypes, 'T'},
                                     {"delta", kRangeTypes, 'T', Presence::kOptional}};
constexpr ParamDef kRangeOutputs[] = {{"Y", kRangeTypes, 'T'}};
constexpr ParamDef kExpandInputs[] = {{"X", types::kAll, 'T'}, {"axis", kInt32}};
constexpr ParamDef kUniqueInputs[] = {{"x", types::kAll, 'T'}};
constexpr ParamDef kUniqueOutputs[] = {
    {"y", types::kAll, 'T'}, {"idx", types::kInt64}, {"counts", types::kInt64}};
constexpr TypeMask kScales = MaskOf({DType::kFloat32, DType::kFloat16});
constexpr TypeMask kQuantized = MaskOf(
    {DType::kInt8, DType::kUint8, DType::kInt16, DType::kUint16, DType::kInt4, DType::kUint4});
constexpr ParamDef kQuantizeInputs[] = {{"x", kScales, 'S'},
                                        {"y_scale", kScales, 'S'},
                                        {"y_zero_point", kQuantized, 'T', Presence::kOptional}};
constexpr ParamDef kQuantizeOutputs[] = {{"y", kQuantized, 'T'}};
constexpr ParamDef kDequantizeInputs[] = {
    {"x", kQuantized | kInt32, 'T'},
    {"x_scale", kScales, 'S'},
    {"x_zero_point", kQuantized | kInt32, 'T', Presence::kOptional}};
constexpr ParamDef kDequantizeOutputs[] = {{"y", kScales, 'S'}};
constexpr AttributeDef kAxisAttributes[] = {{"axis", AttributeKind::kInt}};
constexpr ParamDef kGridInputs[] = {{"X", types::kFloat, 'T'}, {"Grid", types::kFloat, 'T'}};
constexpr AttributeDef kGridAttributes[] = {{"align_corners", AttributeKind::kInt},
                                            {"mode", AttributeKind::kString},
                                            {"padding_mode", AttributeKind::kString}};

Status ExpandTrilu(Expansion& e) {
  e.Give(0, e.Call("Trilu", {e.In(0), e.In(1)}, {{"upper", e.attributes().Int("upper", 1)}}));
  return OkStatus();
}

Status ExpandGather(Expansion& e) {
  const ValueId indices = e.Cast(e.In(1), e.TypeOf(1), DType::kInt64);
  e.Give(0, e.Call("GatherND", {e.In(0), indices}));
  return OkStatus();
}

Status ExpandPad(Expansion& e) {
  const std::string mode = e.attributes().String("mode", "constant");
  e.Give(0, e.Call("Pad", {e.In(0), e.Call("Reshape", {e.In(1), e.Ints({-1})}), e.In(2)},
                   {{"mode", mode}}));
  return OkStatus();
}

// `delta` is 1 when it is left out; the numbers may be lists of one.
Status ExpandRange(Expansion& e) {
  const auto number = [&](int input) {
    return e.RankOf(input) == 0 ? e.In(input) : e.Call("Reshape", {e.In(input), e.Ints({})});
  };
  const ValueId start = number(0);
  const ValueId delta = e.Has(2)                       ? number(2)
                        : e.TypeOf(0) == DType::kInt16 ? e.NumberLike(1, start)
                                                       : e.Number(1, e.TypeOf(0));
  e.Give(0, e.Call("Range", {start, number(1), delta}));
  return OkStatus();
}

Status ExpandExpandDims(Expansion& e) {
  const ValueId axis = e.Call("Reshape", {e.In(1), e.Ints({1})});
  e.Give(0, e.Call("Unsqueeze", {e.In(0), e.Cast(axis, DType::kInt32, DType::kInt64)}));
  return OkStatus();
}

// In the order in which they come first; idx: where each element of x is among them.
Status ExpandUnique(Expansion& e) {
  if (e.RankOf(0).value_or(1) != 1) {
    return InvalidArgumentError("found x of shape {}, expected rank 1", ToString(*e.ShapeOf(0)));
  }
  const std::vector<ValueId> found = e.CallMany("Unique", {e.In(0)}, 4, {{"sorted", int64_t{0}}});
  e.Give(0, found[0]);
  e.Give(1, found[2]);
  e.Give(2, found[3]);
  return OkStatus();
}

// Without an axis there is one scale.
Status CheckScale(const Expansion& e) {
  const SymbolicShape* scale = e.ShapeOf(1);
  if (scale == nullptr || scale->empty()) return OkStatus();
  const bool one = scale->size() == 1 && scale->front().known() && scale->front().value() == 1;
  if (e.attributes().Has("axis") ? scale->size() == 1 : one) return OkStatus();
  if (!e.evaluating() && scale->size() == 1 && !scale->front().known()) return OkStatus();
  return InvalidArgumentError("found a scale of shape {} {} an axis", ToString(*scale),
                              e.attributes().Has("axis") ? "with" : "without");
}

Status ExpandQuantize(Expansion& e) {
  KHEYA_RETURN_IF_ERROR(CheckScale(e));
  e.Give(0, e.Call("QuantizeLinear", {e.In(0), e.In(1), e.In(2)},
                   {{"axis", e.attributes().Int("axis", 1)}}));
  return OkStatus();
}

Status ExpandDequantize(Expansion& e) {
  KHEYA_RETURN_IF_ERROR(CheckScale(e));
  e.Give(0, e.Call("DequantizeLinear", {e.In(0), e.In(1), e.In(2)},
                   {{"axis", e.attributes().Int("axis", 1)}}));
  return OkStatus();
}

Status ExpandGridSample(Expansion& e) {
  std::string mode = e.attributes().String("mode", "bilinear");
  if (mode == "bilinear") mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  e.Give(0, e.Call("GridSample", {e.In(0), e.In(1)},
                   {{"align_corners", e.attributes().Int("align_corners", 0)},
                    {"mode", mode},
                    {"padding_mode", e.attributes().String("padding_mode", "zeros")}}));
  return OkStatus();
}

}  // namespace

extern const OpDef kMicrosoftTriluOp;
const OpDef kMicrosoftTriluOp = MicrosoftOp<ExpandTrilu>("Trilu", kShapeCategory, kTriluInputs,
                                                         kTriluOutputs, kTriluAttributes);
extern const OpDef kMicrosoftGatherNDOp;
const OpDef kMicrosoftGatherNDOp =
    MicrosoftOp<ExpandGather>("GatherND", kShapeCategory, kGatherInputs, kAllOutputs, {});
extern const OpDef kMicrosoftPadOp;
const OpDef kMicrosoftPadOp =
    MicrosoftOp<ExpandPad>("Pad", kShapeCategory, kPadInputs, kFloatOutputs, kModeAttributes);
extern const OpDef kMicrosoftRangeOp;
const OpDef kMicrosoftRangeOp =
    MicrosoftOp<ExpandRange>("Range", kShapeCategory, kRangeInputs, kRangeOutputs, {});
extern const OpDef kExpandDimsOp;
const OpDef kExpandDimsOp =
    MicrosoftOp<ExpandExpandDims>("ExpandDims", kShapeCategory, kExpandInputs, kAllOutputs, {});
extern const OpDef kMicrosoftUniqueOp;
const OpDef kMicrosoftUniqueOp =
    MicrosoftOp<ExpandUnique>("Unique", kShapeCategory, kUniqueInputs, kUniqueOutputs, {});
extern const OpDef kMicrosoftQuantizeLinearOp;
const OpDef kMicrosoftQuantizeLinearOp = MicrosoftOp<ExpandQuantize>(
    "QuantizeLinear", "quantization", kQuantizeInputs, kQuantizeOutputs, kAxisAttributes);
extern const OpDef kMicrosoftDequantizeLinearOp;
const OpDef kMicrosoftDequantizeLinearOp = MicrosoftOp<ExpandDequantize>(
    "DequantizeLinear", "quantization", kDequantizeInputs, kDequantizeOutputs, kAxisAttributes);
extern const OpDef kMicrosoftGridSampleOp;
const OpDef kMicrosoftGridSampleOp = MicrosoftOp<ExpandGridSample>(
    "GridSample", "pictures", kGridInputs, kFloatOutputs, kGridAttributes);

}  // namespace kheya
