// GridSample and AffineGrid.
#include <array>
#include <vector>

#include "kernels/reference/grid.h"
#include "ops/axes.h"
#include "ops/op.h"
#include "ops/wide.h"

namespace kheya {
namespace {

constexpr TypeMask kSampled = types::kNumeric | types::kBool;
constexpr ParamDef kInputs[] = {{"X", kSampled, 'T'}, {"grid", types::kFloat}};
constexpr ParamDef kOutputs[] = {{"Y", kSampled, 'T'}};
constexpr AttributeDef kAttributes[] = {{"align_corners", AttributeKind::kInt},
                                        {"mode", AttributeKind::kString},
                                        {"padding_mode", AttributeKind::kString}};
constexpr ParamDef kAffineInputs[] = {{"theta", types::kFloat, 'T'}, {"size", types::kInt64}};
constexpr ParamDef kAffineOutputs[] = {{"grid", types::kFloat, 'T'}};
constexpr AttributeDef kAffineAttributes[] = {{"align_corners", AttributeKind::kInt}};

Status Infer(InferContext& context) {
  const SymbolicShape* x = context.input_shape(0);
  const SymbolicShape* grid = context.input_shape(1);
  std::optional<SymbolicShape> shape;
  if (grid != nullptr && grid->size() >= 3) {
    shape = SymbolicShape{(*grid)[0], Dim()};
    if (x != nullptr && x->size() >= 2) {
      (*shape)[1] = (*x)[1];
      if ((*x)[0].known()) (*shape)[0] = (*x)[0];
    }
    shape->insert(shape->end(), grid->begin() + 1, grid->end() - 1);
  }
  return context.SetOutput(0, context.input_dtype(0), std::move(shape));
}

Result<kernels::GridParams> ParamsOf(const AttributeReader& attributes) {
  kernels::GridParams params;
  params.align_corners = attributes.Int("align_corners", 0) != 0;
  const std::string mode = attributes.String("mode", "linear");
  const std::string padding = attributes.String("padding_mode", "zeros");
  if (mode == "nearest") {
    params.mode = kernels::GridMode::kNearest;
  } else if (mode == "cubic") {
    params.mode = kernels::GridMode::kCubic;
  } else if (mode != "linear") {
    return InvalidArgumentError("found mode '{}', expected linear, nearest or cubic", mode);
  }
  if (padding == "border") {
    params.padding = kernels::GridPadding::kBorder;
  } else if (padding == "reflection") {
    params.padding = kernels::GridPadding::kReflection;
  } else if (padding != "zeros") {
    return InvalidArgumentError("found padding_mode '{}', expected zeros, border or reflection",
                                padding);
  }
  return params;
}

Status Evaluate(EvalContext& context) {
  const Tensor& x = context.input(0);
  const Tensor& grid = context.input(1);
  const Shape& in = x.shape();
  const Shape& places = grid.shape();
  const bool fits = in.rank() >= 3 && places.rank() == in.rank() && places[0] == in[0] &&
                    places[places.rank() - 1] == in.rank() - 2;
  if (!fits) {
    return InvalidArgumentError("found X {} and grid {}, expected [N,C,...] and [N,...,{}]",
                                in.ToString(), places.ToString(), in.rank() - 2);
  }
  KHEYA_ASSIGN_OR_RETURN(const kernels::GridParams params, ParamsOf(context.attributes()));
  std::vector<int64_t> dims = {in[0], in[1]};
  dims.insert(dims.end(), places.begin() + 1, places.end() - 1);
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(dims));
  if (shape.num_elements() > 0 && in.num_elements() == 0) {
    return InvalidArgumentError("found no pixels in X {}", in.ToString());
  }
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView y, context.Output(0, x.dtype(), shape));
  return kernels::GridSample(params, x.view(), grid.view(), y);
}

Status InferAffine(InferContext& context) {
  const std::optional<std::vector<Dim>> size = context.input_elements(1);
  std::optional<SymbolicShape> shape;
  if (size && size->size() >= 4) {
    shape = SymbolicShape{(*size)[0]};
    shape->insert(shape->end(), size->begin() + 2, size->end());
    shape->emplace_back(static_cast<int64_t>(size->size()) - 2);
  }
  return context.SetOutput(0, context.input_dtype(0), std::move(shape));
}

Status EvaluateAffine(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Tensor theta, WideInput(context, 0));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> size, IntListInput(context, 1));
  const auto axes = static_cast<int64_t>(size.size()) - 2;
  if (axes != 2 && axes != 3) {
    return InvalidArgumentError("found a size of {} elements, expected 4 or 5", size.size());
  }
  if (theta.shape() != Shape{std::max<int64_t>(size[0], 0), axes, axes + 1}) {
    return InvalidArgumentError("found theta {}, expected [{},{},{}]", theta.shape().ToString(),
                                size[0], axes, axes + 1);
  }
  std::vector<int64_t> dims = {size[0]};
  dims.insert(dims.end(), size.begin() + 2, size.end());
  dims.push_back(axes);
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(dims));
  KHEYA_ASSIGN_OR_RETURN(WideOutput grid,
                         WideOutput::Create(context, 0, context.input(0).dtype(), shape));
  const bool align_corners = context.attributes().Int("align_corners", 0) != 0;
  KHEYA_RETURN_IF_ERROR(kernels::AffineGrid(align_corners, theta.view(), grid.view()));
  return grid.Finish();
}

}  // namespace

extern const OpDef kAffineGridOp;
const OpDef kAffineGridOp = {.domain = "",
                             .name = "AffineGrid",
                             .category = "pictures",
                             .inputs = kAffineInputs,
                             .outputs = kAffineOutputs,
                             .attributes = kAffineAttributes,
                             .infer = InferAffine,
                             .evaluate = EvaluateAffine};

extern const OpDef kGridSampleOp;
const OpDef kGridSampleOp = {.domain = "",
                             .name = "GridSample",
                             .category = "pictures",
                             .inputs = kInputs,
                             .outputs = kOutputs,
                             .attributes = kAttributes,
                             .infer = Infer,
                             .evaluate = Evaluate};

}  // namespace kheya
