#include <numeric>
#include <vector>

#include "kernels/reference/movement.h"
#include "ops/axes.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"input_data", types::kEvery, 'T'}, {"shape", types::kIndex}};
constexpr ParamDef kOutputs[] = {{"output_data", types::kEvery, 'T'}};
constexpr AttributeDef kAttributes[] = {{"axes", AttributeKind::kInts}};

Result<std::vector<int>> AxesOf(const AttributeReader& attributes, int rank) {
  if (attributes.Has("axes")) return NormalizeAxes(attributes.Ints("axes"), rank);
  std::vector<int> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

Status CheckCount(size_t found, size_t expected) {
  if (found == expected) return OkStatus();
  return InvalidArgumentError("found {} sizes in shape, expected one for each of {} axes", found,
                              expected);
}

Status Infer(InferContext& context) {
  std::optional<SymbolicShape> shape = ShapeOrNull(context, 0);
  if (shape) {
    KHEYA_ASSIGN_OR_RETURN(const std::vector<int> axes,
                           AxesOf(context.attributes(), static_cast<int>(shape->size())));
    const std::optional<std::vector<Dim>> sizes = context.input_elements(1);
    if (sizes) KHEYA_RETURN_IF_ERROR(CheckCount(sizes->size(), axes.size()));
    for (size_t i = 0; i < axes.size(); ++i) {
      (*shape)[axes[i]] = sizes ? (*sizes)[i] : Dim();
    }
  }
  return context.SetOutput(0, context.input_dtype(0), std::move(shape));
}

// For each place of the result the one it is read from, -1 for padding. What is left over in the
// middle goes to the end.
std::vector<int64_t> Places(int64_t in, int64_t out) {
  const int64_t start = in >= out ? (in - out) / 2 : -((out - in) / 2);
  std::vector<int64_t> places(static_cast<size_t>(out));
  for (int64_t i = 0; i < out; ++i) {
    places[i] = start + i >= 0 && start + i < in ? start + i : -1;
  }
  return places;
}

Status Evaluate(EvalContext& context) {
  const Tensor& input = context.input(0);
  const Shape& in = input.shape();
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int> axes, AxesOf(context.attributes(), in.rank()));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, IntListInput(context, 1));
  KHEYA_RETURN_IF_ERROR(CheckCount(sizes.size(), axes.size()));
  std::vector<int64_t> dims(in.begin(), in.end());
  for (size_t i = 0; i < axes.size(); ++i) dims[axes[i]] = sizes[i];
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(dims));
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView out, context.Output(0, input.dtype(), shape));
  if (shape.num_elements() == 0) return OkStatus();
  std::vector<std::vector<int64_t>> maps;
  for (int axis = 0; axis < in.rank(); ++axis) maps.push_back(Places(in[axis], shape[axis]));
  KHEYA_ASSIGN_OR_RETURN(const Tensor zero, Tensor::Zeros(input.dtype(), Shape{}));
  return kernels::CopyMapped(maps, input.view(), zero.view(), out);
}

}  // namespace

extern const OpDef kCenterCropPadOp;
const OpDef kCenterCropPadOp = {.domain = "",
                                .name = "CenterCropPad",
                                .category = "shape",
                                .inputs = kInputs,
                                .outputs = kOutputs,
                                .attributes = kAttributes,
                                .infer = Infer,
                                .evaluate = Evaluate};

}  // namespace kheya
