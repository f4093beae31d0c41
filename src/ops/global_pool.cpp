// GlobalAveragePool, GlobalLpPool, GlobalMaxPool: a window as large as all spatial axes together.
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
constexpr AttributeDef kLpAttributes[] = {{"p", AttributeKind::kInt}};

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

template <kernels::PoolKind kind>
Status Evaluate(EvalContext& context) {
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
  params.p = context.attributes().Int("p", 2);
  if (params.p < 1) return InvalidArgumentError("found p of {}, expected 1 or more", params.p);
  params.window.rank = 1;
  params.window.kernel[kernels::kSpatialAxes - 1] = plane;
  KHEYA_ASSIGN_OR_RETURN(Shape flat_in, Shape::Create(std::array{in[0], in[1], plane}));
  KHEYA_ASSIGN_OR_RETURN(Shape flat_out, Shape::Create(std::array<int64_t, 3>{in[0], in[1], 1}));
  KHEYA_RETURN_IF_ERROR(kernels::Pool(params, {y.view().dtype, flat_in, x.view().data},
                                      {y.view().dtype, flat_out, y.view().data}));
  return y.Finish();
}

constexpr OpDef Op(const char* name, std::span<const AttributeDef> attributes,
                   Status (*evaluate)(EvalContext&)) {
  return {.domain = "",
          .name = name,
          .category = "convolution and pooling",
          .inputs = kInputs,
          .outputs = kOutputs,
          .attributes = attributes,
          .infer = Infer,
          .evaluate = evaluate};
}

}  // namespace

extern const OpDef kGlobalAveragePoolOp;
const OpDef kGlobalAveragePoolOp =
    Op("GlobalAveragePool", {}, Evaluate<kernels::PoolKind::kAverage>);
extern const OpDef kGlobalLpPoolOp;
const OpDef kGlobalLpPoolOp = Op("GlobalLpPool", kLpAttributes, Evaluate<kernels::PoolKind::kLp>);
extern const OpDef kGlobalMaxPoolOp;
const OpDef kGlobalMaxPoolOp = Op("GlobalMaxPool", {}, Evaluate<kernels::PoolKind::kMax>);

}  // namespace kheya
