#include "kernels/reference/unique.h"

#include <vector>

#include "kernels/reference/movement.h"
#include "ops/axes.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"X", types::kAll, 'T'}};
constexpr ParamDef kOutputs[] = {{"Y", types::kAll, 'T'},
                                 {"indices", types::kInt64, '\0', Presence::kOptional},
                                 {"inverse_indices", types::kInt64, '\0', Presence::kOptional},
                                 {"counts", types::kInt64, '\0', Presence::kOptional}};
constexpr AttributeDef kAttributes[] = {{"axis", AttributeKind::kInt},
                                        {"sorted", AttributeKind::kInt}};

Status Infer(InferContext& context) {
  std::optional<SymbolicShape> shape = ShapeOrNull(context, 0);
  Dim places;
  if (!context.attributes().Has("axis")) {
    if (shape) places = ProductOf(*shape);
    shape = SymbolicShape{Dim()};
  } else if (shape) {
    KHEYA_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(context.attributes().Int("axis", 0),
                                                         static_cast<int>(shape->size())));
    places = (*shape)[axis];
    (*shape)[axis] = Dim();
  }
  KHEYA_RETURN_IF_ERROR(context.SetOutput(0, context.input_dtype(0), std::move(shape)));
  KHEYA_RETURN_IF_ERROR(context.SetOutput(1, DType::kInt64, SymbolicShape{Dim()}));
  KHEYA_RETURN_IF_ERROR(context.SetOutput(2, DType::kInt64, SymbolicShape{places}));
  return context.SetOutput(3, DType::kInt64, SymbolicShape{Dim()});
}

Status GiveList(EvalContext& context, int output, const std::vector<int64_t>& list) {
  if (!context.wants_output(output)) return OkStatus();
  KHEYA_ASSIGN_OR_RETURN(
      const MutableTensorView out,
      context.Output(output, DType::kInt64, Shape{static_cast<int64_t>(list.size())}));
  std::ranges::copy(list, out.as<int64_t>().begin());
  return OkStatus();
}

Status Evaluate(EvalContext& context) {
  const Tensor& x = context.input(0);
  const bool flat = !context.attributes().Has("axis");
  const Shape in = flat ? Shape{x.num_elements()} : x.shape();
  KHEYA_ASSIGN_OR_RETURN(const int axis,
                         NormalizeAxis(context.attributes().Int("axis", 0), in.rank()));
  const bool sorted = context.attributes().Int("sorted", 1) != 0;
  KHEYA_ASSIGN_OR_RETURN(
      const kernels::UniquePlaces found,
      kernels::FindUnique(sorted, {in.Product(0, axis), in[axis], in.Product(axis + 1, in.rank())},
                          x.view()));
  std::vector<int64_t> dims(in.begin(), in.end());
  dims[axis] = static_cast<int64_t>(found.first.size());
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(dims));
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView y, context.Output(0, x.dtype(), shape));
  const int64_t inner = in.Product(axis + 1, in.rank());
  int64_t at = 0;
  for (int64_t outer = 0; inner > 0 && outer < in.Product(0, axis); ++outer) {
    for (int64_t place : found.first) {
      kernels::CopyElements(x.view(), (outer * in[axis] + place) * inner, y, at, inner);
      at += inner;
    }
  }
  KHEYA_RETURN_IF_ERROR(GiveList(context, 1, found.first));
  KHEYA_RETURN_IF_ERROR(GiveList(context, 2, found.inverse));
  return GiveList(context, 3, found.counts);
}

}  // namespace

extern const OpDef kUniqueOp;
const OpDef kUniqueOp = {.domain = "",
                         .name = "Unique",
                         .category = "shape",
                         .inputs = kInputs,
                         .outputs = kOutputs,
                         .attributes = kAttributes,
                         .infer = Infer,
                         .evaluate = Evaluate};

}  // namespace kheya
