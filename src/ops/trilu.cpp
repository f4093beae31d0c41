#include <algorithm>
#include <cstring>

#include "kernels/reference/movement.h"
#include "ops/axes.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr TypeMask kTypes = types::kNumeric | types::kBool;
constexpr ParamDef kInputs[] = {{"input", kTypes, 'T'},
                                {"k", types::kInt64, '\0', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"output", kTypes, 'T'}};
constexpr AttributeDef kAttributes[] = {{"upper", AttributeKind::kInt}};

Status Infer(InferContext& context) {
  const SymbolicShape* input = context.input_shape(0);
  if (input != nullptr && input->size() < 2) {
    return InvalidArgumentError("found input {}, expected rank 2 or more", ToString(*input));
  }
  return context.SetOutput(0, context.input_dtype(0), ShapeOrNull(context, 0));
}

Status Evaluate(EvalContext& context) {
  const Tensor& input = context.input(0);
  const Shape& shape = input.shape();
  if (shape.rank() < 2) {
    return InvalidArgumentError("found input {}, expected rank 2 or more", shape.ToString());
  }
  int64_t k = 0;
  if (context.has_input(1)) {
    KHEYA_ASSIGN_OR_RETURN(k, IntScalarInput(context, 1));
  }
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView out, context.Output(0, input.dtype(), shape));
  if (shape.num_elements() == 0) return OkStatus();
  std::memset(out.data, 0, out.num_bytes());
  const int64_t rows = shape[shape.rank() - 2], columns = shape[shape.rank() - 1];
  k = std::clamp(k, -rows, columns);  // further off, nothing changes
  const bool upper = context.attributes().Int("upper", 1) != 0;
  for (int64_t row = 0; row < shape.num_elements() / columns; ++row) {
    const int64_t diagonal = row % rows + k;
    const int64_t first = upper ? std::clamp<int64_t>(diagonal, 0, columns) : 0;
    const int64_t last = upper ? columns : std::clamp<int64_t>(diagonal + 1, 0, columns);
    kernels::CopyElements(input.view(), row * columns + first, out, row * columns + first,
                          last - first);
  }
  return OkStatus();
}

}  // namespace

extern const OpDef kTriluOp;
const OpDef kTriluOp = {.domain = "",
                        .name = "Trilu",
                        .category = "shape",
                        .inputs = kInputs,
                        .outputs = kOutputs,
                        .attributes = kAttributes,
                        .infer = Infer,
                        .evaluate = Evaluate};

}  // namespace kheya
