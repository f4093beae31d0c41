#include "kernels/reference/elementwise.h"
#include "ops/infer_util.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"X", types::kUnsigned, 'T'}, {"Y", types::kUnsigned, 'T'}};
constexpr ParamDef kOutputs[] = {{"Z", types::kUnsigned, 'T'}};
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
  // A shift by all bits or more leaves nothing.
  const auto shift = [left](uint64_t bits, uint64_t count) {
    if (count >= 64) return uint64_t{0};
    return left ? bits << count : bits >> count;
  };
  return kernels::CallWithNumericType(x.dtype(), [&]<typename T>(const T&) {
    if constexpr (std::is_unsigned_v<T>) {
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
