#include "ops/op.h"
#include "ops/pool_attributes.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"X", types::kFloat, 'T'}};
constexpr ParamDef kOutputs[] = {{"Y", types::kFloat, 'T'}};
constexpr AttributeDef kAttributes[] = {{"auto_pad", AttributeKind::kString},
                                        {"ceil_mode", AttributeKind::kInt},
                                        {"count_include_pad", AttributeKind::kInt},
                                        {"dilations", AttributeKind::kInts},
                                        {"kernel_shape", AttributeKind::kInts, true},
                                        {"pads", AttributeKind::kInts},
                                        {"strides", AttributeKind::kInts}};

Status Evaluate(EvalContext& context) { return EvaluatePool(context, kernels::PoolKind::kAverage); }

}  // namespace

extern const OpDef kAveragePoolOp;
const OpDef kAveragePoolOp = {.domain = "",
                              .name = "AveragePool",
                              .category = "convolution and pooling",
                              .inputs = kInputs,
                              .outputs = kOutputs,
                              .attributes = kAttributes,
                              .infer = InferPool,
                              .evaluate = Evaluate};

}  // namespace kheya
