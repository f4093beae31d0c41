// RoiAlign, MaxRoiPool and NonMaxSuppression.
#include "kernels/reference/roi.h"

#include <vector>

#include "ops/axes.h"
#include "ops/op.h"
#include "ops/wide.h"

namespace kheya {
namespace {

constexpr ParamDef kAlignInputs[] = {
    {"X", types::kFloat, 'T'}, {"rois", types::kFloat, 'T'}, {"batch_indices", types::kInt64}};
constexpr ParamDef kPoolInputs[] = {{"X", types::kFloat, 'T'}, {"rois", types::kFloat, 'T'}};
constexpr ParamDef kOutputs[] = {{"Y", types::kFloat, 'T'}};
constexpr AttributeDef kAlignAttributes[] = {
    {"coordinate_transformation_mode", AttributeKind::kString},
    {"mode", AttributeKind::kString},
    {"output_height", AttributeKind::kInt},
    {"output_width", AttributeKind::kInt},
    {"sampling_ratio", AttributeKind::kInt},
    {"spatial_scale", AttributeKind::kFloat}};
constexpr AttributeDef kPoolAttributes[] = {{"pooled_shape", AttributeKind::kInts, true},
                                            {"spatial_scale", AttributeKind::kFloat}};
constexpr TypeMask kFloat32 = MaskOf({DType::kFloat32});
constexpr ParamDef kNmsInputs[] = {
    {"boxes", kFloat32},
    {"scores", kFloat32},
    {"max_output_boxes_per_class", types::kInt64, '\0', Presence::kOptional},
    {"iou_threshold", kFloat32, '\0', Presence::kOptional},
    {"score_threshold", kFloat32, '\0', Presence::kOptional}};
constexpr ParamDef kNmsOutputs[] = {{"selected_indices", types::kInt64}};
constexpr AttributeDef kNmsAttributes[] = {{"center_point_box", AttributeKind::kInt}};

struct Pooled {
  int64_t height = 1;
  int64_t width = 1;
};

Result<Pooled> PooledOf(int64_t height, int64_t width) {
  if (height >= 1 && width >= 1) return Pooled{height, width};
  return InvalidArgumentError("found results of {}x{}, expected at least 1x1", height, width);
}

Result<Pooled> AlignedSize(const AttributeReader& attributes) {
  return PooledOf(attributes.Int("output_height", 1), attributes.Int("output_width", 1));
}

Result<Pooled> PooledSize(const AttributeReader& attributes) {
  const std::vector<int64_t> sizes = attributes.Ints("pooled_shape");
  if (sizes.size() == 2) return PooledOf(sizes[0], sizes[1]);
  return InvalidArgumentError("found {} sizes in pooled_shape, expected 2", sizes.size());
}

template <Result<Pooled> (*size)(const AttributeReader&)>
Status Infer(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Pooled pooled, size(context.attributes()));
  const SymbolicShape* x = context.input_shape(0);
  const SymbolicShape* regions = context.input_shape(1);
  SymbolicShape shape = UnknownDims(4);
  if (regions != nullptr && regions->size() == 2) shape[0] = (*regions)[0];
  if (x != nullptr && x->size() == 4) shape[1] = (*x)[1];
  shape[2] = pooled.height;
  shape[3] = pooled.width;
  return context.SetOutput(0, context.input_dtype(0), std::move(shape));
}

Result<kernels::RoiShape> ShapeOf(const Shape& x, const Shape& regions, int64_t columns,
                                  const Pooled& pooled) {
  if (x.rank() != 4 || regions.rank() != 2 || regions[1] != columns) {
    return InvalidArgumentError("found X {} and rois {}, expected [N,C,H,W] and [regions,{}]",
                                x.ToString(), regions.ToString(), columns);
  }
  return kernels::RoiShape{x[1], x[2], x[3], pooled.height, pooled.width};
}

Status CheckImage(int64_t image, int64_t batch) {
  if (image >= 0 && image < batch) return OkStatus();
  return InvalidArgumentError("found image {} of a region, expected one in [0, {}]", image,
                              batch - 1);
}

Result<Shape> OutputShape(int64_t regions, const kernels::RoiShape& shape) {
  return Shape::Create(
      std::vector{regions, shape.channels, shape.pooled_height, shape.pooled_width});
}

Result<kernels::RoiAlignParams> AlignParams(const AttributeReader& attributes) {
  kernels::RoiAlignParams params;
  params.scale = attributes.Float("spatial_scale", 1);
  params.samples = attributes.Int("sampling_ratio", 0);
  constexpr int64_t kMostSamples = 1 << 12;
  if (params.samples < 0 || params.samples > kMostSamples) {
    return InvalidArgumentError("found sampling_ratio {}, expected 0 to {}", params.samples,
                                kMostSamples);
  }
  const std::string mode = attributes.String("mode", "avg");
  if (mode != "avg" && mode != "max") {
    return InvalidArgumentError("found mode '{}', expected 'avg' or 'max'", mode);
  }
  params.maximum = mode == "max";
  const std::string coordinates = attributes.String("coordinate_transformation_mode", "half_pixel");
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel") {
    return InvalidArgumentError(
        "found coordinate_transformation_mode '{}', expected 'half_pixel' or 'output_half_pixel'",
        coordinates);
  }
  params.half_pixel = coordinates == "half_pixel";
  return params;
}

Status EvaluateAlign(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Tensor x, WideInput(context, 0));
  KHEYA_ASSIGN_OR_RETURN(const Tensor regions, WideInput(context, 1));
  KHEYA_ASSIGN_OR_RETURN(kernels::RoiAlignParams params, AlignParams(context.attributes()));
  KHEYA_ASSIGN_OR_RETURN(const Pooled pooled, AlignedSize(context.attributes()));
  KHEYA_ASSIGN_OR_RETURN(params.shape, ShapeOf(x.shape(), regions.shape(), 4, pooled));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> batch, IntListInput(context, 2));
  const int64_t count = regions.shape()[0];
  if (static_cast<int64_t>(batch.size()) != count) {
    return InvalidArgumentError("found {} batch indices, expected {}", batch.size(), count);
  }
  for (int64_t image : batch) KHEYA_RETURN_IF_ERROR(CheckImage(image, x.shape()[0]));
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, OutputShape(count, params.shape));
  KHEYA_ASSIGN_OR_RETURN(WideOutput y,
                         WideOutput::Create(context, 0, context.input(0).dtype(), shape));
  KHEYA_RETURN_IF_ERROR(kernels::RoiAlign(params, x.view(), regions.view(), batch, y.view()));
  return y.Finish();
}

Status EvaluatePool(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Tensor x, WideInput(context, 0));
  KHEYA_ASSIGN_OR_RETURN(const Tensor regions, WideInput(context, 1));
  KHEYA_ASSIGN_OR_RETURN(const Pooled pooled, PooledSize(context.attributes()));
  KHEYA_ASSIGN_OR_RETURN(const kernels::RoiShape roi,
                         ShapeOf(x.shape(), regions.shape(), 5, pooled));
  const int64_t count = regions.shape()[0];
  for (int64_t r = 0; r < count; ++r) {
    const double image = regions.dtype() == DType::kFloat64
                             ? regions.At<double>(5 * r)
                             : static_cast<double>(regions.At<float>(5 * r));
    const bool inside = image >= 0 && image < static_cast<double>(x.shape()[0]);
    KHEYA_RETURN_IF_ERROR(CheckImage(inside ? static_cast<int64_t>(image) : -1, x.shape()[0]));
  }
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, OutputShape(count, roi));
  KHEYA_ASSIGN_OR_RETURN(WideOutput y,
                         WideOutput::Create(context, 0, context.input(0).dtype(), shape));
  const double scale = context.attributes().Float("spatial_scale", 1);
  KHEYA_RETURN_IF_ERROR(kernels::MaxRoiPool(roi, scale, x.view(), regions.view(), y.view()));
  return y.Finish();
}

Status InferNms(InferContext& context) {
  return context.SetOutput(0, DType::kInt64, SymbolicShape{Dim(), 3});
}

Result<float> Threshold(const EvalContext& context, int index) {
  if (!context.has_input(index)) return 0.0f;
  const Tensor& tensor = context.input(index);
  if (tensor.num_elements() == 1) return tensor.At<float>(0);
  return InvalidArgumentError("found a threshold {}, expected one number", tensor.TypeString());
}

Status EvaluateNms(EvalContext& context) {
  const Tensor& boxes = context.input(0);
  const Tensor& scores = context.input(1);
  const Shape& b = boxes.shape();
  const Shape& s = scores.shape();
  if (b.rank() != 3 || s.rank() != 3 || b[2] != 4 || b[0] != s[0] || b[1] != s[2]) {
    return InvalidArgumentError(
        "found boxes {} and scores {}, expected [batch,boxes,4] and [batch,classes,boxes]",
        b.ToString(), s.ToString());
  }
  kernels::NmsParams params;
  if (context.has_input(2)) {
    KHEYA_ASSIGN_OR_RETURN(params.most, IntScalarInput(context, 2));
  }
  KHEYA_ASSIGN_OR_RETURN(params.iou_threshold, Threshold(context, 3));
  KHEYA_ASSIGN_OR_RETURN(params.score_threshold, Threshold(context, 4));
  params.has_score_threshold = context.has_input(4);
  params.center_box = context.attributes().Int("center_point_box", 0) != 0;
  std::vector<int64_t> selected;
  for (int64_t row = 0; row < s[0] * s[1]; ++row) {
    KHEYA_RETURN_IF_ERROR(context.CheckAlive());
    const int64_t batch = row / s[1];
    const std::vector<int64_t> kept =
        kernels::SuppressNonMaximum(params, boxes.data<float>().subspan(batch * b[1] * 4, b[1] * 4),
                                    scores.data<float>().subspan(row * s[2], s[2]));
    for (int64_t box : kept) selected.insert(selected.end(), {batch, row % s[1], box});
  }
  KHEYA_ASSIGN_OR_RETURN(
      const MutableTensorView out,
      context.Output(0, DType::kInt64, Shape{static_cast<int64_t>(selected.size() / 3), 3}));
  std::ranges::copy(selected, out.as<int64_t>().begin());
  return OkStatus();
}

constexpr OpDef Op(const char* name, std::span<const ParamDef> inputs,
                   std::span<const ParamDef> outputs, std::span<const AttributeDef> attributes,
                   Status (*infer)(InferContext&), Status (*evaluate)(EvalContext&)) {
  return {.domain = "",
          .name = name,
          .category = "object detection",
          .inputs = inputs,
          .outputs = outputs,
          .attributes = attributes,
          .infer = infer,
          .evaluate = evaluate};
}

}  // namespace

extern const OpDef kMaxRoiPoolOp;
const OpDef kMaxRoiPoolOp =
    Op("MaxRoiPool", kPoolInputs, kOutputs, kPoolAttributes, Infer<PooledSize>, EvaluatePool);
extern const OpDef kNonMaxSuppressionOp;
const OpDef kNonMaxSuppressionOp =
    Op("NonMaxSuppression", kNmsInputs, kNmsOutputs, kNmsAttributes, InferNms, EvaluateNms);
extern const OpDef kRoiAlignOp;
const OpDef kRoiAlignOp =
    Op("RoiAlign", kAlignInputs, kOutputs, kAlignAttributes, Infer<AlignedSize>, EvaluateAlign);

}  // namespace kheya
