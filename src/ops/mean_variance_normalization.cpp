#include <vector>

#include "kernels/reference/norm.h"
#include "ops/axes.h"
#include "ops/infer_util.h"
#include "ops/op.h"
#include "ops/wide.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"X", types::kFloat, 'T'}};
constexpr ParamDef kOutputs[] = {{"Y", types::kFloat, 'T'}};
constexpr AttributeDef kAttributes[] = {{"axes", AttributeKind::kInts}};

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Tensor x, WideInput(context, 0));
  std::vector<int64_t> wanted = {0, 2, 3};
  if (context.attributes().Has("axes")) wanted = context.attributes().Ints("axes");
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int> axes, NormalizeAxes(wanted, x.shape().rank()));
  KHEYA_ASSIGN_OR_RETURN(WideOutput y,
                         WideOutput::Create(context, 0, context.input(0).dtype(), x.shape()));
  KHEYA_RETURN_IF_ERROR(kernels::NormalizeOverAxes(axes, x.view(), y.view()));
  return y.Finish();
}

}  // namespace

extern const OpDef kMeanVarianceNormalizationOp;
const OpDef kMeanVarianceNormalizationOp = {.domain = "",
                                            .name = "MeanVarianceNormalization",
                                            .category = "normalization",
                                            .inputs = kInputs,
                                            .outputs = kOutputs,
                                            .attributes = kAttributes,
                                            .infer = InferSameType,
                                            .evaluate = Evaluate};

}  // namespace kheya
