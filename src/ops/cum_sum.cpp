// CumSum and CumProd.
#include "kernels/reference/reduce.h"
#include "ops/axes.h"
#include "ops/infer_util.h"
#include "ops/one_axis.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr TypeMask kTypes =
    types::kFloat | MaskOf({DType::kInt32, DType::kInt64, DType::kUint32, DType::kUint64});
constexpr ParamDef kInputs[] = {{"x", kTypes, 'T'}, {"axis", types::kIndex}};
constexpr ParamDef kOutputs[] = {{"y", kTypes, 'T'}};
constexpr AttributeDef kAttributes[] = {{"exclusive", AttributeKind::kInt},
                                        {"reverse", AttributeKind::kInt}};

template <kernels::Running what>
Status Evaluate(EvalContext& context) {
  const Tensor& x = context.input(0);
  KHEYA_ASSIGN_OR_RETURN(int64_t wanted, IntScalarInput(context, 1));
  KHEYA_ASSIGN_OR_RETURN(int axis, NormalizeAxis(wanted, x.shape().rank()));
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView y, context.Output(0, x.dtype(), x.shape()));
  const kernels::RunningParams params = {what, context.attributes().Int("exclusive", 0) != 0,
                                         context.attributes().Int("reverse", 0) != 0};
  return kernels::RunAlong(params, RowsAlong(x.shape(), axis), x.view(), y);
}

constexpr OpDef Op(const char* name, Status (*evaluate)(EvalContext&)) {
  return {.domain = "",
          .name = name,
          .category = "reduction",
          .inputs = kInputs,
          .outputs = kOutputs,
          .attributes = kAttributes,
          .infer = InferSameType,
          .evaluate = evaluate};
}

}  // namespace

extern const OpDef kCumProdOp;
const OpDef kCumProdOp = Op("CumProd", Evaluate<kernels::Running::kProduct>);
extern const OpDef kCumSumOp;
const OpDef kCumSumOp = Op("CumSum", Evaluate<kernels::Running::kSum>);

}  // namespace kheya
