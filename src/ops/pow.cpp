#include <cmath>
#include <optional>

#include "kernels/reference/arithmetic.h"
#include "kernels/reference/cast.h"
#include "kernels/reference/elementwise.h"
#include "ops/infer_util.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr TypeMask kBases = types::kFloat | types::kIndex;
constexpr ParamDef kInputs[] = {{"X", kBases, 'T'}, {"Y", types::kNumeric}};
constexpr ParamDef kOutputs[] = {{"Z", kBases, 'T'}};

Status Infer(InferContext& context) {
  KHEYA_RETURN_IF_ERROR(InferBroadcast(context, context.input_dtype(0)));
  PropagateBinary(context, [](const Dim& base, const Dim& exponent) {
    return exponent.known() && exponent.value() == 1 ? base : Dim();
  });
  return OkStatus();
}

// The same tensor in another type.
Result<Tensor> Converted(EvalContext& context, const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  KHEYA_ASSIGN_OR_RETURN(Tensor converted,
                         Tensor::Allocate(dtype, tensor.shape(), context.budget()));
  KHEYA_RETURN_IF_ERROR(kernels::Cast(tensor.view(), converted.mutable_view()));
  return converted;
}

// Integers to integer powers stay exact.
Status IntegerPowers(EvalContext& context, const Tensor& x, const MutableTensorView& out) {
  KHEYA_ASSIGN_OR_RETURN(Tensor y, Converted(context, context.input(1), DType::kInt64));
  const auto power = [](auto base, int64_t exponent) {
    return kernels::IntegerPower(base, exponent);
  };
  if (x.dtype() == DType::kInt32) {
    kernels::CombineElements<int32_t, int64_t, int32_t>(x.view(), y.view(), out, power);
  } else {
    kernels::CombineElements<int64_t, int64_t, int64_t>(x.view(), y.view(), out, power);
  }
  return OkStatus();
}

Status RealPowers(EvalContext& context, const Tensor& x, const MutableTensorView& out) {
  KHEYA_ASSIGN_OR_RETURN(Tensor y, Converted(context, context.input(1), DType::kFloat64));
  const std::optional<double> one =
      y.num_elements() == 1 ? std::optional(y.data<double>()[0]) : std::nullopt;
  if (one == 2.0 && out.shape == x.shape()) {
    return kernels::MapReal(x.view(), out, [](auto value) { return value * value; });
  }
  return kernels::CallWithRealType(x.dtype(), [&]<typename T>(const T&) {
    kernels::CombineElements<T, double, T>(x.view(), y.view(), out, [](auto base, double exponent) {
      return static_cast<kernels::ComputeType<T>>(std::pow(static_cast<double>(base), exponent));
    });
  });
}

// Integers to real powers: computed as double and cut.
Status MixedPowers(EvalContext& context, const Tensor& x, const MutableTensorView& out) {
  KHEYA_ASSIGN_OR_RETURN(Tensor base, Converted(context, x, DType::kFloat64));
  KHEYA_ASSIGN_OR_RETURN(Tensor power,
                         Tensor::Allocate(DType::kFloat64, out.shape, context.budget()));
  KHEYA_RETURN_IF_ERROR(RealPowers(context, base, power.mutable_view()));
  return kernels::Cast(power.view(), out);
}

Status Evaluate(EvalContext& context) {
  const Tensor& x = context.input(0);
  const Tensor& y = context.input(1);
  KHEYA_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(x.shape(), y.shape()));
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView out, context.Output(0, x.dtype(), shape));
  if (!IsInteger(x.dtype())) return RealPowers(context, x, out);
  return IsInteger(y.dtype()) ? IntegerPowers(context, x, out) : MixedPowers(context, x, out);
}

}  // namespace

extern const OpDef kPowOp;
const OpDef kPowOp = {.domain = "",
                      .name = "Pow",
                      .category = "elementwise",
                      .inputs = kInputs,
                      .outputs = kOutputs,
                      .attributes = {},
                      .infer = Infer,
                      .evaluate = Evaluate};

}  // namespace kheya
