// GlobalAveragePool, GlobalMaxPool: a window as large as all spatial axes together.
#include <array>
#include <vector>

#include "kernels/reference/pool.h"
#include "ops/axes.h"
#include "ops/op.h"
#include "ops/wide.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"X", types::kFloat, 'T'}};
constexpr ParamDef kOutputs[] = {{"Y", types::kFloat, 'T'}};

Status Infer(InferContext& context) {
  std::optional<SymbolicShape> shape = ShapeOrNull(context, 0);
  if (shape) {
    if (shape->size() < 2) {
      return InvalidArgumentError("found input {}, expected rank 2 or more", ToString(*shape));
    }
    for (size_t i = 2; i < shape->size(); ++i) (*shape)[i] = 1;
  }
  return context.SetOutput(0, context.input_dtype(0), std::move(shape));
}

Status EvaluateGlobal(EvalContext& context, kernels::PoolKind kind) {
  KHEYA_ASSIGN_OR_RETURN(Tensor x, WideInput(context, 0));
  const Shape& in = x.shape();
  if (in.rank() < 2) {
    return InvalidArgumentError("found input {}, expected rank 2 or more", in.ToString());
  }
  std::vector<int64_t> dims(in.begin(), in.end());
  for (size_t i = 2; i < dims.size(); ++i) dims[i] = 1;
  KHEYA_ASSIGN_OR_RETURN(Shape out, Shape::Create(dims));
  KHEYA_ASSIGN_OR_RETURN(WideOutput y,
                         WideOutput::Create(context, 0, context.input(0).dtype(), out));
  // All spatial axes as one; an empty plane has the maximum -inf and the average 0.
  const int64_t plane = in.Product(2, in.rank());
  kernels::PoolParams params;
  params.kind = kind;
  params.window.rank = 1;
  params.window.kernel[kernels::kSpatialAxes - 1] = plane;
  KHEYA_ASSIGN_OR_RETURN(Shape flat_in, Shape::Create(std::array{in[0], in[1], plane}));
  KHEYA_ASSIGN_OR_RETURN(Shape flat_out, Shape::Create(std::array<int64_t, 3>{in[0], in[1], 1}));
  KHEYA_RETURN_IF_ERROR(kernels::Pool(params, {y.view().dtype, flat_in, x.view().data},
                                      {y.view().dtype, flat_out, y.view().data}));
  return y.Finish();
}

Status EvaluateAverage(EvalContext& context) {
  return EvaluateGlobal(context, kernels::PoolKind::kAverage);
}
Status EvaluateMax(EvalContext& context) {
  return EvaluateGlobal(context, kernels::PoolKind::kMax);
}

}  // namespace

extern const OpDef kGlobalAveragePoolOp;
const OpDef kGlobalAveragePoolOp = {.domain = "",
                                    .name = "GlobalAveragePool",
                                    .category = "convolution and pooling",
                                    .inputs = kInputs,
                                    .outputs = kOutputs,
                                    .attributes = {},
                                    .infer = Infer,
                                    .evaluate = EvaluateAverage};

extern const OpDef kGlobalMaxPoolOp;
const OpDef kGlobalMaxPoolOp = {.domain = "",
                                .name = "GlobalMaxPool",
                                .category = "convolution and pooling",
                                .inputs = kInputs,
                                .outputs = kOutputs,
                                .attributes = {},
                                .infer = Infer,
                                .evaluate = EvaluateMax};

}  // namespace kheya
