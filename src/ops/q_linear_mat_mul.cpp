// QLinearMatMul and MatMulInteger.
#include "kernels/reference/matmul.h"
#include "ops/mat_mul_shape.h"
#include "ops/op.h"
#include "ops/quantized.h"

namespace kheya {
namespace {

constexpr TypeMask kBytes = MaskOf({DType::kInt8, DType::kUint8});
constexpr TypeMask kQuantized = kBytes | types::kFloat8;
constexpr TypeMask kScales = MaskOf({DType::kFloat32, DType::kFloat16, DType::kBFloat16});
constexpr ParamDef kInputs[] = {
    {"a", kQuantized, 'A'},    {"a_scale", kScales, 'S'},        {"a_zero_point", kQuantized, 'A'},
    {"b", kQuantized, 'B'},    {"b_scale", kScales, 'S'},        {"b_zero_point", kQuantized, 'B'},
    {"y_scale", kScales, 'S'}, {"y_zero_point", kQuantized, 'Y'}};
constexpr ParamDef kOutputs[] = {{"y", kQuantized, 'Y'}};
constexpr ParamDef kIntegerInputs[] = {{"A", kBytes, 'A'},
                                       {"B", kBytes, 'B'},
                                       {"a_zero_point", kBytes, 'A', Presence::kOptional},
                                       {"b_zero_point", kBytes, 'B', Presence::kOptional}};
constexpr ParamDef kIntegerOutputs[] = {{"Y", MaskOf({DType::kInt32})}};

constexpr int kRows = -2;     // the axis along which a's parameters lie
constexpr int kColumns = -1;  // b's

Status Infer(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(std::optional<SymbolicShape> shape, InferMatMulShape(context, 0, 3));
  return context.SetOutput(0, context.input_dtype(7), std::move(shape));
}

Status InferInteger(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(std::optional<SymbolicShape> shape, InferMatMulShape(context, 0, 1));
  return context.SetOutput(0, DType::kInt32, std::move(shape));
}

Result<Tensor> Product(EvalContext& context, const Tensor& a, const Tensor& b) {
  KHEYA_ASSIGN_OR_RETURN(const kernels::MatMulShapes shapes,
                         kernels::MatMulShapesOf(a.shape(), b.shape()));
  KHEYA_ASSIGN_OR_RETURN(Tensor sums,
                         Tensor::Allocate(DType::kFloat64, shapes.output, context.budget()));
  KHEYA_RETURN_IF_ERROR(kernels::MatMul(shapes, a.view(), b.view(), sums.mutable_view()));
  return sums;
}

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Tensor a, DifferenceInput(context, 0, 2, kRows));
  KHEYA_ASSIGN_OR_RETURN(const Tensor b, DifferenceInput(context, 3, 5, kColumns));
  KHEYA_ASSIGN_OR_RETURN(const Tensor sums, Product(context, a, b));
  const Shape& shape = sums.shape();
  const bool matrices = a.shape().rank() >= 2 && b.shape().rank() >= 2;
  const int rows = matrices ? kRows : -1;
  Requantization by;
  KHEYA_ASSIGN_OR_RETURN(by.a_scale, BroadcastableInput(context, 1, shape, rows));
  KHEYA_ASSIGN_OR_RETURN(by.b_scale, BroadcastableInput(context, 4, shape, kColumns));
  KHEYA_ASSIGN_OR_RETURN(by.y_scale, BroadcastableInput(context, 6, shape, rows));
  KHEYA_ASSIGN_OR_RETURN(by.y_zero, BroadcastableInput(context, 7, shape, rows));
  return GiveRequantized(context, context.input(7).dtype(), sums, by);
}

Status EvaluateInteger(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Tensor a, DifferenceInput(context, 0, 2, kRows));
  KHEYA_ASSIGN_OR_RETURN(const Tensor b, DifferenceInput(context, 1, 3, kColumns));
  KHEYA_ASSIGN_OR_RETURN(const Tensor sums, Product(context, a, b));
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
          .attributes = {},
          .infer = infer,
          .evaluate = evaluate};
}

}  // namespace

extern const OpDef kMatMulIntegerOp;
const OpDef kMatMulIntegerOp =
    Op("MatMulInteger", kIntegerInputs, kIntegerOutputs, InferInteger, EvaluateInteger);
extern const OpDef kQLinearMatMulOp;
const OpDef kQLinearMatMulOp = Op("QLinearMatMul", kInputs, kOutputs, Infer, Evaluate);

}  // namespace kheya
