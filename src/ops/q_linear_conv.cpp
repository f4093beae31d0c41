// QLinearConv and ConvInteger.
#include <vector>

#include "kernels/reference/conv.h"
#include "kernels/reference/quantize.h"
#include "ops/conv_attributes.h"
#include "ops/op.h"
#include "ops/quantized.h"

namespace kheya {
namespace {

constexpr TypeMask kBytes = MaskOf({DType::kInt8, DType::kUint8});
constexpr TypeMask kFloat32 = MaskOf({DType::kFloat32});
constexpr TypeMask kInt32 = MaskOf({DType::kInt32});
constexpr ParamDef kInputs[] = {
    {"x", kBytes, 'X'},    {"x_scale", kFloat32},         {"x_zero_point", kBytes, 'X'},
    {"w", kBytes, 'W'},    {"w_scale", kFloat32},         {"w_zero_point", kBytes, 'W'},
    {"y_scale", kFloat32}, {"y_zero_point", kBytes, 'Y'}, {"B", kInt32, '\0', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"y", kBytes, 'Y'}};
constexpr ParamDef kIntegerInputs[] = {{"x", kBytes, 'X'},
                                       {"w", kBytes, 'W'},
                                       {"x_zero_point", kBytes, 'X', Presence::kOptional},
                                       {"w_zero_point", kBytes, 'W', Presence::kOptional}};
constexpr ParamDef kIntegerOutputs[] = {{"y", kInt32}};
constexpr AttributeDef kAttributes[] = {
    {"auto_pad", AttributeKind::kString}, {"dilations", AttributeKind::kInts},
    {"group", AttributeKind::kInt},       {"kernel_shape", AttributeKind::kInts},
    {"pads", AttributeKind::kInts},       {"strides", AttributeKind::kInts}};

Status Infer(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(std::optional<SymbolicShape> shape, InferConvShape(context, 0, 3));
  return context.SetOutput(0, context.input_dtype(7), std::move(shape));
}

Status InferInteger(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(std::optional<SymbolicShape> shape, InferConvShape(context, 0, 1));
  return context.SetOutput(0, DType::kInt32, std::move(shape));
}

// The sums of products; padding is the zero point, which is a difference of 0.
Result<Tensor> Convolve(EvalContext& context, const Tensor& x, const Tensor& w,
                        const Tensor& bias) {
  KHEYA_ASSIGN_OR_RETURN(const kernels::ConvParams params,
                         ReadConv(context.attributes(), x.shape(), w.shape()));
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, ConvOutputShape(params, x.shape(), w.shape()));
  KHEYA_RETURN_IF_ERROR(CheckConvBias(bias, shape));
  KHEYA_ASSIGN_OR_RETURN(Tensor sums, Tensor::Allocate(DType::kFloat64, shape, context.budget()));
  KHEYA_RETURN_IF_ERROR(
      kernels::Conv(params, x.view(), w.view(), bias.view(), sums.mutable_view()));
  return sums;
}

Result<Tensor> BiasInput(EvalContext& context) {
  if (!context.has_input(8)) return Tensor();
  const Tensor& bias = context.input(8);
  KHEYA_ASSIGN_OR_RETURN(const std::vector<double> numbers, kernels::NumbersOf(bias.view()));
  return Tensor::FromValues<double>(bias.shape(), numbers);
}

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Tensor x, DifferenceInput(context, 0, 2, 1));
  KHEYA_ASSIGN_OR_RETURN(const Tensor w, DifferenceInput(context, 3, 5, 0));
  KHEYA_ASSIGN_OR_RETURN(const Tensor bias, BiasInput(context));
  KHEYA_ASSIGN_OR_RETURN(const Tensor sums, Convolve(context, x, w, bias));
  Requantization by;
  KHEYA_ASSIGN_OR_RETURN(by.a_scale, BroadcastableInput(context, 1, sums.shape(), 1));
  KHEYA_ASSIGN_OR_RETURN(by.b_scale, BroadcastableInput(context, 4, sums.shape(), 1));
  KHEYA_ASSIGN_OR_RETURN(by.y_scale, BroadcastableInput(context, 6, sums.shape(), 1));
  KHEYA_ASSIGN_OR_RETURN(by.y_zero, BroadcastableInput(context, 7, sums.shape(), 1));
  return GiveRequantized(context, context.input(7).dtype(), sums, by);
}

Status EvaluateInteger(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Tensor x, DifferenceInput(context, 0, 2, 1));
  KHEYA_ASSIGN_OR_RETURN(const Tensor w, DifferenceInput(context, 1, 3, 0));
  KHEYA_ASSIGN_OR_RETURN(const Tensor sums, Convolve(context, x, w, Tensor()));
  return GiveInt32(context, sums);
}

constexpr OpDef Op(const char* name, std::span<const ParamDef> inputs,
                   std::span<const ParamDef> outputs, Status (*infer)(InferContext&),
                   Status (*evaluate)(EvalContext&)) {
  return {.domain = "",
          .name = name,
          .category = "quantization",
          .inputs = inputs,
          .outputs = outputs,
          .attributes = kAttributes,
          .infer = infer,
          .evaluate = evaluate};
}

}  // namespace

extern const OpDef kConvIntegerOp;
const OpDef kConvIntegerOp =
    Op("ConvInteger", kIntegerInputs, kIntegerOutputs, InferInteger, EvaluateInteger);
extern const OpDef kQLinearConvOp;
const OpDef kQLinearConvOp = Op("QLinearConv", kInputs, kOutputs, Infer, Evaluate);

}  // namespace kheya
