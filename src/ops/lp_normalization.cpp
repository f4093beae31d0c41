#include "kernels/reference/norm.h"
#include "ops/axes.h"
#include "ops/infer_util.h"
#include "ops/one_axis.h"
#include "ops/op.h"
#include "ops/wide.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"input", types::kFloat, 'T'}};
constexpr ParamDef kOutputs[] = {{"output", types::kFloat, 'T'}};
constexpr AttributeDef kAttributes[] = {{"axis", AttributeKind::kInt}, {"p", AttributeKind::kInt}};

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Tensor x, WideInput(context, 0));
  const int64_t p = context.attributes().Int("p", 2);
  if (p != 1 && p != 2) return InvalidArgumentError("found p of {}, expected 1 or 2", p);
  KHEYA_ASSIGN_OR_RETURN(const int axis,
                         NormalizeAxis(context.attributes().Int("axis", -1), x.shape().rank()));
  KHEYA_ASSIGN_OR_RETURN(WideOutput y,
                         WideOutput::Create(context, 0, context.input(0).dtype(), x.shape()));
  KHEYA_RETURN_IF_ERROR(
      kernels::DivideByNorm(p == 1, RowsAlong(x.shape(), axis), x.view(), y.view()));
  return y.Finish();
}

}  // namespace

extern const OpDef kLpNormalizationOp;
const OpDef kLpNormalizationOp = {.domain = "",
                                  .name = "LpNormalization",
                                  .category = "normalization",
                                  .inputs = kInputs,
                                  .outputs = kOutputs,
                                  .attributes = kAttributes,
                                  .infer = InferSameType,
                                  .evaluate = Evaluate};

}  // namespace kheya
