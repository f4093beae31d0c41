// BitwiseAnd, BitwiseOr, BitwiseXor and BitwiseNot.
#include <functional>

#include "kernels/reference/elementwise.h"
#include "ops/infer_util.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kTwo[] = {{"A", types::kInteger, 'T'}, {"B", types::kInteger, 'T'}};
constexpr ParamDef kOne[] = {{"X", types::kInteger, 'T'}};
constexpr ParamDef kOutputs[] = {{"C", types::kInteger, 'T'}};

Status Infer(InferContext& context) { return InferBroadcast(context, context.input_dtype(0)); }

template <typename Function>
Status Evaluate(EvalContext& context) {
  const Tensor& a = context.input(0);
  const Tensor& b = context.input(1);
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, BroadcastShapes(a.shape(), b.shape()));
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView out, context.Output(0, a.dtype(), shape));
  return kernels::CallWithNumericType(a.dtype(), [&]<typename T>(const T&) {
    if constexpr (std::is_integral_v<T>) {
      kernels::CombineElements<T, T, T>(a.view(), b.view(), out, Function());
    }
  });
}

Status EvaluateNot(EvalContext& context) {
  const Tensor& x = context.input(0);
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView y, context.Output(0, x.dtype(), x.shape()));
  return kernels::CallWithNumericType(x.dtype(), [&]<typename T>(const T&) {
    if constexpr (std::is_integral_v<T>) {
      kernels::MapElements<T, T>(x.view(), y, std::bit_not<>());
    }
  });
}

constexpr OpDef Op(const char* name, std::span<const ParamDef> inputs,
                   Status (*infer)(InferContext&), Status (*evaluate)(EvalContext&)) {
  return {.domain = "",
          .name = name,
          .category = "elementwise",
          .inputs = inputs,
          .outputs = kOutputs,
          .attributes = {},
          .infer = infer,
          .evaluate = evaluate};
}

}  // namespace

extern const OpDef kBitwiseAndOp;
const OpDef kBitwiseAndOp = Op("BitwiseAnd", kTwo, Infer, Evaluate<std::bit_and<>>);
extern const OpDef kBitwiseNotOp;
const OpDef kBitwiseNotOp = Op("BitwiseNot", kOne, InferSameType, EvaluateNot);
extern const OpDef kBitwiseOrOp;
const OpDef kBitwiseOrOp = Op("BitwiseOr", kTwo, Infer, Evaluate<std::bit_or<>>);
extern const OpDef kBitwiseXorOp;
const OpDef kBitwiseXorOp = Op("BitwiseXor", kTwo, Infer, Evaluate<std::bit_xor<>>);

}  // namespace kheya
