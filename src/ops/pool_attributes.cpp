#include "ops/pool_attributes.h"

#include <vector>

#include "kernels/reference/pool.h"
#include "ops/axes.h"
#include "ops/wide.h"
#include "ops/window_attributes.h"

namespace kheya {
namespace {

Result<WindowAttributes> ReadPoolWindow(const AttributeReader& attributes, int rank) {
  if (rank < 3) return InvalidArgumentError("found an input of rank {}, expected 3 or more", rank);
  const std::vector<int64_t> kernel = attributes.Ints("kernel_shape");
  if (kernel.empty()) return InvalidArgumentError("found no kernel_shape");
  return ReadWindow(attributes, rank - 2, kernel);
}

}  // namespace

Result<kernels::PoolParams> ReadPool(const AttributeReader& attributes, kernels::PoolKind kind,
                                     const Shape& x) {
  KHEYA_ASSIGN_OR_RETURN(WindowAttributes window, ReadPoolWindow(attributes, x.rank()));
  kernels::PoolParams params;
  params.kind = kind;
  params.ceil_mode = attributes.Int("ceil_mode", 0) != 0;
  params.count_include_pad = attributes.Int("count_include_pad", 0) != 0;
  params.p = attributes.Int("p", 2);
  if (params.p < 1) return InvalidArgumentError("found p of {}, expected at least 1", params.p);
  KHEYA_ASSIGN_OR_RETURN(params.window, ResolveWindow(window, kernels::SpatialOf(x, 2)));
  return params;
}

Result<std::optional<SymbolicShape>> InferPoolShape(InferContext& context) {
  const SymbolicShape* x = context.input_shape(0);
  if (x == nullptr) return std::optional<SymbolicShape>();
  KHEYA_ASSIGN_OR_RETURN(WindowAttributes window,
                         ReadPoolWindow(context.attributes(), static_cast<int>(x->size())));
  const bool ceil = context.attributes().Int("ceil_mode", 0) != 0;
  KHEYA_ASSIGN_OR_RETURN(SymbolicShape shape, SymbolicWindowShape(window, *x, (*x)[1], ceil));
  return std::optional(std::move(shape));
}

Status InferPool(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(std::optional<SymbolicShape> shape, InferPoolShape(context));
  return context.SetOutput(0, context.input_dtype(0), std::move(shape));
}

Status EvaluatePool(EvalContext& context, kernels::PoolKind kind) {
  KHEYA_ASSIGN_OR_RETURN(Tensor x, WideInput(context, 0));
  KHEYA_ASSIGN_OR_RETURN(kernels::PoolParams params,
                         ReadPool(context.attributes(), kind, x.shape()));
  KHEYA_ASSIGN_OR_RETURN(Shape shape, kernels::PoolOutputShape(params, x.shape()));
  KHEYA_ASSIGN_OR_RETURN(WideOutput y,
                         WideOutput::Create(context, 0, context.input(0).dtype(), shape));
  KHEYA_RETURN_IF_ERROR(kernels::Pool(params, x.view(), y.view()));
  return y.Finish();
}

}  // namespace kheya
