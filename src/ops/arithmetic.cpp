// Add, Sub, Mul, Div, Mod and PRelu: elementwise functions of two tensors of one type.
#include "kernels/reference/arithmetic.h"

#include <algorithm>
#include <type_traits>

#include "kernels/reference/elementwise.h"
#include "ops/infer_util.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr TypeMask kPreluTypes =
    types::kFloat | MaskOf({DType::kInt32, DType::kInt64, DType::kUint32, DType::kUint64});
constexpr ParamDef kInputs[] = {{"A", types::kNumeric, 'T'}, {"B", types::kNumeric, 'T'}};
constexpr ParamDef kOutputs[] = {{"C", types::kNumeric, 'T'}};
constexpr ParamDef kPreluInputs[] = {{"X", kPreluTypes, 'T'}, {"slope", kPreluTypes, 'T'}};
constexpr ParamDef kPreluOutputs[] = {{"Y", kPreluTypes, 'T'}};
constexpr AttributeDef kFmod[] = {{"fmod", AttributeKind::kInt}};

template <typename Function>
Status Combine(EvalContext& context, Function function) {
  const Tensor& a = context.input(0);
  const Tensor& b = context.input(1);
  KHEYA_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(a.shape(), b.shape()));
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView out, context.Output(0, a.dtype(), shape));
  return kernels::CallWithNumericType(a.dtype(), [&]<typename T>(const T&) {
    kernels::CombineElements<T, T, T>(a.view(), b.view(), out, function);
  });
}

template <typename Function>
Status Evaluate(EvalContext& context) {
  return Combine(context, Function());
}

// InvalidArgument when an integer divisor, input 1, holds a 0.
Status CheckDivisor(const EvalContext& context) {
  const Tensor& divisor = context.input(1);
  bool zero = false;
  if (!IsInteger(divisor.dtype()) || context.input(0).num_elements() == 0) return OkStatus();
  KHEYA_RETURN_IF_ERROR(kernels::CallWithNumericType(divisor.dtype(), [&]<typename T>(const T&) {
    zero = std::ranges::any_of(divisor.data<T>(), [](T value) { return value == T{}; });
  }));
  return zero ? InvalidArgumentError("found an integer divided by 0") : OkStatus();
}

Status EvaluateDiv(EvalContext& context) {
  KHEYA_RETURN_IF_ERROR(CheckDivisor(context));
  return Combine(context, kernels::DivFn());
}

Status EvaluateMod(EvalContext& context) {
  KHEYA_RETURN_IF_ERROR(CheckDivisor(context));
  const bool fmod = context.attributes().Int("fmod", 0) != 0;
  return fmod ? Combine(context, kernels::FmodFn()) : Combine(context, kernels::ModFn());
}

Status EvaluatePrelu(EvalContext& context) {
  const Shape& x = context.input(0).shape();
  KHEYA_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(x, context.input(1).shape()));
  if (!(shape == x)) {
    return InvalidArgumentError("found slope {}, expected one that broadcasts to {}",
                                context.input(1).shape().ToString(), x.ToString());
  }
  return Combine(context, kernels::PreluFn());
}

Dim AddOf(const Dim& a, const Dim& b) { return a + b; }
Dim SubOf(const Dim& a, const Dim& b) { return a - b; }
Dim MulOf(const Dim& a, const Dim& b) { return a * b; }
// Symbolic quotients are of sizes, which are not negative: rounding down is toward zero.
Dim DivOf(const Dim& a, const Dim& b) {
  if (b.known() && b.value() == 0) return Dim();
  if (a.known() && b.known() && b.value() != -1) return a.value() / b.value();
  return a.FloorDiv(b);
}

template <Dim (*function)(const Dim&, const Dim&)>
Status Infer(InferContext& context) {
  KHEYA_RETURN_IF_ERROR(InferBroadcast(context, context.input_dtype(0)));
  PropagateBinary(context, function);
  return OkStatus();
}

Status InferMod(InferContext& context) {
  KHEYA_RETURN_IF_ERROR(InferBroadcast(context, context.input_dtype(0)));
  const bool fmod = context.attributes().Int("fmod", 0) != 0;
  PropagateBinary(context, [fmod](const Dim& a, const Dim& b) {
    if (!a.known() || !b.known() || b.value() == 0) return Dim();
    return Dim(fmod ? kernels::FmodFn()(a.value(), b.value())
                    : kernels::ModFn()(a.value(), b.value()));
  });
  return OkStatus();
}

constexpr OpDef Op(const char* name, Status (*infer)(InferContext&),
                   Status (*evaluate)(EvalContext&),
                   std::span<const AttributeDef> attributes = {}) {
  return {.domain = "",
          .name = name,
          .category = "elementwise",
          .inputs = kInputs,
          .outputs = kOutputs,
          .attributes = attributes,
          .infer = infer,
          .evaluate = evaluate};
}

}  // namespace

extern const OpDef kAddOp;
const OpDef kAddOp = Op("Add", Infer<AddOf>, Evaluate<kernels::AddFn>);
extern const OpDef kDivOp;
const OpDef kDivOp = Op("Div", Infer<DivOf>, EvaluateDiv);
extern const OpDef kModOp;
const OpDef kModOp = Op("Mod", InferMod, EvaluateMod, kFmod);
extern const OpDef kMulOp;
const OpDef kMulOp = Op("Mul", Infer<MulOf>, Evaluate<kernels::MulFn>);
extern const OpDef kSubOp;
const OpDef kSubOp = Op("Sub", Infer<SubOf>, Evaluate<kernels::SubFn>);

extern const OpDef kPReluOp;
const OpDef kPReluOp = {.domain = "",
                        .name = "PRelu",
                        .category = "elementwise",
                        .inputs = kPreluInputs,
                        .outputs = kPreluOutputs,
                        .attributes = {},
                        .infer = InferSameType,
                        .evaluate = EvaluatePrelu};

}  // namespace kheya
