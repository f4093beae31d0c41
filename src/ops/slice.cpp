#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/reference/movement.h"
#include "ops/axes.h"
#include "ops/op.h"
#include "ops/slice_axes.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"data", types::kEvery, 'T'},
                                {"starts", types::kIndex, 'I'},
                                {"ends", types::kIndex, 'I'},
                                {"axes", types::kIndex, 'I', Presence::kOptional},
                                {"steps", types::kIndex, 'I', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"output", types::kEvery, 'T'}};

// `axes` left out: the first ones.
std::vector<int64_t> DefaultAxes(size_t count) {
  std::vector<int64_t> axes(count);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

// One bound of a slice along an axis of symbolic size; unknown when it cannot be told. Bounds that
// are symbolic or count from an end are taken to lie within the axis.
Dim SymbolicBound(const Dim& bound, const Dim& size) {
  if (!bound.known()) return bound;
  if (size.known()) {
    const int64_t at = bound.value() < 0 ? bound.value() + size.value() : bound.value();
    return std::clamp<int64_t>(at, 0, size.value());
  }
  if (bound.value() >= std::numeric_limits<int32_t>::max()) return size;
  if (bound.value() <= std::numeric_limits<int32_t>::min()) return 0;
  return bound.value() < 0 ? size + bound : bound;
}

Result<Dim> SlicedDim(const Dim& start, const Dim& end, const Dim& step, const Dim& size) {
  if (!step.known()) return Dim();
  if (step.value() == 0) return InvalidArgumentError("found a step of 0, expected another");
  if (start.known() && end.known() && size.known()) {
    KHEYA_ASSIGN_OR_RETURN(AxisSlice slice,
                           SliceAxis(start.value(), end.value(), step.value(), size.value()));
    return Dim(slice.count);
  }
  if (step.value() < 0) {
    const bool reversed = step.value() == -1 && start.known() && start.value() == -1 &&
                          end.known() && end.value() <= std::numeric_limits<int32_t>::min();
    return reversed ? size : Dim();
  }
  // A size that is not known may end before a known end does; it is taken to be at least 1.
  const bool may_end =
      end.known() && end.value() > 1 && end.value() < std::numeric_limits<int32_t>::max();
  if (may_end && start.known() && start.value() >= 0 && !size.known()) return Dim();
  const Dim width = SymbolicBound(end, size) - SymbolicBound(start, size);
  if (width.known() && width.value() <= 0) return Dim();
  return width.CeilDiv(step);
}

struct SymbolicSlices {
  std::vector<Dim> starts, ends, steps;
  std::vector<int> axes;
};

// nullopt when starts, ends or axes are not known as lists.
Result<std::optional<SymbolicSlices>> ReadSymbolic(const InferContext& context, int rank) {
  const auto starts = context.input_elements(1);
  const auto ends = context.input_elements(2);
  if (!starts || !ends) return std::optional<SymbolicSlices>();
  SymbolicSlices slices = {*starts, *ends, std::vector<Dim>(starts->size(), Dim(1)), {}};
  std::vector<int64_t> axes = DefaultAxes(starts->size());
  if (context.has_input(3)) {
    const auto known = KnownElements(context, 3);
    if (!known) return std::optional<SymbolicSlices>();
    axes = *known;
  }
  if (context.has_input(4)) {
    const auto steps = context.input_elements(4);
    if (!steps) return std::optional<SymbolicSlices>();
    slices.steps = *steps;
  }
  KHEYA_ASSIGN_OR_RETURN(slices.axes, NormalizeAxes(axes, rank));
  if (ends->size() != starts->size() || axes.size() != starts->size() ||
      slices.steps.size() != starts->size()) {
    return InvalidArgumentError("found {} starts, {} ends, {} axes and {} steps, expected as many",
                                starts->size(), ends->size(), axes.size(), slices.steps.size());
  }
  return std::optional(std::move(slices));
}

// Elements of a list of which `slices` takes a part.
Status SliceElements(InferContext& context, const SymbolicSlices& slices) {
  const std::optional<std::vector<Dim>> elements = context.input_elements(0);
  if (!elements || slices.axes.size() != 1 || !slices.starts[0].known() ||
      !slices.ends[0].known() || !slices.steps[0].known()) {
    return OkStatus();
  }
  KHEYA_ASSIGN_OR_RETURN(
      AxisSlice slice, SliceAxis(slices.starts[0].value(), slices.ends[0].value(),
                                 slices.steps[0].value(), static_cast<int64_t>(elements->size())));
  std::vector<Dim> taken;
  for (int64_t i = 0; i < slice.count; ++i) {
    taken.push_back((*elements)[slice.start + i * slice.step]);
  }
  context.SetOutputElements(0, std::move(taken));
  return OkStatus();
}

Status Infer(InferContext& context) {
  const DType dtype = context.input_dtype(0);
  std::optional<SymbolicShape> shape = ShapeOrNull(context, 0);
  if (!shape) return context.SetOutput(0, dtype, std::nullopt);
  const int rank = static_cast<int>(shape->size());
  KHEYA_ASSIGN_OR_RETURN(std::optional<SymbolicSlices> slices, ReadSymbolic(context, rank));
  if (!slices) return context.SetOutput(0, dtype, UnknownDims(rank));
  for (size_t i = 0; i < slices->axes.size(); ++i) {
    Dim& dim = (*shape)[slices->axes[i]];
    KHEYA_ASSIGN_OR_RETURN(dim,
                           SlicedDim(slices->starts[i], slices->ends[i], slices->steps[i], dim));
  }
  KHEYA_RETURN_IF_ERROR(context.SetOutput(0, dtype, std::move(shape)));
  return rank == 1 ? SliceElements(context, *slices) : OkStatus();
}

Result<std::vector<AxisSlice>> ReadSlices(const EvalContext& context, const Shape& shape) {
  KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> starts, IntListInput(context, 1));
  KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> ends, IntListInput(context, 2));
  std::vector<int64_t> axes = DefaultAxes(starts.size());
  if (context.has_input(3)) {
    KHEYA_ASSIGN_OR_RETURN(axes, IntListInput(context, 3));
  }
  std::vector<int64_t> steps(starts.size(), 1);
  if (context.has_input(4)) {
    KHEYA_ASSIGN_OR_RETURN(steps, IntListInput(context, 4));
  }
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    return InvalidArgumentError("found {} starts, {} ends, {} axes and {} steps, expected as many",
                                starts.size(), ends.size(), axes.size(), steps.size());
  }
  KHEYA_ASSIGN_OR_RETURN(std::vector<int> sliced, NormalizeAxes(axes, shape.rank()));
  std::vector<AxisSlice> slices;
  for (int64_t dim : shape) slices.push_back({0, 1, dim});
  for (size_t i = 0; i < sliced.size(); ++i) {
    KHEYA_ASSIGN_OR_RETURN(slices[sliced[i]],
                           SliceAxis(starts[i], ends[i], steps[i], shape[sliced[i]]));
  }
  return slices;
}

Status Evaluate(EvalContext& context) {
  const Tensor& data = context.input(0);
  KHEYA_ASSIGN_OR_RETURN(std::vector<AxisSlice> slices, ReadSlices(context, data.shape()));
  const auto strides = StridesOf(data.shape());
  kernels::StridedRead read;
  for (size_t axis = 0; axis < slices.size(); ++axis) {
    const AxisSlice& slice = slices[axis];
    // A step that is not used may be too large to multiply.
    const int64_t step = slice.count > 1 ? slice.step : 0;
    read.dims.push_back(slice.count);
    read.strides.push_back(step * strides[axis]);
    if (slice.count > 0) read.offset += slice.start * strides[axis];
  }
  KHEYA_ASSIGN_OR_RETURN(Shape shape, Shape::Create(read.dims));
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView out, context.Output(0, data.dtype(), shape));
  return kernels::CopyStrided(read, data.view(), out);
}

}  // namespace

extern const OpDef kSliceOp;
const OpDef kSliceOp = {.domain = "",
                        .name = "Slice",
                        .category = "shape",
                        .inputs = kInputs,
                        .outputs = kOutputs,
                        .attributes = {},
                        .infer = Infer,
                        .evaluate = Evaluate};

}  // namespace kheya
