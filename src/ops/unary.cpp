// Elementwise functions of one tensor without attributes.
#include "kernels/reference/elementwise.h"
#include "kernels/reference/scalar_functions.h"
#include "ops/infer_util.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr TypeMask kSignedOrFloat = types::kFloat | types::kSigned;
constexpr ParamDef kFloats[] = {{"X", types::kFloat, 'T'}};
constexpr ParamDef kSignedOrFloats[] = {{"X", kSignedOrFloat, 'T'}};
constexpr ParamDef kNumbers[] = {{"X", types::kNumeric, 'T'}};

template <typename Function>
Status EvaluateReal(EvalContext& context) {
  const Tensor& x = context.input(0);
  KHEYA_ASSIGN_OR_RETURN(auto y, context.Output(0, x.dtype(), x.shape()));
  return kernels::MapReal(x.view(), y, Function());
}

template <typename Function>
Status EvaluateNumeric(EvalContext& context) {
  const Tensor& x = context.input(0);
  KHEYA_ASSIGN_OR_RETURN(auto y, context.Output(0, x.dtype(), x.shape()));
  return kernels::MapNumeric(x.view(), y, Function());
}

Dim AbsOf(const Dim& x) {
  if (x.known()) return x.value() < 0 ? Dim(0) - x : x;
  return x.symbol() ? x : Dim();  // a symbol is a size, never negative
}
Dim NegOf(const Dim& x) { return Dim(0) - x; }
Dim SignOf(const Dim& x) { return x.known() ? Dim((x.value() > 0) - (x.value() < 0)) : Dim(); }
Dim ReluOf(const Dim& x) {
  if (x.known()) return x.value() < 0 ? Dim(0) : x;
  return x.symbol() ? x : Dim();
}

template <Dim (*function)(const Dim&)>
Status InferWithElements(InferContext& context) {
  KHEYA_RETURN_IF_ERROR(InferSameType(context));
  PropagateUnary(context, function);
  return OkStatus();
}

constexpr OpDef Op(const char* name, std::span<const ParamDef> params,
                   Status (*infer)(InferContext&), Status (*evaluate)(EvalContext&)) {
  return {.domain = "",
          .name = name,
          .category = "elementwise",
          .inputs = params,
          .outputs = params,
          .attributes = {},
          .infer = infer,
          .evaluate = evaluate};
}

template <typename Function>
constexpr OpDef RealOp(const char* name) {
  return Op(name, kFloats, InferSameType, EvaluateReal<Function>);
}

template <typename Function>
constexpr OpDef NumericOp(const char* name, std::span<const ParamDef> params,
                          Status (*infer)(InferContext&)) {
  return Op(name, params, infer, EvaluateNumeric<Function>);
}

// Erf of integers is the erf rounded toward zero.
Status EvaluateErf(EvalContext& context) {
  const Tensor& x = context.input(0);
  KHEYA_ASSIGN_OR_RETURN(auto y, context.Output(0, x.dtype(), x.shape()));
  return kernels::MapNumeric(x.view(), y, [](auto value) { return std::erf(value); });
}

}  // namespace

#define KHEYA_REAL_OP(Name)       \
  extern const OpDef k##Name##Op; \
  const OpDef k##Name##Op = RealOp<kernels::Name##Fn>(#Name)

KHEYA_REAL_OP(Acos);
KHEYA_REAL_OP(Acosh);
KHEYA_REAL_OP(Asin);
KHEYA_REAL_OP(Asinh);
KHEYA_REAL_OP(Atan);
KHEYA_REAL_OP(Atanh);
KHEYA_REAL_OP(Ceil);
KHEYA_REAL_OP(Cos);
KHEYA_REAL_OP(Cosh);
KHEYA_REAL_OP(Exp);
KHEYA_REAL_OP(Floor);
KHEYA_REAL_OP(HardSwish);
KHEYA_REAL_OP(Log);
KHEYA_REAL_OP(Mish);
KHEYA_REAL_OP(Reciprocal);
KHEYA_REAL_OP(Round);
KHEYA_REAL_OP(Sigmoid);
KHEYA_REAL_OP(Sin);
KHEYA_REAL_OP(Sinh);
KHEYA_REAL_OP(Softplus);
KHEYA_REAL_OP(Softsign);
KHEYA_REAL_OP(Sqrt);
KHEYA_REAL_OP(Tan);
KHEYA_REAL_OP(Tanh);
#undef KHEYA_REAL_OP

extern const OpDef kAbsOp;
const OpDef kAbsOp = NumericOp<kernels::AbsFn>("Abs", kNumbers, InferWithElements<AbsOf>);
extern const OpDef kErfOp;
const OpDef kErfOp = Op("Erf", kNumbers, InferSameType, EvaluateErf);
extern const OpDef kNegOp;
const OpDef kNegOp = NumericOp<kernels::NegFn>("Neg", kSignedOrFloats, InferWithElements<NegOf>);
extern const OpDef kReluOp;
const OpDef kReluOp =
    NumericOp<kernels::ReluFn>("Relu", kSignedOrFloats, InferWithElements<ReluOf>);
extern const OpDef kSignOp;
const OpDef kSignOp = NumericOp<kernels::SignFn>("Sign", kNumbers, InferWithElements<SignOf>);

}  // namespace kheya
