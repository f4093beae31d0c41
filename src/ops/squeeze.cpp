#include <algorithm>
#include <vector>

#include "ops/axes.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"data", types::kEvery, 'T'},
                                {"axes", types::kInt64, '\0', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"squeezed", types::kEvery, 'T'}};

bool Contains(const std::vector<int>& axes, int axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

Result<SymbolicShape> SqueezeAxes(const SymbolicShape& shape, std::span<const int64_t> axes) {
  KHEYA_ASSIGN_OR_RETURN(std::vector<int> removed,
                         NormalizeAxes(axes, static_cast<int>(shape.size())));
  SymbolicShape output;
  for (int i = 0; i < static_cast<int>(shape.size()); ++i) {
    if (!Contains(removed, i)) {
      output.push_back(shape[i]);
    } else if (shape[i].known() && shape[i].value() != 1) {
      return InvalidArgumentError("found axis {} of {}, expected size 1 to squeeze", i,
                                  ToString(shape));
    }
  }
  return output;
}

// Every axis of size 1; nullopt when a size is not known.
std::optional<SymbolicShape> SqueezeOnes(const SymbolicShape& shape) {
  SymbolicShape output;
  for (const Dim& dim : shape) {
    if (!dim.known()) return std::nullopt;
    if (dim.value() != 1) output.push_back(dim);
  }
  return output;
}

Result<std::optional<SymbolicShape>> InferShape(InferContext& context) {
  const SymbolicShape* shape = context.input_shape(0);
  if (!context.has_input(1)) {
    return shape == nullptr ? std::optional<SymbolicShape>() : SqueezeOnes(*shape);
  }
  const std::optional<std::vector<int64_t>> axes = KnownElements(context, 1);
  if (shape != nullptr && axes) {
    KHEYA_ASSIGN_OR_RETURN(SymbolicShape output, SqueezeAxes(*shape, *axes));
    return std::optional(std::move(output));
  }
  const std::optional<int64_t> count = KnownLength(context, 1);
  if (shape == nullptr || !count || *count > static_cast<int64_t>(shape->size())) {
    return std::optional<SymbolicShape>();
  }
  return std::optional(UnknownDims(static_cast<int>(shape->size()) - static_cast<int>(*count)));
}

Status Infer(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(std::optional<SymbolicShape> shape, InferShape(context));
  const bool list = shape && shape->size() <= 1;
  KHEYA_RETURN_IF_ERROR(context.SetOutput(0, context.input_dtype(0), std::move(shape)));
  if (auto elements = context.input_elements(0); elements && list) {
    context.SetOutputElements(0, std::move(*elements));
  }
  return OkStatus();
}

Status Evaluate(EvalContext& context) {
  const Tensor& data = context.input(0);
  SymbolicShape output = *SqueezeOnes(ToSymbolic(data.shape()));
  if (context.has_input(1)) {
    KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> axes, IntListInput(context, 1));
    KHEYA_ASSIGN_OR_RETURN(output, SqueezeAxes(ToSymbolic(data.shape()), axes));
  }
  KHEYA_ASSIGN_OR_RETURN(Tensor squeezed, data.Reshaped(*ToKnown(output)));
  return context.SetOutput(0, std::move(squeezed));
}

}  // namespace

extern const OpDef kSqueezeOp;
const OpDef kSqueezeOp = {.domain = "",
                          .name = "Squeeze",
                          .category = "shape",
                          .inputs = kInputs,
                          .outputs = kOutputs,
                          .attributes = {},
                          .infer = Infer,
                          .evaluate = Evaluate,
                          .aliases_input = true};

}  // namespace kheya
