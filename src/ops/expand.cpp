#include <algorithm>
#include <vector>

#include "kernels/reference/movement.h"
#include "ops/axes.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"input", types::kEvery, 'T'}, {"shape", types::kInt64}};
constexpr ParamDef kOutputs[] = {{"output", types::kEvery, 'T'}};

// A list of one element made longer keeps its element.
void ExpandElements(InferContext& context, const Dim& length) {
  const std::optional<std::vector<Dim>> elements = context.input_elements(0);
  if (!elements || !length.known() || length.value() < 0 ||
      length.value() > kMaxPropagatedElements) {
    return;
  }
  const size_t count = static_cast<size_t>(length.value());
  if (elements->size() == count) context.SetOutputElements(0, *elements);
  if (elements->size() == 1) {
    context.SetOutputElements(0, std::vector<Dim>(count, elements->front()));
  }
}

Status Infer(InferContext& context) {
  const DType dtype = context.input_dtype(0);
  const SymbolicShape* input = context.input_shape(0);
  const std::optional<std::vector<Dim>> wanted = context.input_elements(1);
  if (input == nullptr || !wanted) return context.SetOutput(0, dtype, std::nullopt);
  KHEYA_ASSIGN_OR_RETURN(SymbolicShape shape, BroadcastShapes(*input, *wanted));
  const bool list = shape.size() == 1;
  const Dim length = list ? shape[0] : Dim();
  KHEYA_RETURN_IF_ERROR(context.SetOutput(0, dtype, std::move(shape)));
  if (list) ExpandElements(context, length);
  return OkStatus();
}

Status Evaluate(EvalContext& context) {
  const Tensor& input = context.input(0);
  KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> wanted, IntListInput(context, 1));
  KHEYA_ASSIGN_OR_RETURN(Shape target, Shape::Create(wanted));
  KHEYA_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(input.shape(), target));
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView out, context.Output(0, input.dtype(), shape));
  const auto strides = StridesOf(input.shape());
  const int skipped = shape.rank() - input.shape().rank();
  kernels::StridedRead read;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int from = axis - skipped;
    read.dims.push_back(shape[axis]);
    read.strides.push_back(from < 0 || input.shape()[from] == 1 ? 0 : strides[from]);
  }
  return kernels::CopyStrided(read, input.view(), out);
}

}  // namespace

extern const OpDef kExpandOp;
const OpDef kExpandOp = {.domain = "",
                         .name = "Expand",
                         .category = "shape",
                         .inputs = kInputs,
                         .outputs = kOutputs,
                         .attributes = {},
                         .infer = Infer,
                         .evaluate = Evaluate};

}  // namespace kheya
