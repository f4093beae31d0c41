// Comparisons and logic: elementwise functions of two tensors that give bool.
#include <functional>

#include "kernels/reference/elementwise.h"
#include "ops/infer_util.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kNumbers[] = {{"A", types::kNumeric, 'T'}, {"B", types::kNumeric, 'T'}};
constexpr ParamDef kAnything[] = {{"A", types::kAll, 'T'}, {"B", types::kAll, 'T'}};
constexpr ParamDef kBools[] = {{"A", types::kBool}, {"B", types::kBool}};
constexpr ParamDef kOneBool[] = {{"X", types::kBool}};
constexpr ParamDef kOutputs[] = {{"C", types::kBool}};

// Calls function(a, b, out) with the two inputs and the broadcast output.
template <typename Function>
Status WithOperands(EvalContext& context, Function function) {
  const Tensor& a = context.input(0);
  const Tensor& b = context.input(1);
  KHEYA_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(a.shape(), b.shape()));
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView out, context.Output(0, DType::kBool, shape));
  return function(a.view(), b.view(), out);
}

template <typename Compare>
Status EvaluateCompare(EvalContext& context) {
  return WithOperands(context,
                      [](const TensorView& a, const TensorView& b, const MutableTensorView& out) {
                        return kernels::CallWithNumericType(a.dtype, [&]<typename T>(const T&) {
                          kernels::CombineElements<T, T, bool>(a, b, out, Compare());
                        });
                      });
}

Status EvaluateEqual(EvalContext& context) {
  if (context.input(0).dtype() != DType::kString) return EvaluateCompare<std::equal_to<>>(context);
  return WithOperands(
      context, [](const TensorView& a, const TensorView& b, const MutableTensorView& out) {
        kernels::CombineElements<std::string, std::string, bool>(a, b, out, std::equal_to<>());
        return OkStatus();
      });
}

template <typename Logic>
Status EvaluateLogic(EvalContext& context) {
  return WithOperands(context,
                      [](const TensorView& a, const TensorView& b, const MutableTensorView& out) {
                        kernels::CombineElements<bool, bool, bool>(a, b, out, Logic());
                        return OkStatus();
                      });
}

Status EvaluateNot(EvalContext& context) {
  const Tensor& x = context.input(0);
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView y, context.Output(0, DType::kBool, x.shape()));
  kernels::MapElements<bool, bool>(x.view(), y, std::logical_not<>());
  return OkStatus();
}

// 0 or 1 where both are known.
template <typename Compare>
Dim CompareOf(const Dim& a, const Dim& b) {
  return a.known() && b.known() ? Dim(Compare()(a.value(), b.value()) ? 1 : 0) : Dim();
}

// Equal forms are equal; a symbol is a size and never a negative number.
Dim EqualOf(const Dim& a, const Dim& b) {
  if (a == b) return 1;
  const auto differs = [](const Dim& size, const Dim& number) {
    return size.symbol() && number.known() && number.value() < 0;
  };
  return differs(a, b) || differs(b, a) ? Dim(0) : CompareOf<std::equal_to<>>(a, b);
}

template <Dim (*function)(const Dim&, const Dim&)>
Status Infer(InferContext& context) {
  KHEYA_RETURN_IF_ERROR(InferBroadcast(context, DType::kBool));
  PropagateBinary(context, function);
  return OkStatus();
}

Status InferNot(InferContext& context) {
  KHEYA_RETURN_IF_ERROR(InferSameShape(context, DType::kBool));
  PropagateUnary(context, [](const Dim& x) { return Dim(1) - x; });
  return OkStatus();
}

constexpr OpDef Op(const char* name, std::span<const ParamDef> inputs,
                   Status (*infer)(InferContext&), Status (*evaluate)(EvalContext&)) {
  return {.domain = "",
          .name = name,
          .category = "comparison and logic",
          .inputs = inputs,
          .outputs = kOutputs,
          .attributes = {},
          .infer = infer,
          .evaluate = evaluate};
}

template <typename Compare>
constexpr OpDef CompareOp(const char* name) {
  return Op(name, kNumbers, Infer<CompareOf<Compare>>, EvaluateCompare<Compare>);
}

template <typename Logic>
constexpr OpDef LogicOp(const char* name) {
  return Op(name, kBools, Infer<CompareOf<Logic>>, EvaluateLogic<Logic>);
}

}  // namespace

extern const OpDef kAndOp;
const OpDef kAndOp = LogicOp<std::logical_and<>>("And");
extern const OpDef kEqualOp;
const OpDef kEqualOp = Op("Equal", kAnything, Infer<EqualOf>, EvaluateEqual);
extern const OpDef kGreaterOp;
const OpDef kGreaterOp = CompareOp<std::greater<>>("Greater");
extern const OpDef kGreaterOrEqualOp;
const OpDef kGreaterOrEqualOp = CompareOp<std::greater_equal<>>("GreaterOrEqual");
extern const OpDef kLessOp;
const OpDef kLessOp = CompareOp<std::less<>>("Less");
extern const OpDef kLessOrEqualOp;
const OpDef kLessOrEqualOp = CompareOp<std::less_equal<>>("LessOrEqual");
extern const OpDef kNotOp;
const OpDef kNotOp = Op("Not", kOneBool, InferNot, EvaluateNot);
extern const OpDef kOrOp;
const OpDef kOrOp = LogicOp<std::logical_or<>>("Or");
extern const OpDef kXorOp;
const OpDef kXorOp = LogicOp<std::not_equal_to<>>("Xor");

}  // namespace kheya
