#include "ops/wide.h"

namespace kheya {
namespace {

bool IsHalf(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kBFloat16; }

template <typename Half>
void Widen(const Tensor& from, Tensor& to) {
  const auto halves = from.data<Half>();
  const auto floats = to.mutable_data<float>();
  for (size_t i = 0; i < floats.size(); ++i) floats[i] = static_cast<float>(halves[i]);
}

template <typename Half>
void Narrow(const Tensor& from, const MutableTensorView& to) {
  const auto floats = from.data<float>();
  const auto halves = to.as<Half>();
  for (size_t i = 0; i < floats.size(); ++i) halves[i] = Half(floats[i]);
}

}  // namespace

Result<Tensor> WideInput(EvalContext& context, int index) {
  if (!context.has_input(index)) return Tensor();
  const Tensor& input = context.input(index);
  if (!IsHalf(input.dtype())) return input;
  KHEYA_ASSIGN_OR_RETURN(Tensor wide,
                         Tensor::Allocate(DType::kFloat32, input.shape(), context.budget()));
  if (input.dtype() == DType::kFloat16) {
    Widen<Float16>(input, wide);
  } else {
    Widen<BFloat16>(input, wide);
  }
  return wide;
}

Result<WideOutput> WideOutput::Create(EvalContext& context, int index, DType dtype,
                                      const Shape& shape) {
  WideOutput output;
  KHEYA_ASSIGN_OR_RETURN(output.target_, context.Output(index, dtype, shape));
  output.view_ = output.target_;
  if (IsHalf(dtype)) {
    KHEYA_ASSIGN_OR_RETURN(output.wide_,
                           Tensor::Allocate(DType::kFloat32, shape, context.budget()));
    output.view_ = output.wide_.mutable_view();
  }
  return output;
}

Status WideOutput::Finish() {
  if (target_.dtype == DType::kFloat16) Narrow<Float16>(wide_, target_);
  if (target_.dtype == DType::kBFloat16) Narrow<BFloat16>(wide_, target_);
  return OkStatus();
}

}  // namespace kheya
