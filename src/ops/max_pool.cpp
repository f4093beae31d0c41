#include "kernels/reference/pool.h"
#include "ops/axes.h"
#include "ops/op.h"
#include "ops/pool_attributes.h"
#include "ops/wide.h"

namespace kheya {
namespace {

constexpr TypeMask kTypes = types::kFloat | MaskOf({DType::kInt8, DType::kUint8});
constexpr ParamDef kInputs[] = {{"X", kTypes, 'T'}};
constexpr ParamDef kOutputs[] = {{"Y", kTypes, 'T'},
                                 {"Indices", types::kInt64, '\0', Presence::kOptional}};
constexpr AttributeDef kAttributes[] = {
    {"auto_pad", AttributeKind::kString}, {"ceil_mode", AttributeKind::kInt},
    {"dilations", AttributeKind::kInts},  {"kernel_shape", AttributeKind::kInts, true},
    {"pads", AttributeKind::kInts},       {"storage_order", AttributeKind::kInt},
    {"strides", AttributeKind::kInts}};

Status Infer(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(std::optional<SymbolicShape> shape, InferPoolShape(context));
  if (context.num_outputs() > 1) {
    KHEYA_RETURN_IF_ERROR(context.SetOutput(1, DType::kInt64, shape));
  }
  return context.SetOutput(0, context.input_dtype(0), std::move(shape));
}

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(Tensor x, WideInput(context, 0));
  KHEYA_ASSIGN_OR_RETURN(kernels::PoolParams params,
                         ReadPool(context.attributes(), kernels::PoolKind::kMax, x.shape()));
  KHEYA_ASSIGN_OR_RETURN(Shape shape, kernels::PoolOutputShape(params, x.shape()));
  KHEYA_ASSIGN_OR_RETURN(WideOutput y,
                         WideOutput::Create(context, 0, context.input(0).dtype(), shape));
  std::span<int64_t> indices;
  if (context.wants_output(1)) {
    KHEYA_ASSIGN_OR_RETURN(MutableTensorView where, context.Output(1, DType::kInt64, shape));
    indices = where.as<int64_t>();
  }
  const bool column_major = context.attributes().Int("storage_order", 0) != 0;
  KHEYA_RETURN_IF_ERROR(
      kernels::MaxPoolWithIndices(params, x.view(), y.view(), indices, column_major));
  return y.Finish();
}

}  // namespace

extern const OpDef kMaxPoolOp;
const OpDef kMaxPoolOp = {.domain = "",
                          .name = "MaxPool",
                          .category = "convolution and pooling",
                          .inputs = kInputs,
                          .outputs = kOutputs,
                          .attributes = kAttributes,
                          .infer = Infer,
                          .evaluate = Evaluate};

}  // namespace kheya
