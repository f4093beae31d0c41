#include <vector>

#include "kernels/reference/movement.h"
#include "ops/axes.h"
#include "ops/infer_util.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"input", types::kEvery, 'T'}, {"sequence_lens", types::kInt64}};
constexpr ParamDef kOutputs[] = {{"Y", types::kEvery, 'T'}};
constexpr AttributeDef kAttributes[] = {{"batch_axis", AttributeKind::kInt},
                                        {"time_axis", AttributeKind::kInt}};

Result<std::vector<int64_t>> Lengths(const EvalContext& context, int64_t batch, int64_t longest) {
  KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> lengths, IntListInput(context, 1));
  if (static_cast<int64_t>(lengths.size()) != batch) {
    return InvalidArgumentError("found {} sequence lengths, expected {}", lengths.size(), batch);
  }
  for (int64_t length : lengths) {
    if (length >= 0 && length <= longest) continue;
    return InvalidArgumentError("found a sequence length of {}, expected 0 to {}", length, longest);
  }
  return lengths;
}

Status Evaluate(EvalContext& context) {
  const Tensor& input = context.input(0);
  const Shape& shape = input.shape();
  const int64_t time_axis = context.attributes().Int("time_axis", 0);
  const int64_t batch_axis = context.attributes().Int("batch_axis", 1);
  const bool first_two = (time_axis == 0 && batch_axis == 1) || (time_axis == 1 && batch_axis == 0);
  if (!first_two || shape.rank() < 2) {
    return InvalidArgumentError(
        "found time_axis {} and batch_axis {} of {}, expected the first two axes", time_axis,
        batch_axis, shape.ToString());
  }
  const int64_t batch = shape[static_cast<int>(batch_axis)];
  const int64_t times = shape[static_cast<int>(time_axis)];
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> lengths, Lengths(context, batch, times));
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView out, context.Output(0, input.dtype(), shape));
  const int64_t inner = shape.Product(2, shape.rank());
  const auto place = [&](int64_t b, int64_t t) {
    return (time_axis == 0 ? t * batch + b : b * times + t) * inner;
  };
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t t = 0; t < times; ++t) {
      const int64_t from = t < lengths[b] ? lengths[b] - 1 - t : t;
      kernels::CopyElements(input.view(), place(b, from), out, place(b, t), inner);
    }
  }
  return OkStatus();
}

}  // namespace

extern const OpDef kReverseSequenceOp;
const OpDef kReverseSequenceOp = {.domain = "",
                                  .name = "ReverseSequence",
                                  .category = "shape",
                                  .inputs = kInputs,
                                  .outputs = kOutputs,
                                  .attributes = kAttributes,
                                  .infer = InferSameType,
                                  .evaluate = Evaluate};

}  // namespace kheya
