// ImageScaler: an experimental operator of the first ONNX files, x * scale + bias of the channel.
#include "ops/microsoft/microsoft_op.h"

namespace kheya {
namespace {

constexpr TypeMask kTypes = MaskOf({DType::kFloat32, DType::kFloat64, DType::kFloat16});
constexpr ParamDef kInputs[] = {{"input", kTypes, 'T'}};
constexpr ParamDef kOutputs[] = {{"output", kTypes, 'T'}};
constexpr AttributeDef kAttributes[] = {{"bias", AttributeKind::kFloats},
                                        {"scale", AttributeKind::kFloat}};

Status Expand(Expansion& e) {
  const std::vector<float> bias = e.attributes().Floats("bias");
  const Dim channels = e.DimOf(0, 1);
  if (e.RankOf(0).value_or(4) != 4) {
    return InvalidArgumentError("found input {}, expected rank 4", ToString(*e.ShapeOf(0)));
  }
  if (channels.known() && channels.value() != static_cast<int64_t>(bias.size())) {
    return InvalidArgumentError("found a bias of {} elements for {} channels", bias.size(),
                                channels.value());
  }
  const ValueId x = e.Wide(0);
  const Shape shape{1, static_cast<int64_t>(bias.size()), 1, 1};
  const ValueId shift =
      e.Call("CastLike", {e.Constant(Tensor::FromValues<float>(shape, std::span(bias))), x});
  const ValueId scale = e.NumberLike(e.attributes().Float("scale", 1.0f), x);
  e.Round(0, e.Call("Add", {e.Call("Mul", {x, scale}), shift}), e.TypeOf(0));
  return OkStatus();
}

constexpr OpDef ImageScaler() {
  OpDef op = MicrosoftOp<Expand>("ImageScaler", "pictures", kInputs, kOutputs, kAttributes);
  op.domain = "";
  return op;
}

}  // namespace

extern const OpDef kImageScalerOp;
const OpDef kImageScalerOp = ImageScaler();

}  // namespace kheya
