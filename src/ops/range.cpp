#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "kernels/reference/elementwise.h"
#include "ops/axes.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr TypeMask kTypes = types::kFloat | MaskOf({DType::kInt16, DType::kInt32, DType::kInt64});
constexpr ParamDef kInputs[] = {
    {"start", kTypes, 'T'}, {"limit", kTypes, 'T'}, {"delta", kTypes, 'T'}};
constexpr ParamDef kOutputs[] = {{"output", kTypes, 'T'}};
constexpr AttributeDef kAttributes[] = {{"stash_type", AttributeKind::kInt}};

// max(0, ceil((limit - start) / delta)) on integers.
Result<int64_t> IntegerCount(int64_t start, int64_t limit, int64_t delta) {
  if (delta == 0) return InvalidArgumentError("found a delta of 0, expected another");
  if (delta > 0 ? limit <= start : limit >= start) return 0;
  const uint64_t width = delta > 0 ? static_cast<uint64_t>(limit) - static_cast<uint64_t>(start)
                                   : static_cast<uint64_t>(start) - static_cast<uint64_t>(limit);
  const uint64_t step =
      delta > 0 ? static_cast<uint64_t>(delta) : uint64_t{0} - static_cast<uint64_t>(delta);
  const uint64_t count = (width - 1) / step + 1;
  if (count > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return InvalidArgumentError("found {} elements from {} to {}, too many", count, start, limit);
  }
  return static_cast<int64_t>(count);
}

Result<int64_t> RealCount(double start, double limit, double delta) {
  const double count = std::ceil((limit - start) / delta);
  if (!std::isfinite(count) || count > 9e18) {
    return InvalidArgumentError("found a range from {} to {} by {}, expected a finite one", start,
                                limit, delta);
  }
  return count > 0 ? static_cast<int64_t>(count) : 0;
}

// The only element of input `index`, when it is known or symbolic.
Dim ScalarElement(const InferContext& context, int index) {
  const std::optional<std::vector<Dim>> elements = context.input_elements(index);
  return elements && elements->size() == 1 ? elements->front() : Dim();
}

Status Infer(InferContext& context) {
  const DType dtype = context.input_dtype(0);
  const Dim start = ScalarElement(context, 0), limit = ScalarElement(context, 1),
            delta = ScalarElement(context, 2);
  if (!start.known() || !limit.known() || !delta.known()) {
    const Dim width = limit - start;
    // A symbol is a size, so it is not negative; other forms might be.
    const bool countable = delta.known() && delta.value() == 1 && width.symbol();
    return context.SetOutput(0, dtype, SymbolicShape{countable ? width : Dim()});
  }
  KHEYA_ASSIGN_OR_RETURN(int64_t count, IntegerCount(start.value(), limit.value(), delta.value()));
  KHEYA_RETURN_IF_ERROR(context.SetOutput(0, dtype, SymbolicShape{Dim(count)}));
  if (count > kMaxPropagatedElements) return OkStatus();
  std::vector<Dim> elements;
  for (int64_t i = 0; i < count; ++i) elements.push_back(start + delta * Dim(i));
  context.SetOutputElements(0, std::move(elements));
  return OkStatus();
}

// Counted and computed in Wide, each element rounded once to T.
template <typename T, typename Wide = T>
Status EvaluateTyped(EvalContext& context) {
  const auto at = [&](int i) {
    return static_cast<Wide>(static_cast<kernels::ComputeType<T>>(context.input(i).data<T>()[0]));
  };
  const Wide start = at(0), limit = at(1), delta = at(2);
  int64_t count = 0;
  if constexpr (std::is_integral_v<T>) {
    KHEYA_ASSIGN_OR_RETURN(count, IntegerCount(start, limit, delta));
  } else {
    KHEYA_ASSIGN_OR_RETURN(count, RealCount(start, limit, delta));
  }
  KHEYA_ASSIGN_OR_RETURN(Shape shape, Shape::Create(std::array{count}));
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView out, context.Output(0, DTypeOf<T>, shape));
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_integral_v<T>) {
      // The product alone may overflow where the sum does not.
      out.as<T>()[i] = static_cast<T>(static_cast<uint64_t>(start) +
                                      static_cast<uint64_t>(i) * static_cast<uint64_t>(delta));
    } else {
      const Wide value = start + static_cast<Wide>(i) * delta;
      out.as<T>()[i] = static_cast<T>(static_cast<kernels::ComputeType<T>>(value));
    }
  }
  return OkStatus();
}

template <typename T>
Status EvaluateHalf(EvalContext& context) {
  const int64_t stash = context.attributes().Int("stash_type", 1);
  if (stash == static_cast<int64_t>(DType::kFloat32)) return EvaluateTyped<T, float>(context);
  if (stash == static_cast<int64_t>(DType::kFloat64)) return EvaluateTyped<T, double>(context);
  return InvalidArgumentError("found stash_type {}, expected 1 (float32) or 11 (float64)", stash);
}

Status Evaluate(EvalContext& context) {
  for (int i = 0; i < 3; ++i) {
    const Tensor& input = context.input(i);
    if (input.num_elements() != 1 || input.dtype() != context.input(0).dtype()) {
      return InvalidArgumentError("found input {} of type {}, expected one {}", i,
                                  input.TypeString(), DTypeName(context.input(0).dtype()));
    }
  }
  switch (context.input(0).dtype()) {
    case DType::kFloat16:
      return EvaluateHalf<Float16>(context);
    case DType::kBFloat16:
      return EvaluateHalf<BFloat16>(context);
    case DType::kFloat32:
      return EvaluateTyped<float>(context);
    case DType::kFloat64:
      return EvaluateTyped<double>(context);
    case DType::kInt16:
      return EvaluateTyped<int16_t>(context);
    case DType::kInt32:
      return EvaluateTyped<int32_t>(context);
    case DType::kInt64:
      return EvaluateTyped<int64_t>(context);
    default:
      return UnimplementedError("found a range of type {}, which is not supported",
                                DTypeName(context.input(0).dtype()));
  }
}

}  // namespace

extern const OpDef kRangeOp;
const OpDef kRangeOp = {.domain = "",
                        .name = "Range",
                        .category = "shape",
                        .inputs = kInputs,
                        .outputs = kOutputs,
                        .attributes = kAttributes,
                        .infer = Infer,
                        .evaluate = Evaluate};

}  // namespace kheya
