#include <vector>

#include "kernels/reference/movement.h"
#include "ops/axes.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"input", types::kEvery, 'T'}, {"condition", types::kBool}};
constexpr ParamDef kOutputs[] = {{"output", types::kEvery, 'T'}};
constexpr AttributeDef kAttributes[] = {{"axis", AttributeKind::kInt}};

Status Infer(InferContext& context) {
  std::optional<SymbolicShape> shape = ShapeOrNull(context, 0);
  if (!context.attributes().Has("axis")) {
    shape = SymbolicShape{Dim()};
  } else if (shape) {
    KHEYA_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(context.attributes().Int("axis", 0),
                                                         static_cast<int>(shape->size())));
    (*shape)[axis] = Dim();
  }
  return context.SetOutput(0, context.input_dtype(0), std::move(shape));
}

// The places below `size` that the condition, which may be shorter, keeps.
Result<std::vector<int64_t>> KeptPlaces(const Tensor& condition, int64_t size) {
  if (condition.shape().rank() != 1 || condition.num_elements() > size) {
    return InvalidArgumentError("found a condition {}, expected a list of up to {}",
                                condition.TypeString(), size);
  }
  std::vector<int64_t> kept;
  const auto keeps = condition.data<bool>();
  for (size_t i = 0; i < keeps.size(); ++i) {
    if (keeps[i]) kept.push_back(static_cast<int64_t>(i));
  }
  return kept;
}

Status Evaluate(EvalContext& context) {
  const Tensor& input = context.input(0);
  const bool flat = !context.attributes().Has("axis");
  const Shape in = flat ? Shape{input.num_elements()} : input.shape();
  KHEYA_ASSIGN_OR_RETURN(const int axis,
                         NormalizeAxis(context.attributes().Int("axis", 0), in.rank()));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> kept, KeptPlaces(context.input(1), in[axis]));
  std::vector<int64_t> dims(in.begin(), in.end());
  dims[axis] = static_cast<int64_t>(kept.size());
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(dims));
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView out, context.Output(0, input.dtype(), shape));
  const int64_t inner = in.Product(axis + 1, in.rank());
  int64_t at = 0;
  for (int64_t outer = 0; inner > 0 && outer < in.Product(0, axis); ++outer) {
    for (int64_t place : kept) {
      kernels::CopyElements(input.view(), (outer * in[axis] + place) * inner, out, at, inner);
      at += inner;
    }
  }
  return OkStatus();
}

}  // namespace

extern const OpDef kCompressOp;
const OpDef kCompressOp = {.domain = "",
                           .name = "Compress",
                           .category = "shape",
                           .inputs = kInputs,
                           .outputs = kOutputs,
                           .attributes = kAttributes,
                           .infer = Infer,
                           .evaluate = Evaluate};

}  // namespace kheya
