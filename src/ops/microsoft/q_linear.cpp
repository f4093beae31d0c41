// The QLinear operators: dequantize, compute in float32, quantize.
#include "ops/microsoft/microsoft_op.h"

namespace kheya {
namespace {

constexpr const char* kCategory = "quantization";
constexpr ParamDef kBinaryInputs[] = {{"A", kBytes, 'T'},
                                      {"A_scale", kFloat32},
                                      {"A_zero_point", kBytes, 'T', Presence::kOptional},
                                      {"B", kBytes, 'T'},
                                      {"B_scale", kFloat32},
                                      {"B_zero_point", kBytes, 'T', Presence::kOptional},
                                      {"C_scale", kFloat32},
                                      {"C_zero_point", kBytes, 'T', Presence::kOptional}};
constexpr ParamDef kUnaryInputs[] = {{"X", kBytes, 'T'},
                                     {"X_scale", kFloat32},
                                     {"X_zero_point", kBytes, 'T', Presence::kOptional},
                                     {"Y_scale", kFloat32},
                                     {"Y_zero_point", kBytes, 'T', Presence::kOptional}};
constexpr ParamDef kWhereInputs[] = {
    {"condition", types::kBool},   {"X", kBytes, 'T'},    {"x_scale", kFloat32},
    {"x_zero_point", kBytes, 'T'}, {"Y", kBytes, 'T'},    {"y_scale", kFloat32},
    {"y_zero_point", kBytes, 'T'}, {"z_scale", kFloat32}, {"z_zero_point", kBytes, 'T'}};
constexpr ParamDef kConcatInputs[] = {{"Y_scale", kFloat32},
                                      {"Y_zero_point", kBytes},
                                      {"inputs", kBytes | kFloat32, '\0', Presence::kVariadic}};
constexpr ParamDef kOutputs[] = {{"Y", kBytes, 'T'}};
constexpr ParamDef kConcatOutputs[] = {{"Y", kBytes}};
constexpr AttributeDef kLeakyAttributes[] = {{"alpha", AttributeKind::kFloat}};
constexpr AttributeDef kAxisAttributes[] = {{"axis", AttributeKind::kInt, true}};
constexpr AttributeDef kSoftmaxAttributes[] = {{"axis", AttributeKind::kInt},
                                               {"opset", AttributeKind::kInt, true}};
constexpr AttributeDef kReduceAttributes[] = {{"axes", AttributeKind::kInts, true},
                                              {"keepdims", AttributeKind::kInt, true}};
constexpr AttributeDef kGlobalAttributes[] = {{"channels_last", AttributeKind::kInt}};
constexpr AttributeDef kPoolAttributes[] = {{"auto_pad", AttributeKind::kString},
                                            {"ceil_mode", AttributeKind::kInt},
                                            {"channels_last", AttributeKind::kInt},
                                            {"count_include_pad", AttributeKind::kInt},
                                            {"kernel_shape", AttributeKind::kInts, true},
                                            {"pads", AttributeKind::kInts},
                                            {"strides", AttributeKind::kInts}};

// The real numbers of input `input`, whose scale and zero point are the next two.
ValueId Real(Expansion& e, int input) {
  return e.Call("DequantizeLinear", {e.In(input), e.In(input + 1), e.In(input + 2)});
}

// Output 0 by the scale at input `scale` and the zero point behind it.
Status GiveQuantized(Expansion& e, ValueId real, int scale, DType dtype) {
  for (int i = 0; i < e.num_inputs(); ++i) {
    const bool is_scale = e.TypeOf(i) == DType::kFloat32;
    const SymbolicShape* shape = e.ShapeOf(i);
    if (!is_scale || shape == nullptr || shape->empty()) continue;
    if (shape->size() > 1 || (shape->front().known() && shape->front().value() != 1)) {
      return InvalidArgumentError("found a scale of shape {}, expected one element",
                                  ToString(*shape));
    }
  }
  Expansion::Attributes attributes;
  if (!e.Has(scale + 1)) attributes.push_back({"output_dtype", static_cast<int64_t>(dtype)});
  e.Give(0, e.Call("QuantizeLinear", {real, e.In(scale), e.In(scale + 1)}, attributes));
  return OkStatus();
}

Status ExpandBinary(Expansion& e, const char* op) {
  return GiveQuantized(e, e.Call(op, {Real(e, 0), Real(e, 3)}), 6, e.TypeOf(0));
}
Status ExpandAdd(Expansion& e) { return ExpandBinary(e, "Add"); }
Status ExpandMul(Expansion& e) { return ExpandBinary(e, "Mul"); }

Status ExpandSigmoid(Expansion& e) {
  return GiveQuantized(e, e.Call("Sigmoid", {Real(e, 0)}), 3, e.TypeOf(0));
}

Status ExpandLeakyRelu(Expansion& e) {
  const float alpha = e.attributes().Float("alpha", 0.01f);
  return GiveQuantized(e, e.Call("LeakyRelu", {Real(e, 0)}, {{"alpha", alpha}}), 3, e.TypeOf(0));
}

Status ExpandReduceMean(Expansion& e) {
  const ValueId axes = e.Ints(e.attributes().Ints("axes"));
  const ValueId mean =
      e.Call("ReduceMean", {Real(e, 0), axes}, {{"keepdims", e.attributes().Int("keepdims", 1)}});
  return GiveQuantized(e, mean, 3, e.TypeOf(0));
}

// Before opset 13, softmax goes over all axes from `axis` on.
Status ExpandSoftmax(Expansion& e) {
  const int64_t opset = e.attributes().Int("opset", 13);
  const int64_t axis = e.attributes().Int("axis", opset < 13 ? 1 : -1);
  if (opset >= 13) {
    const ValueId y = e.Call("Softmax", {Real(e, 0)}, {{"axis", axis}});
    return GiveQuantized(e, y, 3, e.TypeOf(0));
  }
  const ValueId rows = e.Call("Flatten", {Real(e, 0)}, {{"axis", axis}});
  const ValueId y = e.Call("Softmax", {rows}, {{"axis", int64_t{1}}});
  return GiveQuantized(e, e.Call("Reshape", {y, e.Call("Shape", {e.In(0)})}), 3, e.TypeOf(0));
}

Status ExpandPool(Expansion& e, const char* op, Expansion::Attributes attributes) {
  const bool last = e.attributes().Int("channels_last", 0) != 0;
  const std::optional<int> rank = e.RankOf(0);
  if (last && !rank) {
    e.GiveType(0, e.TypeOf(0));
    return OkStatus();
  }
  if (rank && *rank < 3) {
    return InvalidArgumentError("found X of shape {}, expected rank 3 or more",
                                ToString(*e.ShapeOf(0)));
  }
  const ValueId x = last ? e.ToChannelsFirst(Real(e, 0), *rank) : Real(e, 0);
  const ValueId y = e.Call(op, {x}, std::move(attributes));
  return GiveQuantized(e, last ? e.ToChannelsLast(y, *rank) : y, 3, e.TypeOf(0));
}

Status ExpandGlobalAveragePool(Expansion& e) { return ExpandPool(e, "GlobalAveragePool", {}); }

Status ExpandAveragePool(Expansion& e) {
  constexpr const char* kCopied[] = {"auto_pad",     "ceil_mode", "count_include_pad",
                                     "kernel_shape", "pads",      "strides"};
  return ExpandPool(e, "AveragePool", Copied(e, kCopied));
}

Status ExpandWhere(Expansion& e) {
  return GiveQuantized(e, e.Call("Where", {e.In(0), Real(e, 1), Real(e, 4)}), 7, e.TypeOf(1));
}

Status ExpandConcat(Expansion& e) {
  if (e.num_inputs() < 5 || (e.num_inputs() - 2) % 3 != 0) {
    return InvalidArgumentError("found {} inputs, expected 2 and 3 for each part", e.num_inputs());
  }
  std::vector<ValueId> parts;
  for (int i = 2; i < e.num_inputs(); i += 3) parts.push_back(Real(e, i));
  const ValueId y = e.Call("Concat", std::move(parts), {{"axis", e.attributes().Int("axis", 0)}});
  return GiveQuantized(e, y, 0, e.TypeOf(1));
}

template <Expansion::Function expand>
constexpr OpDef Unary(const char* name, std::span<const AttributeDef> attributes) {
  return MicrosoftOp<expand>(name, kCategory, kUnaryInputs, kOutputs, attributes);
}

}  // namespace

extern const OpDef kQLinearAddOp;
const OpDef kQLinearAddOp =
    MicrosoftOp<ExpandAdd>("QLinearAdd", kCategory, kBinaryInputs, kOutputs, {});
extern const OpDef kQLinearMulOp;
const OpDef kQLinearMulOp =
    MicrosoftOp<ExpandMul>("QLinearMul", kCategory, kBinaryInputs, kOutputs, {});
extern const OpDef kQLinearSigmoidOp;
const OpDef kQLinearSigmoidOp = Unary<ExpandSigmoid>("QLinearSigmoid", {});
extern const OpDef kQLinearLeakyReluOp;
const OpDef kQLinearLeakyReluOp = Unary<ExpandLeakyRelu>("QLinearLeakyRelu", kLeakyAttributes);
extern const OpDef kQLinearReduceMeanOp;
const OpDef kQLinearReduceMeanOp = Unary<ExpandReduceMean>("QLinearReduceMean", kReduceAttributes);
extern const OpDef kQLinearSoftmaxOp;
const OpDef kQLinearSoftmaxOp = Unary<ExpandSoftmax>("QLinearSoftmax", kSoftmaxAttributes);
extern const OpDef kQLinearGlobalAveragePoolOp;
const OpDef kQLinearGlobalAveragePoolOp =
    Unary<ExpandGlobalAveragePool>("QLinearGlobalAveragePool", kGlobalAttributes);
extern const OpDef kQLinearAveragePoolOp;
const OpDef kQLinearAveragePoolOp = Unary<ExpandAveragePool>("QLinearAveragePool", kPoolAttributes);
extern const OpDef kQLinearWhereOp;
const OpDef kQLinearWhereOp =
    MicrosoftOp<ExpandWhere>("QLinearWhere", kCategory, kWhereInputs, kOutputs, {});
extern const OpDef kQLinearConcatOp;
const OpDef kQLinearConcatOp = MicrosoftOp<ExpandConcat>("QLinearConcat", kCategory, kConcatInputs,
                                                         kConcatOutputs, kAxisAttributes);

}  // namespace kheya
