// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear.
#include <vector>

#include "kernels/reference/quantize.h"
#include "ops/axes.h"
#include "ops/op.h"

namespace kheya {
namespace {

using kernels::QuantLayout;

constexpr TypeMask kHalves = MaskOf({DType::kFloat32, DType::kFloat16, DType::kBFloat16});
constexpr TypeMask kInt32 = MaskOf({DType::kInt32});
constexpr TypeMask kFloat32 = MaskOf({DType::kFloat32});
constexpr TypeMask kScales = kHalves | kInt32 | MaskOf({DType::kFloat8E8M0});
constexpr TypeMask kQuantized =
    types::kFloat8 | types::kSmallInteger |
    MaskOf({DType::kInt8, DType::kUint8, DType::kInt16, DType::kUint16, DType::kFloat6E2M3,
            DType::kFloat6E3M2, DType::kFloat4E2M1});
constexpr ParamDef kInputs[] = {{"x", kHalves | kInt32},
                                {"y_scale", kScales},
                                {"y_zero_point", kQuantized, '\0', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"y", kQuantized}};
constexpr AttributeDef kAttributes[] = {{"axis", AttributeKind::kInt},
                                        {"block_size", AttributeKind::kInt},
                                        {"output_dtype", AttributeKind::kInt},
                                        {"precision", AttributeKind::kInt},
                                        {"saturate", AttributeKind::kInt}};
constexpr TypeMask kStored = kQuantized | kInt32;
constexpr ParamDef kBackInputs[] = {{"x", kStored, 'T'},
                                    {"x_scale", kHalves | MaskOf({DType::kFloat8E8M0})},
                                    {"x_zero_point", kStored, 'T', Presence::kOptional}};
constexpr ParamDef kBackOutputs[] = {{"y", kHalves}};
constexpr AttributeDef kBackAttributes[] = {{"axis", AttributeKind::kInt},
                                            {"block_size", AttributeKind::kInt},
                                            {"output_dtype", AttributeKind::kInt}};
constexpr ParamDef kDynamicInputs[] = {{"x", kFloat32}};
constexpr ParamDef kDynamicOutputs[] = {{"y", MaskOf({DType::kUint8})},
                                        {"y_scale", kFloat32},
                                        {"y_zero_point", MaskOf({DType::kUint8})}};

// The type that an attribute names; `missing` when it is left out or 0.
Result<DType> TypeAttribute(const AttributeReader& attributes, const char* name, TypeMask allowed,
                            DType missing) {
  const int64_t number = attributes.Int(name, 0);
  if (number == 0) return missing;
  const std::optional<DType> dtype = DTypeFromOnnx(number);
  if (dtype && (allowed & MaskOf({*dtype})) != 0) return *dtype;
  return InvalidArgumentError("{}: found element type {}", name,
                              dtype ? DTypeName(*dtype) : std::to_string(number));
}

// That of the zero point, else what output_dtype says, else uint8.
Result<DType> QuantizedType(const AttributeReader& attributes, DType zero_point) {
  KHEYA_ASSIGN_OR_RETURN(const DType asked,
                         TypeAttribute(attributes, "output_dtype", kQuantized, DType::kUndefined));
  if (zero_point == DType::kUndefined) return asked == DType::kUndefined ? DType::kUint8 : asked;
  if (asked == DType::kUndefined || asked == zero_point) return zero_point;
  return InvalidArgumentError("found output_dtype {} and a zero point of {}, expected equal types",
                              DTypeName(asked), DTypeName(zero_point));
}

Status Infer(InferContext& context) {
  if (context.has_input(2) && context.input_dtype(2) == DType::kUndefined) {
    return context.SetOutput(0, DType::kUndefined, ShapeOrNull(context, 0));
  }
  KHEYA_ASSIGN_OR_RETURN(const DType dtype,
                         QuantizedType(context.attributes(), context.input_dtype(2)));
  return context.SetOutput(0, dtype, ShapeOrNull(context, 0));
}

Status InferBack(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const DType dtype, TypeAttribute(context.attributes(), "output_dtype",
                                                          kHalves, context.input_dtype(1)));
  return context.SetOutput(0, dtype, ShapeOrNull(context, 0));
}

// Blocked: the scales have x's shape but along the axis.
Status CheckBlocks(const Shape& x, const Shape& scale, int axis, int64_t block) {
  bool fits = block >= 1 && x.rank() == scale.rank();
  for (int i = 0; fits && i < x.rank(); ++i) {
    fits = scale[i] == (i == axis ? x[i] / block + (x[i] % block == 0 ? 0 : 1) : x[i]);
  }
  if (fits) return OkStatus();
  return InvalidArgumentError("found scales {} for {} in blocks of {} along axis {}",
                              scale.ToString(), x.ToString(), block, axis);
}

// As many as scales, in the same places; a single one may have another rank.
Status CheckZeroPoints(const EvalContext& context) {
  if (!context.has_input(2)) return OkStatus();
  const Shape& scale = context.input(1).shape();
  const Shape& zero = context.input(2).shape();
  if (scale == zero || (scale.num_elements() == 1 && zero.num_elements() == 1)) return OkStatus();
  return InvalidArgumentError("found scales {} and zero points {}, expected equal shapes",
                              scale.ToString(), zero.ToString());
}

Result<QuantLayout> LayoutOf(const EvalContext& context) {
  const Shape& x = context.input(0).shape();
  const Shape& scale = context.input(1).shape();
  KHEYA_RETURN_IF_ERROR(CheckZeroPoints(context));
  const int64_t block = context.attributes().Int("block_size", 0);
  if (block < 0) return InvalidArgumentError("found block_size {}, expected 0 or more", block);
  const bool one = scale.rank() == 0 || (scale.rank() == 1 && scale[0] == 1);
  if (one && block == 0) return QuantLayout{1, 1, x.num_elements(), 0};
  KHEYA_ASSIGN_OR_RETURN(const int axis,
                         NormalizeAxis(context.attributes().Int("axis", 1), x.rank()));
  QuantLayout layout = {x.Product(0, axis), x[axis], x.Product(axis + 1, x.rank()), -1};
  if (scale.rank() == 1 && block == 0) {
    if (scale[0] == x[axis]) return layout;
    return InvalidArgumentError("found {} scales for axis {} of {}", scale[0], axis, x.ToString());
  }
  // A scale for each block; how large they are is said, or can be seen.
  layout.block = block;
  if (block == 0 && scale.rank() == x.rank() && scale[axis] > 0) {
    layout.block = (x[axis] + scale[axis] - 1) / scale[axis];
  }
  KHEYA_RETURN_IF_ERROR(CheckBlocks(x, scale, axis, layout.block));
  return layout;
}

Result<std::vector<double>> ZeroPoints(const EvalContext& context) {
  if (!context.has_input(2)) return std::vector<double>();
  return kernels::NumbersOf(context.input(2).view());
}

Status Evaluate(EvalContext& context) {
  const Tensor& x = context.input(0);
  KHEYA_ASSIGN_OR_RETURN(const QuantLayout layout, LayoutOf(context));
  const DType zero_type = context.has_input(2) ? context.input(2).dtype() : DType::kUndefined;
  KHEYA_ASSIGN_OR_RETURN(const DType dtype, QuantizedType(context.attributes(), zero_type));
  const DType scale_type = context.input(1).dtype();
  const bool usual = (kHalves & MaskOf({scale_type})) != 0;
  KHEYA_ASSIGN_OR_RETURN(const DType precision,
                         TypeAttribute(context.attributes(), "precision", kHalves,
                                       usual ? scale_type : DType::kFloat32));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<double> scales,
                         kernels::NumbersOf(context.input(1).view()));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<double> zeros, ZeroPoints(context));
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView y, context.Output(0, dtype, x.shape()));
  const bool saturate = context.attributes().Int("saturate", 1) != 0;
  return kernels::Quantize(layout, precision, saturate, x.view(), scales, zeros, y);
}

Status EvaluateBack(EvalContext& context) {
  const Tensor& x = context.input(0);
  KHEYA_ASSIGN_OR_RETURN(const QuantLayout layout, LayoutOf(context));
  KHEYA_ASSIGN_OR_RETURN(const DType dtype, TypeAttribute(context.attributes(), "output_dtype",
                                                          kHalves, context.input(1).dtype()));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<double> scales,
                         kernels::NumbersOf(context.input(1).view()));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<double> zeros, ZeroPoints(context));
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView y, context.Output(0, dtype, x.shape()));
  return kernels::Dequantize(layout, x.view(), scales, zeros, y);
}

Status InferDynamic(InferContext& context) {
  KHEYA_RETURN_IF_ERROR(context.SetOutput(0, DType::kUint8, ShapeOrNull(context, 0)));
  KHEYA_RETURN_IF_ERROR(context.SetOutput(1, DType::kFloat32, SymbolicShape()));
  return context.SetOutput(2, DType::kUint8, SymbolicShape());
}

Status EvaluateDynamic(EvalContext& context) {
  const Tensor& x = context.input(0);
  const kernels::DynamicScale found = kernels::FindDynamicScale(x.data<float>());
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView y, context.Output(0, DType::kUint8, x.shape()));
  KHEYA_RETURN_IF_ERROR(context.SetOutput(1, Tensor::Scalar(found.scale)));
  KHEYA_RETURN_IF_ERROR(context.SetOutput(2, Tensor::Scalar(found.zero_point)));
  const double scale = found.scale;
  const double zero = found.zero_point;
  return kernels::Quantize({1, 1, x.num_elements(), 0}, DType::kFloat32, true, x.view(),
                           {&scale, 1}, {&zero, 1}, y);
}

constexpr OpDef Op(const char* name, std::span<const ParamDef> inputs,
                   std::span<const ParamDef> outputs, std::span<const AttributeDef> attributes,
                   Status (*infer)(InferContext&), Status (*evaluate)(EvalContext&)) {
  return {.domain = "",
          .name = name,
          .category = "quantization",
          .inputs = inputs,
          .outputs = outputs,
          .attributes = attributes,
          .infer = infer,
          .evaluate = evaluate};
}

}  // namespace

extern const OpDef kDequantizeLinearOp;
const OpDef kDequantizeLinearOp =
    Op("DequantizeLinear", kBackInputs, kBackOutputs, kBackAttributes, InferBack, EvaluateBack);
extern const OpDef kDynamicQuantizeLinearOp;
const OpDef kDynamicQuantizeLinearOp =
    Op("DynamicQuantizeLinear", kDynamicInputs, kDynamicOutputs, {}, InferDynamic, EvaluateDynamic);
extern const OpDef kQuantizeLinearOp;
const OpDef kQuantizeLinearOp =
    Op("QuantizeLinear", kInputs, kOutputs, kAttributes, Infer, Evaluate);

}  // namespace kheya
