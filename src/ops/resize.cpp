#include "kernels/reference/resize.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/reference/movement.h"
#include "kernels/reference/numeric_dispatch.h"
#include "ops/axes.h"
#include "ops/op.h"
#include "ops/resize_attributes.h"
#include "ops/wide.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"X", types::kAll, 'T'},
                                {"roi", types::kFloat, '\0', Presence::kOptional},
                                {"scales", MaskOf({DType::kFloat32}), '\0', Presence::kOptional},
                                {"sizes", types::kInt64, '\0', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"Y", types::kAll, 'T'}};
constexpr AttributeDef kAttributes[] = {{"antialias", AttributeKind::kInt},
                                        {"axes", AttributeKind::kInts},
                                        {"coordinate_transformation_mode", AttributeKind::kString},
                                        {"cubic_coeff_a", AttributeKind::kFloat},
                                        {"exclude_outside", AttributeKind::kInt},
                                        {"extrapolation_value", AttributeKind::kFloat},
                                        {"keep_aspect_ratio_policy", AttributeKind::kString},
                                        {"mode", AttributeKind::kString},
                                        {"nearest_mode", AttributeKind::kString}};

constexpr int kRoi = 1, kScales = 2, kSizes = 3;

// floor(dim * scale) where it can be told.
Dim ScaledDim(const Dim& dim, float scale) {
  if (dim.known()) {
    const double size = std::floor(scale * static_cast<float>(dim.value()));
    return size >= 0 && size < 9e18 ? Dim(static_cast<int64_t>(size)) : Dim();
  }
  if (scale >= 1 && scale < 1e6f && std::trunc(scale) == scale) {
    return dim * Dim(static_cast<int64_t>(scale));
  }
  return Dim();
}

Status Infer(InferContext& context) {
  const DType dtype = context.input_dtype(0);
  std::optional<SymbolicShape> shape = ShapeOrNull(context, 0);
  if (!shape) return context.SetOutput(0, dtype, std::nullopt);
  const int rank = static_cast<int>(shape->size());
  KHEYA_ASSIGN_OR_RETURN(std::vector<int> axes, ResizedAxes(context.attributes(), rank));
  const std::string policy = context.attributes().String("keep_aspect_ratio_policy", "stretch");
  const Tensor* scales = context.has_input(kScales) ? context.input_constant(kScales) : nullptr;
  const std::optional<std::vector<Dim>> sizes =
      context.has_input(kSizes) ? context.input_elements(kSizes) : std::nullopt;
  const bool by_scale = scales != nullptr && scales->dtype() == DType::kFloat32 &&
                        scales->num_elements() == static_cast<int64_t>(axes.size());
  const bool by_size = sizes && sizes->size() == axes.size() && policy == "stretch";
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim& dim = (*shape)[axes[i]];
    if (by_size) {
      dim = (*sizes)[i];
    } else {
      dim = by_scale ? ScaledDim(dim, scales->At<float>(static_cast<int64_t>(i))) : Dim();
    }
  }
  return context.SetOutput(0, dtype, std::move(shape));
}

// roi: all starts, then all ends, for the axes that are resized.
Status ReadRoi(EvalContext& context, kernels::ResizeParams& params) {
  if (params.coordinates != kernels::CoordinateMode::kCropAndResize) return OkStatus();
  KHEYA_ASSIGN_OR_RETURN(Tensor roi, WideInput(context, kRoi));
  const size_t count = params.axes.size();
  if (!roi.defined() || roi.num_elements() != static_cast<int64_t>(2 * count)) {
    return InvalidArgumentError("found no roi of {} numbers, which tf_crop_and_resize needs",
                                2 * count);
  }
  const auto at = [&roi](size_t i) {
    return roi.dtype() == DType::kFloat64 ? roi.data<double>()[i]
                                          : static_cast<double>(roi.data<float>()[i]);
  };
  for (size_t i = 0; i < count; ++i) {
    params.axes[i].roi_start = at(i);
    params.axes[i].roi_end = at(count + i);
  }
  return OkStatus();
}

Result<kernels::ResizeParams> ReadParams(EvalContext& context) {
  const Shape& in = context.input(0).shape();
  const AttributeReader attributes = context.attributes();
  KHEYA_ASSIGN_OR_RETURN(kernels::ResizeParams params, ReadResizeModes(attributes));
  KHEYA_ASSIGN_OR_RETURN(std::vector<int> axes, ResizedAxes(attributes, in.rank()));
  // Exporters write empty tensors for inputs that they leave out.
  const bool has_scales = context.has_input(kScales) && context.input(kScales).num_elements() > 0;
  const bool has_sizes = context.has_input(kSizes) && context.input(kSizes).num_elements() > 0;
  if (has_scales == has_sizes && in.rank() > 0) {
    return InvalidArgumentError("found {} scales and sizes, expected one of them",
                                has_scales ? "both" : "neither");
  }
  if (has_scales) {
    KHEYA_RETURN_IF_ERROR(
        FillAxesFromScales(context.input(kScales).data<float>(), axes, in, params));
  } else if (has_sizes) {
    KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> sizes, IntListInput(context, kSizes));
    KHEYA_RETURN_IF_ERROR(FillAxesFromSizes(
        sizes, attributes.String("keep_aspect_ratio_policy", "stretch"), axes, in, params));
  }
  KHEYA_RETURN_IF_ERROR(ReadRoi(context, params));
  return params;
}

Result<Shape> OutputShape(const Shape& in, const kernels::ResizeParams& params) {
  std::vector<int64_t> dims(in.begin(), in.end());
  for (const kernels::ResizeAxis& axis : params.axes) dims[axis.axis] = axis.output;
  return Shape::Create(dims);
}

// The extrapolation value as one element of `dtype`, integers saturated.
Result<Tensor> FillValue(DType dtype, double value) {
  KHEYA_ASSIGN_OR_RETURN(Tensor fill, Tensor::Allocate(dtype, Shape{}));
  if (dtype == DType::kString) return fill;
  KHEYA_RETURN_IF_ERROR(kernels::CallWithNumericType(dtype, [&]<typename T>(T) {
    if constexpr (std::is_integral_v<T>) {
      const double low = static_cast<double>(std::numeric_limits<T>::lowest());
      const double high = static_cast<double>(std::numeric_limits<T>::max());
      const T inside = value > low && value < high ? static_cast<T>(value) : T{};
      fill.mutable_data<T>()[0] = value >= high  ? std::numeric_limits<T>::max()
                                  : value <= low ? std::numeric_limits<T>::lowest()
                                                 : inside;
    } else {
      fill.mutable_data<T>()[0] = T(static_cast<float>(value));
    }
  }));
  return fill;
}

Status EvaluateNearest(EvalContext& context, const kernels::ResizeParams& params,
                       const Shape& shape) {
  const Tensor& x = context.input(0);
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView out, context.Output(0, x.dtype(), shape));
  if (shape.num_elements() == 0) return OkStatus();
  KHEYA_ASSIGN_OR_RETURN(Tensor fill, FillValue(x.dtype(), params.extrapolation_value));
  std::vector<std::vector<int64_t>> maps(shape.rank());
  for (const kernels::ResizeAxis& axis : params.axes) {
    maps[axis.axis] = kernels::NearestIndices(params, axis);
  }
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (!maps[axis].empty()) continue;
    for (int64_t i = 0; i < shape[axis]; ++i) maps[axis].push_back(i);
  }
  return kernels::CopyMapped(maps, x.view(), fill.view(), out);
}

Status EvaluateInterpolated(EvalContext& context, const kernels::ResizeParams& params,
                            const Shape& shape) {
  const DType dtype = context.input(0).dtype();
  if (!(MaskOf({dtype}) & types::kFloat)) {
    return UnimplementedError("found mode linear or cubic on {}, supported are float types",
                              DTypeName(dtype));
  }
  KHEYA_ASSIGN_OR_RETURN(Tensor current, WideInput(context, 0));
  KHEYA_ASSIGN_OR_RETURN(WideOutput y, WideOutput::Create(context, 0, dtype, shape));
  if (shape.num_elements() == 0) return y.Finish();
  for (const kernels::ResizeAxis& axis : params.axes) {
    if (kernels::IsIdentity(params, axis)) continue;
    std::vector<int64_t> dims(current.shape().begin(), current.shape().end());
    dims[axis.axis] = axis.output;
    KHEYA_ASSIGN_OR_RETURN(Shape next_shape, Shape::Create(dims));
    KHEYA_ASSIGN_OR_RETURN(Tensor next,
                           Tensor::Allocate(current.dtype(), next_shape, context.budget()));
    KHEYA_RETURN_IF_ERROR(
        kernels::InterpolateAxis(params, axis, current.view(), next.mutable_view()));
    current = std::move(next);
  }
  kernels::CopyElements(current.view(), 0, y.view(), 0, shape.num_elements());
  return y.Finish();
}

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(kernels::ResizeParams params, ReadParams(context));
  KHEYA_ASSIGN_OR_RETURN(Shape shape, OutputShape(context.input(0).shape(), params));
  if (params.mode == kernels::ResizeMode::kNearest) {
    return EvaluateNearest(context, params, shape);
  }
  return EvaluateInterpolated(context, params, shape);
}

}  // namespace

extern const OpDef kResizeOp;
const OpDef kResizeOp = {.domain = "",
                         .name = "Resize",
                         .category = "shape",
                         .inputs = kInputs,
                         .outputs = kOutputs,
                         .attributes = kAttributes,
                         .infer = Infer,
                         .evaluate = Evaluate};

}  // namespace kheya
