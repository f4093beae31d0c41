#include "ops/quantized.h"

#include <vector>

#include "kernels/reference/elementwise.h"
#include "kernels/reference/quantize.h"
#include "tensor/small_types.h"

namespace kheya {
namespace {

Result<Tensor> Float64Of(const Tensor& tensor, const Shape& shape,
                         const std::shared_ptr<MemoryBudget>& budget) {
  KHEYA_ASSIGN_OR_RETURN(const std::vector<double> numbers, kernels::NumbersOf(tensor.view()));
  KHEYA_ASSIGN_OR_RETURN(Tensor wide, Tensor::Allocate(DType::kFloat64, shape, budget));
  std::ranges::copy(numbers, wide.mutable_data<double>().begin());
  return wide;
}

template <typename Function>
void CombineInPlace(Tensor& x, const Tensor& by, Function function) {
  kernels::CombineElements<double, double, double>(x.view(), by.view(), x.mutable_view(), function);
}

}  // namespace

Result<Tensor> BroadcastableInput(EvalContext& context, int index, const Shape& shape, int axis) {
  const Tensor& input = context.input(index);
  const Shape& own = input.shape();
  if (axis < 0) axis += shape.rank();
  Shape target = own;
  if (input.num_elements() == 1 && own.rank() > shape.rank()) target = Shape{};
  if (own.rank() == 1 && own[0] != 1 && axis >= 0 && axis < shape.rank()) {
    std::vector<int64_t> dims(shape.rank(), 1);
    dims[axis] = own[0];
    KHEYA_ASSIGN_OR_RETURN(target, Shape::Create(dims));
  }
  const Result<Shape> both = BroadcastShapes(target, shape);
  if (!both.ok() || *both != shape) {
    return InvalidArgumentError("found input {} of {}, expected one element or one for each of {}",
                                index, input.TypeString(), shape.ToString());
  }
  return Float64Of(input, target, context.budget());
}

Result<Tensor> DifferenceInput(EvalContext& context, int index, int zero_index, int axis) {
  const Tensor& input = context.input(index);
  KHEYA_ASSIGN_OR_RETURN(Tensor wide, Float64Of(input, input.shape(), context.budget()));
  if (!context.has_input(zero_index)) return wide;
  const int rank_axis = input.shape().rank() >= 2 ? axis : -1;
  KHEYA_ASSIGN_OR_RETURN(const Tensor zero,
                         BroadcastableInput(context, zero_index, input.shape(), rank_axis));
  CombineInPlace(wide, zero, std::minus<>());
  return wide;
}

Status GiveInt32(EvalContext& context, const Tensor& sums) {
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView y, context.Output(0, DType::kInt32, sums.shape()));
  const auto from = sums.data<double>();
  const auto to = y.as<int32_t>();
  for (size_t i = 0; i < to.size(); ++i) {
    to[i] = static_cast<int32_t>(static_cast<int64_t>(from[i]));
  }
  return OkStatus();
}

Status GiveRequantized(EvalContext& context, DType dtype, const Tensor& sums,
                       const Requantization& by) {
  KHEYA_ASSIGN_OR_RETURN(Tensor scale,
                         Tensor::Allocate(DType::kFloat64, sums.shape(), context.budget()));
  std::ranges::fill(scale.mutable_data<double>(), 1.0);
  // As in float32, in which runtimes agree on where a half is.
  const auto product = [](double a, double b) {
    return static_cast<double>(static_cast<float>(a) * static_cast<float>(b));
  };
  const auto quotient = [](double a, double b) {
    return static_cast<double>(static_cast<float>(a) / static_cast<float>(b));
  };
  CombineInPlace(scale, by.a_scale, product);
  CombineInPlace(scale, by.b_scale, product);
  CombineInPlace(scale, by.y_scale, quotient);
  CombineInPlace(scale, sums, product);
  KHEYA_ASSIGN_OR_RETURN(Tensor zero,
                         Tensor::Zeros(DType::kFloat64, sums.shape(), context.budget()));
  CombineInPlace(zero, by.y_zero, std::plus<>());
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView y, context.Output(0, dtype, sums.shape()));
  const auto values = scale.data<double>();
  const auto zeros = zero.data<double>();
  for (int64_t i = 0; i < sums.num_elements(); ++i) {
    if (IsSmallFloat(dtype)) {
      SetCode(dtype, y.data, i, DoubleToSmall(dtype, values[i] + zeros[i], {}));
      continue;
    }
    const int32_t value =
        kernels::Requantize(dtype, static_cast<float>(values[i]), static_cast<int32_t>(zeros[i]));
    static_cast<uint8_t*>(y.data)[i] = static_cast<uint8_t>(value);
  }
  return OkStatus();
}

}  // namespace kheya
