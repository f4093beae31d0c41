// DynamicQuantizeLSTM: LSTM with quantized weights [directions, size, 4 hidden]. X as a whole and
// each state are rounded to the 256 numbers of DynamicQuantizeLinear before they meet them.
#include "ops/microsoft/microsoft_op.h"

namespace kheya {
namespace {

enum Input { kX, kW, kR, kBias, kLengths, kH, kC, kPeepholes, kWScale, kWZero, kRScale, kRZero };

constexpr ParamDef kInputs[] = {{"X", kFloat32},
                                {"W", kBytes, 'W'},
                                {"R", kBytes, 'W'},
                                {"B", kFloat32, '\0', Presence::kOptional},
                                {"sequence_lens", kInt32, '\0', Presence::kOptional},
                                {"initial_h", kFloat32, '\0', Presence::kOptional},
                                {"initial_c", kFloat32, '\0', Presence::kOptional},
                                {"P", kFloat32, '\0', Presence::kOptional},
                                {"W_scale", kFloat32},
                                {"W_zero_point", kBytes, 'W'},
                                {"R_scale", kFloat32},
                                {"R_zero_point", kBytes, 'W'}};
constexpr ParamDef kOutputs[] = {{"Y", kFloat32, '\0', Presence::kOptional},
                                 {"Y_h", kFloat32, '\0', Presence::kOptional},
                                 {"Y_c", kFloat32, '\0', Presence::kOptional}};
constexpr AttributeDef kAttributes[] = {
    {"activation_alpha", AttributeKind::kFloats}, {"activation_beta", AttributeKind::kFloats},
    {"activations", AttributeKind::kStrings},     {"clip", AttributeKind::kFloat},
    {"direction", AttributeKind::kString},        {"hidden_size", AttributeKind::kInt},
    {"input_forget", AttributeKind::kInt}};

// The weights as real numbers [directions, 4 hidden, size]; scales and zero points are [directions]
// or [directions, 4 hidden].
Result<ValueId> Weights(Expansion& e, int input, int scale, int zero) {
  if (e.RankOf(input).value_or(3) != 3) {
    return InvalidArgumentError("found weights of shape {}, expected rank 3",
                                ToString(*e.ShapeOf(input)));
  }
  for (const int by : {scale, zero}) {
    const int rank = e.RankOf(by).value_or(1);
    if (rank == 1 || rank == 2) continue;
    return InvalidArgumentError("found input {} of shape {}, expected rank 1 or 2", by,
                                ToString(*e.ShapeOf(by)));
  }
  const auto spread = [&](ValueId by) { return e.Call("Reshape", {by, e.Ints({0, 1, -1})}); };
  const ValueId stored = e.Cast(e.In(input), e.TypeOf(input), DType::kFloat32);
  const ValueId zeros = spread(e.Cast(e.In(zero), e.TypeOf(zero), DType::kFloat32));
  const ValueId real = e.Call("Mul", {e.Call("Sub", {stored, zeros}), spread(e.In(scale))});
  return e.Transpose(real, {0, 2, 1});
}

Status Expand(Expansion& e) {
  constexpr const char* kCopied[] = {"activation_alpha", "activation_beta", "activations", "clip",
                                     "direction",        "hidden_size",     "input_forget"};
  const std::vector<ValueId> x = e.CallMany("DynamicQuantizeLinear", {e.In(kX)}, 3);
  const ValueId rounded = e.Call("DequantizeLinear", {x[0], x[1], x[2]});
  KHEYA_ASSIGN_OR_RETURN(const ValueId w, Weights(e, kW, kWScale, kWZero));
  KHEYA_ASSIGN_OR_RETURN(const ValueId r, Weights(e, kR, kRScale, kRZero));
  const std::vector<ValueId> outputs =
      e.CallMany("RoundedStateLSTM",
                 {rounded, w, r, e.In(kBias), e.In(kLengths), e.In(kH), e.In(kC), e.In(kPeepholes)},
                 3, Copied(e, kCopied), kInternalDomain);
  for (int i = 0; i < 3; ++i) e.Give(i, outputs[static_cast<size_t>(i)]);
  return OkStatus();
}

}  // namespace

extern const OpDef kDynamicQuantizeLSTMOp;
const OpDef kDynamicQuantizeLSTMOp =
    MicrosoftOp<Expand>("DynamicQuantizeLSTM", "recurrent", kInputs, kOutputs, kAttributes);

}  // namespace kheya
