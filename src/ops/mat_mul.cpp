#include "base/checked_math.h"
#include "kernels/reference/matmul.h"
#include "ops/axes.h"
#include "ops/mat_mul_shape.h"
#include "ops/op.h"
#include "ops/wide.h"

namespace kheya {
namespace {

constexpr TypeMask kTypes =
    types::kFloat | MaskOf({DType::kInt32, DType::kInt64, DType::kUint32, DType::kUint64});
constexpr ParamDef kInputs[] = {{"A", kTypes, 'T'}, {"B", kTypes, 'T'}};
constexpr ParamDef kOutputs[] = {{"Y", kTypes, 'T'}};

Status Infer(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(std::optional<SymbolicShape> shape, InferMatMulShape(context, 0, 1));
  return context.SetOutput(0, context.input_dtype(0), std::move(shape));
}

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(Tensor a, WideInput(context, 0));
  KHEYA_ASSIGN_OR_RETURN(Tensor b, WideInput(context, 1));
  KHEYA_ASSIGN_OR_RETURN(kernels::MatMulShapes shapes,
                         kernels::MatMulShapesOf(a.shape(), b.shape()));
  KHEYA_ASSIGN_OR_RETURN(WideOutput y,
                         WideOutput::Create(context, 0, context.input(0).dtype(), shapes.output));
  KHEYA_RETURN_IF_ERROR(kernels::MatMul(shapes, a.view(), b.view(), y.view()));
  return y.Finish();
}

std::optional<int64_t> Macs(const Graph& graph, const Node& node) {
  if (!node.outputs[0].valid()) return std::nullopt;
  const std::optional<Shape> a = graph.value(node.inputs[0]).type.KnownShape();
  const std::optional<Shape> y = graph.value(node.outputs[0]).type.KnownShape();
  int64_t macs = 0;
  if (!a || !y || a->rank() == 0) return std::nullopt;
  if (!CheckedMul(y->num_elements(), (*a)[a->rank() - 1], &macs)) return std::nullopt;
  return macs;
}

}  // namespace

extern const OpDef kMatMulOp;
const OpDef kMatMulOp = {.domain = "",
                         .name = "MatMul",
                         .category = "linear algebra",
                         .inputs = kInputs,
                         .outputs = kOutputs,
                         .attributes = {},
                         .infer = Infer,
                         .evaluate = Evaluate,
                         .macs = Macs};

}  // namespace kheya
