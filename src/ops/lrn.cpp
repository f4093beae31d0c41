#include "kernels/reference/norm.h"
#include "ops/axes.h"
#include "ops/op.h"
#include "ops/wide.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"X", types::kFloat, 'T'}};
constexpr ParamDef kOutputs[] = {{"Y", types::kFloat, 'T'}};
constexpr AttributeDef kAttributes[] = {{"alpha", AttributeKind::kFloat},
                                        {"beta", AttributeKind::kFloat},
                                        {"bias", AttributeKind::kFloat},
                                        {"size", AttributeKind::kInt, true}};

Status Infer(InferContext& context) {
  return context.SetOutput(0, context.input_dtype(0), ShapeOrNull(context, 0));
}

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(Tensor x, WideInput(context, 0));
  const AttributeReader attributes = context.attributes();
  const kernels::LrnParams params = {attributes.Int("size", 0), attributes.Float("alpha", 1e-4f),
                                     attributes.Float("beta", 0.75f),
                                     attributes.Float("bias", 1.0f)};
  if (params.size < 1) {
    return InvalidArgumentError("found a size of {}, expected at least 1", params.size);
  }
  if (x.shape().rank() < 2) {
    return InvalidArgumentError("found input {}, expected rank 2 or more", x.shape().ToString());
  }
  KHEYA_ASSIGN_OR_RETURN(WideOutput y,
                         WideOutput::Create(context, 0, context.input(0).dtype(), x.shape()));
  KHEYA_RETURN_IF_ERROR(kernels::Lrn(params, x.view(), y.view()));
  return y.Finish();
}

}  // namespace

extern const OpDef kLRNOp;
const OpDef kLRNOp = {.domain = "",
                      .name = "LRN",
                      .category = "normalization",
                      .inputs = kInputs,
                      .outputs = kOutputs,
                      .attributes = kAttributes,
                      .infer = Infer,
                      .evaluate = Evaluate};

}  // namespace kheya
