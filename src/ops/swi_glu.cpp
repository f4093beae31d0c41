#include "kernels/reference/elementwise.h"
#include "kernels/reference/scalar_functions.h"
#include "ops/infer_util.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"A", types::kFloat, 'T'}, {"B", types::kFloat, 'T'}};
constexpr ParamDef kOutputs[] = {{"Y", types::kFloat, 'T'}};
constexpr AttributeDef kAttributes[] = {{"alpha", AttributeKind::kFloat}};

Status Evaluate(EvalContext& context) {
  const Tensor& gate = context.input(0);
  const Tensor& value = context.input(1);
  if (gate.shape() != value.shape()) {
    return InvalidArgumentError("found A {} and B {}, expected equal shapes",
                                gate.shape().ToString(), value.shape().ToString());
  }
  const kernels::SwishFn swish = {context.attributes().Float("alpha", 1.0f)};
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView out,
                         context.Output(0, gate.dtype(), gate.shape()));
  return kernels::CallWithRealType(gate.dtype(), [&]<typename T>(const T&) {
    kernels::CombineElements<T, T, T>(gate.view(), value.view(), out,
                                      [&](auto a, auto b) { return swish(a) * b; });
  });
}

}  // namespace

extern const OpDef kSwiGLUOp;
const OpDef kSwiGLUOp = {.domain = "",
                         .name = "SwiGLU",
                         .category = "elementwise",
                         .inputs = kInputs,
                         .outputs = kOutputs,
                         .attributes = kAttributes,
                         .infer = InferSameType,
                         .evaluate = Evaluate};

}  // namespace kheya
