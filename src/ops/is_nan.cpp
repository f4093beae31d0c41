// IsNaN and IsInf.
#include <cmath>

#include "kernels/reference/elementwise.h"
#include "ops/infer_util.h"
#include "ops/op.h"
#include "tensor/small_types.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"X", types::kFloat | types::kFloat8}};
constexpr ParamDef kOutputs[] = {{"Y", types::kBool}};
constexpr AttributeDef kInfAttributes[] = {{"detect_negative", AttributeKind::kInt},
                                           {"detect_positive", AttributeKind::kInt}};

Status Infer(InferContext& context) { return InferSameShape(context, DType::kBool); }

template <typename Function>
Status Test(EvalContext& context, Function function) {
  const Tensor& x = context.input(0);
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView y, context.Output(0, DType::kBool, x.shape()));
  if (IsSmall(x.dtype())) {
    bool* out = y.as<bool>().data();
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      out[i] = function(SmallToDouble(x.dtype(), CodeAt(x.dtype(), x.bytes().data(), i)));
    }
    return OkStatus();
  }
  return kernels::CallWithRealType(x.dtype(), [&]<typename T>(const T&) {
    kernels::MapElements<T, bool>(x.view(), y, function);
  });
}

Status EvaluateIsNan(EvalContext& context) {
  return Test(context, [](auto x) { return std::isnan(x); });
}

Status EvaluateIsInf(EvalContext& context) {
  const bool negative = context.attributes().Int("detect_negative", 1) != 0;
  const bool positive = context.attributes().Int("detect_positive", 1) != 0;
  return Test(context, [=](auto x) { return std::isinf(x) && (x < 0 ? negative : positive); });
}

}  // namespace

extern const OpDef kIsNaNOp;
const OpDef kIsNaNOp = {.domain = "",
                        .name = "IsNaN",
                        .category = "comparison and logic",
                        .inputs = kInputs,
                        .outputs = kOutputs,
                        .attributes = {},
                        .infer = Infer,
                        .evaluate = EvaluateIsNan};

extern const OpDef kIsInfOp;
const OpDef kIsInfOp = {.domain = "",
                        .name = "IsInf",
                        .category = "comparison and logic",
                        .inputs = kInputs,
                        .outputs = kOutputs,
                        .attributes = kInfAttributes,
                        .infer = Infer,
                        .evaluate = EvaluateIsInf};

}  // namespace kheya
