#include <limits>

#include "kernels/reference/elementwise.h"
#include "ops/axes.h"
#include "ops/infer_util.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"input", types::kNumeric, 'T'},
                                {"min", types::kNumeric, 'T', Presence::kOptional},
                                {"max", types::kNumeric, 'T', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"output", types::kNumeric, 'T'}};

Status CheckBound(const EvalContext& context, int index) {
  if (!context.has_input(index) || context.input(index).num_elements() == 1) return OkStatus();
  return InvalidArgumentError("found a bound of type {}, expected one element",
                              context.input(index).TypeString());
}

// min(max(x, low), high): the upper bound wins where the bounds cross. NaN stays.
template <typename T>
void Clip(const EvalContext& context, const MutableTensorView& y) {
  using Compute = kernels::ComputeType<T>;
  const bool has_low = context.has_input(1), has_high = context.has_input(2);
  const Compute low = has_low ? static_cast<Compute>(context.input(1).data<T>()[0]) : Compute{};
  const Compute high = has_high ? static_cast<Compute>(context.input(2).data<T>()[0]) : Compute{};
  kernels::MapElements<T, T>(context.input(0).view(), y, [&](Compute x) {
    if (has_low && x < low) x = low;
    return has_high && x > high ? high : x;
  });
}

Status Evaluate(EvalContext& context) {
  const Tensor& x = context.input(0);
  KHEYA_RETURN_IF_ERROR(CheckBound(context, 1));
  KHEYA_RETURN_IF_ERROR(CheckBound(context, 2));
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView y, context.Output(0, x.dtype(), x.shape()));
  return kernels::CallWithNumericType(x.dtype(),
                                      [&]<typename T>(const T&) { Clip<T>(context, y); });
}

// The only element of a bound, or `missing` when it was left out; nullopt: not known.
std::optional<int64_t> Bound(const InferContext& context, int index, int64_t missing) {
  if (!context.has_input(index)) return missing;
  const auto elements = KnownElements(context, index);
  return elements && elements->size() == 1 ? std::optional(elements->front()) : std::nullopt;
}

Status Infer(InferContext& context) {
  KHEYA_RETURN_IF_ERROR(InferSameType(context));
  const auto low = Bound(context, 1, std::numeric_limits<int64_t>::min());
  const auto high = Bound(context, 2, std::numeric_limits<int64_t>::max());
  if (!low || !high) return OkStatus();
  PropagateUnary(context, [&](const Dim& x) {
    return x.known() ? Dim(std::min(std::max(x.value(), *low), *high)) : Dim();
  });
  return OkStatus();
}

}  // namespace

extern const OpDef kClipOp;
const OpDef kClipOp = {.domain = "",
                       .name = "Clip",
                       .category = "elementwise",
                       .inputs = kInputs,
                       .outputs = kOutputs,
                       .attributes = {},
                       .infer = Infer,
                       .evaluate = Evaluate};

}  // namespace kheya
