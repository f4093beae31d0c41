#include <vector>

#include "base/checked_math.h"
#include "kernels/reference/movement.h"
#include "ops/axes.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"input", types::kEvery, 'T'}, {"repeats", types::kInt64}};
constexpr ParamDef kOutputs[] = {{"output", types::kEvery, 'T'}};

Status CheckCount(size_t repeats, size_t rank) {
  if (repeats == rank) return OkStatus();
  return InvalidArgumentError("found {} repeats, the input has rank {}", repeats, rank);
}

Status Infer(InferContext& context) {
  std::optional<SymbolicShape> shape = ShapeOrNull(context, 0);
  const std::optional<std::vector<Dim>> repeats = context.input_elements(1);
  if (shape && repeats) KHEYA_RETURN_IF_ERROR(CheckCount(repeats->size(), shape->size()));
  for (size_t i = 0; shape && i < shape->size(); ++i) {
    (*shape)[i] = repeats ? (*shape)[i] * (*repeats)[i] : Dim();
  }
  return context.SetOutput(0, context.input_dtype(0), std::move(shape));
}

Status Evaluate(EvalContext& context) {
  const Tensor& input = context.input(0);
  const Shape& in = input.shape();
  KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> repeats, IntListInput(context, 1));
  KHEYA_RETURN_IF_ERROR(CheckCount(repeats.size(), in.rank()));
  // The output read as [repeat, size, repeat, size, ...], the repeats without stride.
  const auto strides = StridesOf(in);
  kernels::StridedRead read;
  std::vector<int64_t> dims;
  for (int axis = 0; axis < in.rank(); ++axis) {
    int64_t size = 0;
    if (repeats[axis] < 0 || !CheckedMul(in[axis], repeats[axis], &size)) {
      return InvalidArgumentError("found {} repeats of axis {} of {}, expected a size that fits",
                                  repeats[axis], axis, in.ToString());
    }
    dims.push_back(size);
    read.dims.insert(read.dims.end(), {repeats[axis], in[axis]});
    read.strides.insert(read.strides.end(), {0, strides[axis]});
  }
  KHEYA_ASSIGN_OR_RETURN(Shape shape, Shape::Create(dims));
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView out, context.Output(0, input.dtype(), shape));
  return kernels::CopyStrided(read, input.view(), out);
}

}  // namespace

extern const OpDef kTileOp;
const OpDef kTileOp = {.domain = "",
                       .name = "Tile",
                       .category = "shape",
                       .inputs = kInputs,
                       .outputs = kOutputs,
                       .attributes = {},
                       .infer = Infer,
                       .evaluate = Evaluate};

}  // namespace kheya
