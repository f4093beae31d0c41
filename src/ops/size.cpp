#include "ops/axes.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"data", types::kEvery}};
constexpr ParamDef kOutputs[] = {{"size", types::kInt64}};

Status Infer(InferContext& context) {
  KHEYA_RETURN_IF_ERROR(context.SetOutput(0, DType::kInt64, SymbolicShape{}));
  if (const SymbolicShape* data = context.input_shape(0)) {
    context.SetOutputElements(0, {ProductOf(*data)});
  }
  return OkStatus();
}

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView out, context.Output(0, DType::kInt64, Shape{}));
  out.as<int64_t>()[0] = context.input(0).num_elements();
  return OkStatus();
}

}  // namespace

extern const OpDef kSizeOp;
const OpDef kSizeOp = {.domain = "",
                       .name = "Size",
                       .category = "shape",
                       .inputs = kInputs,
                       .outputs = kOutputs,
                       .attributes = {},
                       .infer = Infer,
                       .evaluate = Evaluate};

}  // namespace kheya
