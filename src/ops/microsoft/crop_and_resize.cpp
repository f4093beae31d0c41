// CropAndResize: regions of pictures, sampled at the places of a grid whose corners are those of
// the region.
#include <cmath>

#include "kernels/reference/float_dispatch.h"
#include "ops/axes.h"
#include "ops/microsoft/microsoft_op.h"
#include "ops/wide.h"

namespace kheya {
namespace {

constexpr TypeMask kTypes = MaskOf({DType::kFloat32, DType::kFloat64, DType::kFloat16});
constexpr ParamDef kInputs[] = {
    {"X", kTypes, 'T'}, {"rois", kTypes, 'T'}, {"batch_indices", kInt32}, {"crop_size", kInt32}};
constexpr ParamDef kOutputs[] = {{"Y", kTypes, 'T'}};
constexpr AttributeDef kAttributes[] = {{"extrapolation_value", AttributeKind::kFloat},
                                        {"mode", AttributeKind::kString}};

Status Infer(InferContext& context) {
  const SymbolicShape* x = context.input_shape(0);
  const SymbolicShape* rois = context.input_shape(1);
  if (x == nullptr || rois == nullptr || x->size() != 4 || rois->empty()) {
    return context.SetOutput(0, context.input_dtype(0), std::nullopt);
  }
  SymbolicShape shape = {rois->front(), (*x)[1], Dim(), Dim()};
  const std::optional<std::vector<Dim>> size = context.input_elements(3);
  if (size && size->size() == 2) {
    shape[2] = (*size)[0];
    shape[3] = (*size)[1];
  }
  return context.SetOutput(0, context.input_dtype(0), std::move(shape));
}

// Where sample `index` of `count` falls on an axis of `size` places between two corners of [0, 1].
double PlaceOf(int64_t index, int64_t count, double begin, double end, int64_t size) {
  const auto last = static_cast<double>(size - 1);
  if (count == 1) return 0.5 * (begin + end) * last;
  return begin * last +
         static_cast<double>(index) * (end - begin) * last / static_cast<double>(count - 1);
}

// One channel [height, width] of a picture.
template <typename T>
double Sample(std::span<const T> channel, int64_t height, int64_t width, double y, double x,
              bool nearest) {
  const auto at = [&](double row, double column) {
    return static_cast<double>(channel[static_cast<size_t>(row) * static_cast<size_t>(width) +
                                       static_cast<size_t>(column)]);
  };
  if (nearest) return at(std::round(y), std::round(x));
  const double top = std::floor(y);
  const double left = std::floor(x);
  const double bottom = std::min(top + 1, static_cast<double>(height - 1));
  const double right = std::min(left + 1, static_cast<double>(width - 1));
  const double above = at(top, left) + (at(top, right) - at(top, left)) * (x - left);
  const double below = at(bottom, left) + (at(bottom, right) - at(bottom, left)) * (x - left);
  return above + (below - above) * (y - top);
}

struct Crop {
  int64_t picture = 0;
  double box[4] = {};  // top, left, bottom, right
};

template <typename T>
void CropOne(const Crop& crop, const Tensor& x, bool nearest, double outside, int64_t at,
             const MutableTensorView& out) {
  const Shape& shape = x.shape();
  const int64_t height = shape[2];
  const int64_t width = shape[3];
  auto to = out.as<T>().begin() + at * out.shape.Product(1, 4);
  for (int64_t c = 0; c < shape[1]; ++c) {
    const auto channel =
        x.data<T>().subspan(static_cast<size_t>((crop.picture * shape[1] + c) * height * width),
                            static_cast<size_t>(height * width));
    for (int64_t i = 0; i < out.shape[2]; ++i) {
      const double row = PlaceOf(i, out.shape[2], crop.box[0], crop.box[2], height);
      for (int64_t j = 0; j < out.shape[3]; ++j) {
        const double column = PlaceOf(j, out.shape[3], crop.box[1], crop.box[3], width);
        const bool inside = row >= 0 && row <= static_cast<double>(height - 1) && column >= 0 &&
                            column <= static_cast<double>(width - 1);
        *to++ = static_cast<T>(inside ? Sample<T>(channel, height, width, row, column, nearest)
                                      : outside);
      }
    }
  }
}

Result<std::vector<Crop>> ReadCrops(EvalContext& context, int64_t pictures) {
  KHEYA_ASSIGN_OR_RETURN(const Tensor rois, WideInput(context, 1));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> indices, IntListInput(context, 2));
  const Shape expected{static_cast<int64_t>(indices.size()), 4};
  if (rois.shape() != expected) {
    return InvalidArgumentError("found rois {}, expected {}", rois.shape().ToString(),
                                expected.ToString());
  }
  std::vector<Crop> crops;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] < 0 || indices[i] >= pictures) {
      return InvalidArgumentError("found batch index {}, expected one in [0, {})", indices[i],
                                  pictures);
    }
    crops.push_back({indices[i]});
    for (size_t k = 0; k < 4; ++k) {
      crops.back().box[k] = rois.dtype() == DType::kFloat64
                                ? rois.data<double>()[4 * i + k]
                                : static_cast<double>(rois.data<float>()[4 * i + k]);
    }
  }
  return crops;
}

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Tensor x, WideInput(context, 0));
  if (x.shape().rank() != 4) {
    return InvalidArgumentError("found X {}, expected rank 4", x.shape().ToString());
  }
  const std::string mode = context.attributes().String("mode", "bilinear");
  if (mode != "bilinear" && mode != "nearest") {
    return InvalidArgumentError("found mode '{}', expected 'bilinear' or 'nearest'", mode);
  }
  KHEYA_ASSIGN_OR_RETURN(const std::vector<Crop> crops, ReadCrops(context, x.shape()[0]));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> size, IntListInput(context, 3));
  if (size.size() != 2) {
    return InvalidArgumentError("found a crop_size of {} elements, expected 2", size.size());
  }
  KHEYA_ASSIGN_OR_RETURN(const Shape shape,
                         Shape::Create(std::vector{static_cast<int64_t>(crops.size()), x.shape()[1],
                                                   size[0], size[1]}));
  KHEYA_ASSIGN_OR_RETURN(WideOutput y,
                         WideOutput::Create(context, 0, context.input(0).dtype(), shape));
  const double outside = context.attributes().Float("extrapolation_value", 0.0f);
  for (size_t i = 0; i < crops.size(); ++i) {
    KHEYA_RETURN_IF_ERROR(context.CheckAlive());
    const auto at = static_cast<int64_t>(i);
    if (x.dtype() == DType::kFloat64) {
      CropOne<double>(crops[i], x, mode == "nearest", outside, at, y.view());
    } else {
      CropOne<float>(crops[i], x, mode == "nearest", outside, at, y.view());
    }
  }
  return y.Finish();
}

}  // namespace

extern const OpDef kCropAndResizeOp;
const OpDef kCropAndResizeOp = {.domain = kMicrosoftDomain,
                                .name = "CropAndResize",
                                .category = "pictures",
                                .inputs = kInputs,
                                .outputs = kOutputs,
                                .attributes = kAttributes,
                                .infer = Infer,
                                .evaluate = Evaluate};

}  // namespace kheya
