#include "ops/infer_util.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"input", types::kAny, 'T'}};
constexpr ParamDef kOutputs[] = {{"output", types::kAny, 'T'}};

Status Evaluate(EvalContext& context) { return context.SetOutput(0, context.input_value(0)); }

}  // namespace

extern const OpDef kIdentityOp;
const OpDef kIdentityOp = {.domain = "",
                           .name = "Identity",
                           .category = "shape",
                           .inputs = kInputs,
                           .outputs = kOutputs,
                           .attributes = {},
                           .infer = InferIdentity,
                           .evaluate = Evaluate,
                           .aliases_input = true};

}  // namespace kheya
