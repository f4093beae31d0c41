// Softmax, LogSoftmax and Hardmax.
#include "kernels/reference/softmax.h"

#include "ops/axes.h"
#include "ops/infer_util.h"
#include "ops/one_axis.h"
#include "ops/op.h"
#include "ops/wide.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"input", types::kFloat, 'T'}};
constexpr ParamDef kOutputs[] = {{"output", types::kFloat, 'T'}};
constexpr AttributeDef kAttributes[] = {{"axis", AttributeKind::kInt}};

Status Infer(InferContext& context) {
  if (const SymbolicShape* input = context.input_shape(0)) {
    KHEYA_RETURN_IF_ERROR(
        NormalizeAxis(context.attributes().Int("axis", -1), static_cast<int>(input->size()))
            .status());
  }
  return InferSameType(context);
}

using Kernel = Status(const kernels::ReduceRows&, const TensorView&, const MutableTensorView&);

template <Kernel* kernel>
Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(Tensor x, WideInput(context, 0));
  KHEYA_ASSIGN_OR_RETURN(int axis,
                         NormalizeAxis(context.attributes().Int("axis", -1), x.shape().rank()));
  KHEYA_ASSIGN_OR_RETURN(WideOutput y,
                         WideOutput::Create(context, 0, context.input(0).dtype(), x.shape()));
  KHEYA_RETURN_IF_ERROR(kernel(RowsAlong(x.shape(), axis), x.view(), y.view()));
  return y.Finish();
}

constexpr OpDef Op(const char* name, Status (*evaluate)(EvalContext&)) {
  return {.domain = "",
          .name = name,
          .category = "neural network",
          .inputs = kInputs,
          .outputs = kOutputs,
          .attributes = kAttributes,
          .infer = Infer,
          .evaluate = evaluate};
}

}  // namespace

extern const OpDef kHardmaxOp;
const OpDef kHardmaxOp = Op("Hardmax", Evaluate<kernels::Hardmax>);
extern const OpDef kLogSoftmaxOp;
const OpDef kLogSoftmaxOp = Op("LogSoftmax", Evaluate<kernels::LogSoftmax>);
extern const OpDef kSoftmaxOp;
const OpDef kSoftmaxOp = Op("Softmax", Evaluate<kernels::Softmax>);

}  // namespace kheya
