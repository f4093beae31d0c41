#include "kernels/reference/matmul.h"
#include "ops/axes.h"
#include "ops/op.h"
#include "ops/wide.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"X", types::kFloat, 'T'}};
constexpr ParamDef kOutputs[] = {{"Y", types::kFloat, 'T'}};

Status Infer(InferContext& context) {
  std::optional<SymbolicShape> shape = ShapeOrNull(context, 0);
  if (shape) {
    if (shape->size() < 2) {
      return InvalidArgumentError("found {}, expected rank 2 or more", ToString(*shape));
    }
    shape->resize(shape->size() - 2);
  }
  return context.SetOutput(0, context.input_dtype(0), std::move(shape));
}

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Tensor x, WideInput(context, 0));
  const Shape& in = x.shape();
  const int rank = in.rank();
  if (rank < 2 || in[rank - 1] != in[rank - 2]) {
    return InvalidArgumentError("found {}, expected square matrices", in.ToString());
  }
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(in.dims().first(rank - 2)));
  KHEYA_ASSIGN_OR_RETURN(WideOutput y,
                         WideOutput::Create(context, 0, context.input(0).dtype(), shape));
  KHEYA_RETURN_IF_ERROR(kernels::Determinants(in[rank - 1], x.view(), y.view()));
  return y.Finish();
}

}  // namespace

extern const OpDef kDetOp;
const OpDef kDetOp = {.domain = "",
                      .name = "Det",
                      .category = "linear algebra",
                      .inputs = kInputs,
                      .outputs = kOutputs,
                      .attributes = {},
                      .infer = Infer,
                      .evaluate = Evaluate};

}  // namespace kheya
