// Max, Min, Sum and Mean: elementwise functions of one or more tensors.
#include "kernels/reference/arithmetic.h"
#include "kernels/reference/elementwise.h"
#include "ops/infer_util.h"
#include "ops/op.h"
#include "ops/wide.h"

namespace kheya {
namespace {

constexpr ParamDef kNumbers[] = {{"data_0", types::kNumeric, 'T', Presence::kVariadic}};
constexpr ParamDef kNumber[] = {{"result", types::kNumeric, 'T'}};
constexpr ParamDef kFloats[] = {{"data_0", types::kFloat, 'T', Presence::kVariadic}};
constexpr ParamDef kFloat[] = {{"result", types::kFloat, 'T'}};

Result<Shape> CommonShape(const EvalContext& context) {
  Shape shape;
  for (int i = 0; i < context.num_inputs(); ++i) {
    KHEYA_ASSIGN_OR_RETURN(shape, BroadcastShapes(shape, context.input(i).shape()));
  }
  return shape;
}

// Folds all inputs into the output, in float32 for the half types.
template <typename Function>
Result<WideOutput> Fold(EvalContext& context, Function function) {
  KHEYA_ASSIGN_OR_RETURN(Shape shape, CommonShape(context));
  KHEYA_ASSIGN_OR_RETURN(WideOutput out,
                         WideOutput::Create(context, 0, context.input(0).dtype(), shape));
  for (int i = 0; i < context.num_inputs(); ++i) {
    KHEYA_RETURN_IF_ERROR(context.CheckAlive());
    KHEYA_ASSIGN_OR_RETURN(Tensor input, WideInput(context, i));
    const TensorView before = i == 0 ? input.view() : TensorView(out.view());
    KHEYA_RETURN_IF_ERROR(kernels::CallWithNumericType(input.dtype(), [&]<typename T>(const T&) {
      kernels::CombineElements<T, T, T>(before, input.view(), out.view(), [&](auto a, auto b) {
        return i == 0 ? b : function(a, b);
      });
    }));
  }
  return out;
}

template <typename Function>
Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(WideOutput out, Fold(context, Function()));
  return out.Finish();
}

Status EvaluateMean(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(WideOutput out, Fold(context, kernels::AddFn()));
  const double count = context.num_inputs();
  KHEYA_RETURN_IF_ERROR(kernels::MapReal(out.view(), out.view(), [count](auto value) {
    return static_cast<decltype(value)>(value / count);
  }));
  return out.Finish();
}

Dim LargerOf(const Dim& a, const Dim& b) {
  if (a == b) return a;
  return a.known() && b.known() ? Dim(kernels::MaxFn()(a.value(), b.value())) : Dim();
}
Dim SmallerOf(const Dim& a, const Dim& b) {
  if (a == b) return a;
  return a.known() && b.known() ? Dim(kernels::MinFn()(a.value(), b.value())) : Dim();
}

Status InferFloats(InferContext& context) {
  return InferBroadcast(context, context.input_dtype(0));
}

template <Dim (*function)(const Dim&, const Dim&)>
Status Infer(InferContext& context) {
  KHEYA_RETURN_IF_ERROR(InferBroadcast(context, context.input_dtype(0)));
  PropagateVariadic(context, function);
  return OkStatus();
}

constexpr OpDef Op(const char* name, std::span<const ParamDef> inputs,
                   std::span<const ParamDef> outputs, Status (*infer)(InferContext&),
                   Status (*evaluate)(EvalContext&)) {
  return {.domain = "",
          .name = name,
          .category = "elementwise",
          .inputs = inputs,
          .outputs = outputs,
          .attributes = {},
          .infer = infer,
          .evaluate = evaluate};
}

}  // namespace

extern const OpDef kMaxOp;
const OpDef kMaxOp = Op("Max", kNumbers, kNumber, Infer<LargerOf>, Evaluate<kernels::MaxFn>);
extern const OpDef kMeanOp;
const OpDef kMeanOp = Op("Mean", kFloats, kFloat, InferFloats, EvaluateMean);
extern const OpDef kMinOp;
const OpDef kMinOp = Op("Min", kNumbers, kNumber, Infer<SmallerOf>, Evaluate<kernels::MinFn>);
extern const OpDef kSumOp;
const OpDef kSumOp = Op("Sum", kFloats, kFloat, InferFloats, Evaluate<kernels::AddFn>);

}  // namespace kheya
