#include "kernels/reference/elementwise.h"
#include "ops/infer_util.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"X", types::kInteger, 'T'}, {"Y", types::kInteger, 'T'}};
constexpr ParamDef kOutputs[] = {{"Z", types::kInteger, 'T'}};
constexpr AttributeDef kAttributes[] = {{"direction", AttributeKind::kString, true}};

Status Infer(InferContext& context) { return InferBroadcast(context, context.input_dtype(0)); }

Status Evaluate(EvalContext& context) {
  const Tensor& x = context.input(0);
  const Tensor& y = context.input(1);
  const std::string direction = context.attributes().String("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") {
    return InvalidArgumentError("found direction '{}', expected 'LEFT' or 'RIGHT'", direction);
  }
  const bool left = direction == "LEFT";
  KHEYA_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(x.shape(), y.shape()));
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView out, context.Output(0, x.dtype(), shape));
  // By all bits or more, or by less than none, only the sign is left of a shift to the right, and
  // nothing of one to the left.
  const auto shift = [left]<typename T>(T bits, T count) {
    const auto places = static_cast<uint64_t>(count);
    const bool all = places >= 8 * sizeof(T);
    if (left) return static_cast<T>(all ? 0 : static_cast<uint64_t>(bits) << places);
    return static_cast<T>(all ? (bits < T{} ? -1 : 0) : bits >> places);
  };
  return kernels::CallWithNumericType(x.dtype(), [&]<typename T>(const T&) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      kernels::CombineElements<T, T, T>(x.view(), y.view(), out, shift);
    }
  });
}

}  // namespace

extern const OpDef kBitShiftOp;
const OpDef kBitShiftOp = {.domain = "",
                           .name = "BitShift",
                           .category = "elementwise",
                           .inputs = kInputs,
                           .outputs = kOutputs,
                           .attributes = kAttributes,
                           .infer = Infer,
                           .evaluate = Evaluate};

}  // namespace kheya
