// QLinearConv with channels last, QGemm, MatMulIntegerToFloat, DynamicQuantizeMatMul.
#include "ops/microsoft/quantized_products.h"

#include "ops/microsoft/microsoft_op.h"

namespace kheya {

ValueId ScaledProduct(Expansion& e, const QuantizedOperand& a, const QuantizedOperand& b) {
  const ValueId sums = e.Call("MatMulInteger", {a.values, b.values, a.zero_point, b.zero_point});
  const ValueId scale = e.Call("Mul", {a.scale, b.scale});
  return e.Call("Mul", {e.Cast(sums, DType::kInt32, DType::kFloat32), scale});
}

namespace {

constexpr const char* kCategory = "quantization";
constexpr ParamDef kConvInputs[] = {
    {"x", kBytes, 'X'},    {"x_scale", kFloat32},         {"x_zero_point", kBytes, 'X'},
    {"w", kBytes, 'W'},    {"w_scale", kFloat32},         {"w_zero_point", kBytes, 'W'},
    {"y_scale", kFloat32}, {"y_zero_point", kBytes, 'Y'}, {"B", kInt32, '\0', Presence::kOptional}};
constexpr ParamDef kConvOutputs[] = {{"y", kBytes, 'Y'}};
constexpr AttributeDef kConvAttributeDefs[] = {
    {"auto_pad", AttributeKind::kString},   {"channels_last", AttributeKind::kInt},
    {"dilations", AttributeKind::kInts},    {"group", AttributeKind::kInt},
    {"kernel_shape", AttributeKind::kInts}, {"pads", AttributeKind::kInts},
    {"strides", AttributeKind::kInts}};
constexpr ParamDef kGemmInputs[] = {{"A", kBytes, 'A'},
                                    {"a_scale", kFloat32},
                                    {"a_zero_point", kBytes, 'A'},
                                    {"B", kBytes, 'B'},
                                    {"b_scale", kFloat32},
                                    {"b_zero_point", kBytes, 'B'},
                                    {"C", kInt32, '\0', Presence::kOptional},
                                    {"y_scale", kFloat32, '\0', Presence::kOptional},
                                    {"y_zero_point", kBytes, '\0', Presence::kOptional}};
constexpr ParamDef kGemmOutputs[] = {{"Y", kBytes | kFloat32}};
constexpr AttributeDef kGemmAttributes[] = {{"alpha", AttributeKind::kFloat},
                                            {"transA", AttributeKind::kInt},
                                            {"transB", AttributeKind::kInt}};
constexpr TypeMask kFloats = MaskOf({DType::kFloat32, DType::kFloat16});
constexpr ParamDef kToFloatInputs[] = {{"A", kBytes, 'A'},
                                       {"B", kBytes, 'B'},
                                       {"a_scale", kFloats, 'T'},
                                       {"b_scale", kFloats, 'T'},
                                       {"a_zero_point", kBytes, 'A', Presence::kOptional},
                                       {"b_zero_point", kBytes, 'B', Presence::kOptional},
                                       {"bias", kFloats, 'T', Presence::kOptional}};
constexpr ParamDef kToFloatOutputs[] = {{"Y", kFloats, 'T'}};
constexpr ParamDef kDynamicInputs[] = {{"A", kFloat32},
                                       {"B", kBytes, 'B'},
                                       {"b_scale", kFloat32},
                                       {"b_zero_point", kBytes, 'B', Presence::kOptional},
                                       {"bias", kFloat32, '\0', Presence::kOptional}};
constexpr ParamDef kDynamicOutputs[] = {{"Y", kFloat32}};

// The weights [M, C / group, kernel...] are as in ONNX; x and y have channels last when asked.
Status ExpandConv(Expansion& e) {
  const bool last = e.attributes().Int("channels_last", 0) != 0;
  const std::optional<int> rank = e.RankOf(0);
  if (last && !rank) {
    e.GiveType(0, e.TypeOf(7));
    return OkStatus();
  }
  if (rank && *rank < 3) {
    return InvalidArgumentError("found x of shape {}, expected rank 3 or more",
                                ToString(*e.ShapeOf(0)));
  }
  std::vector<ValueId> inputs = {last ? e.ToChannelsFirst(e.In(0), *rank) : e.In(0)};
  for (int i = 1; i < 9; ++i) inputs.push_back(e.In(i));
  const ValueId y = e.Call("QLinearConv", std::move(inputs), Copied(e, kConvAttributes));
  e.Give(0, last ? e.ToChannelsLast(y, *rank) : y);
  return OkStatus();
}

// y = alpha a_scale b_scale ((a - a_zero)(b - b_zero) + c), quantized when y_scale is there.
Status ExpandGemm(Expansion& e) {
  for (const int input : {0, 3}) {
    if (e.RankOf(input).value_or(2) == 2) continue;
    return InvalidArgumentError("found an operand of shape {}, expected rank 2",
                                ToString(*e.ShapeOf(input)));
  }
  const AttributeReader attributes = e.attributes();
  const ValueId a = attributes.Int("transA", 0) != 0 ? e.Transpose(e.In(0), {1, 0}) : e.In(0);
  const ValueId b = attributes.Int("transB", 0) != 0 ? e.Transpose(e.In(3), {1, 0}) : e.In(3);
  ValueId sums = e.Call("MatMulInteger", {a, b, e.In(2), e.In(5)});
  if (e.Has(6)) sums = e.Call("Add", {sums, e.In(6)});
  ValueId scale = e.Call("Mul", {e.In(1), e.In(4)});
  const float alpha = attributes.Float("alpha", 1.0f);
  if (alpha != 1.0f) scale = e.Call("Mul", {scale, e.Number(alpha)});
  const ValueId y = e.Call("Mul", {e.Cast(sums, DType::kInt32, DType::kFloat32), scale});
  if (e.Has(7) != e.Has(8)) {
    return InvalidArgumentError("found one of y_scale and y_zero_point, expected both or none");
  }
  e.Give(0, e.Has(7) ? e.Call("QuantizeLinear", {y, e.In(7), e.In(8)}) : y);
  return OkStatus();
}

Status ExpandToFloat(Expansion& e) {
  KHEYA_RETURN_IF_ERROR(CheckVector(e, 6));
  const ValueId product =
      ScaledProduct(e, {e.In(0), e.Wide(2), e.In(4)}, {e.In(1), e.Wide(3), e.In(5)});
  const ValueId terms[] = {product, e.Wide(6)};
  e.Round(0, SumOf(e, terms), e.TypeOf(2));
  return OkStatus();
}

Status ExpandDynamic(Expansion& e) {
  KHEYA_RETURN_IF_ERROR(CheckVector(e, 4));
  const std::vector<ValueId> a = e.CallMany("DynamicQuantizeLinear", {e.In(0)}, 3);
  const ValueId terms[] = {ScaledProduct(e, {a[0], a[1], a[2]}, {e.In(1), e.In(2), e.In(3)}),
                           e.In(4)};
  e.Give(0, SumOf(e, terms));
  return OkStatus();
}

}  // namespace

extern const OpDef kMicrosoftQLinearConvOp;
const OpDef kMicrosoftQLinearConvOp = MicrosoftOp<ExpandConv>("QLinearConv", kCategory, kConvInputs,
                                                              kConvOutputs, kConvAttributeDefs);
extern const OpDef kQGemmOp;
const OpDef kQGemmOp =
    MicrosoftOp<ExpandGemm>("QGemm", kCategory, kGemmInputs, kGemmOutputs, kGemmAttributes);
extern const OpDef kMatMulIntegerToFloatOp;
const OpDef kMatMulIntegerToFloatOp = MicrosoftOp<ExpandToFloat>(
    "MatMulIntegerToFloat", kCategory, kToFloatInputs, kToFloatOutputs, {});
extern const OpDef kDynamicQuantizeMatMulOp;
const OpDef kDynamicQuantizeMatMulOp = MicrosoftOp<ExpandDynamic>(
    "DynamicQuantizeMatMul", kCategory, kDynamicInputs, kDynamicOutputs, {});

}  // namespace kheya
