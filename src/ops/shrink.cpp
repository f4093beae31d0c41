#include "kernels/reference/convert.h"
#include "kernels/reference/elementwise.h"
#include "ops/infer_util.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"input", types::kNumeric, 'T'}};
constexpr ParamDef kOutputs[] = {{"output", types::kNumeric, 'T'}};
constexpr AttributeDef kAttributes[] = {{"bias", AttributeKind::kFloat},
                                        {"lambd", AttributeKind::kFloat}};

Status Evaluate(EvalContext& context) {
  const Tensor& x = context.input(0);
  const double bias = context.attributes().Float("bias", 0);
  const double limit = context.attributes().Float("lambd", 0.5f);
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView y, context.Output(0, x.dtype(), x.shape()));
  return kernels::MapNumeric(x.view(), y, [&]<typename T>(T value) -> T {
    const auto number = static_cast<double>(value);
    const double shrunk = number < -limit ? number + bias : number > limit ? number - bias : 0;
    return kernels::ConvertNumber<T>(shrunk);
  });
}

}  // namespace

extern const OpDef kShrinkOp;
const OpDef kShrinkOp = {.domain = "",
                         .name = "Shrink",
                         .category = "elementwise",
                         .inputs = kInputs,
                         .outputs = kOutputs,
                         .attributes = kAttributes,
                         .infer = InferSameType,
                         .evaluate = Evaluate};

}  // namespace kheya
