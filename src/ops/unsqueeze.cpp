#include <algorithm>
#include <vector>

#include "ops/axes.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"data", types::kEvery, 'T'}, {"axes", types::kInt64}};
constexpr ParamDef kOutputs[] = {{"expanded", types::kEvery, 'T'}};

// `axes` are those of the output.
Result<SymbolicShape> InsertAxes(const SymbolicShape& shape, std::span<const int64_t> axes) {
  if (shape.size() + axes.size() > static_cast<size_t>(kMaxRank)) {
    return InvalidArgumentError("found {} axes to insert into {}, expected a rank of at most {}",
                                axes.size(), ToString(shape), kMaxRank);
  }
  const int rank = static_cast<int>(shape.size() + axes.size());
  KHEYA_ASSIGN_OR_RETURN(std::vector<int> inserted, NormalizeAxes(axes, rank));
  SymbolicShape output;
  size_t next = 0;
  for (int i = 0; i < rank; ++i) {
    const bool one = std::find(inserted.begin(), inserted.end(), i) != inserted.end();
    output.push_back(one ? Dim(1) : shape[next++]);
  }
  return output;
}

Status Infer(InferContext& context) {
  const SymbolicShape* shape = context.input_shape(0);
  const DType dtype = context.input_dtype(0);
  const std::optional<std::vector<int64_t>> axes = KnownElements(context, 1);
  if (shape == nullptr || !axes) {
    const std::optional<int64_t> count = KnownLength(context, 1);
    if (shape == nullptr || !count || *count > kMaxRank) {
      return context.SetOutput(0, dtype, std::nullopt);
    }
    return context.SetOutput(
        0, dtype, UnknownDims(static_cast<int>(shape->size()) + static_cast<int>(*count)));
  }
  KHEYA_ASSIGN_OR_RETURN(SymbolicShape output, InsertAxes(*shape, *axes));
  const bool list = output.size() <= 1;
  KHEYA_RETURN_IF_ERROR(context.SetOutput(0, dtype, std::move(output)));
  if (auto elements = context.input_elements(0); elements && list) {
    context.SetOutputElements(0, std::move(*elements));
  }
  return OkStatus();
}

Status Evaluate(EvalContext& context) {
  const Tensor& data = context.input(0);
  KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> axes, IntListInput(context, 1));
  KHEYA_ASSIGN_OR_RETURN(SymbolicShape output, InsertAxes(ToSymbolic(data.shape()), axes));
  KHEYA_ASSIGN_OR_RETURN(Tensor expanded, data.Reshaped(*ToKnown(output)));
  return context.SetOutput(0, std::move(expanded));
}

}  // namespace

extern const OpDef kUnsqueezeOp;
const OpDef kUnsqueezeOp = {.domain = "",
                            .name = "Unsqueeze",
                            .category = "shape",
                            .inputs = kInputs,
                            .outputs = kOutputs,
                            .attributes = {},
                            .infer = Infer,
                            .evaluate = Evaluate,
                            .aliases_input = true};

}  // namespace kheya
