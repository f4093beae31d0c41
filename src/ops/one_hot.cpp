#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "kernels/reference/movement.h"
#include "kernels/reference/numeric_dispatch.h"
#include "ops/axes.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {
    {"indices", types::kNumeric}, {"depth", types::kNumeric}, {"values", types::kEvery, 'T'}};
constexpr ParamDef kOutputs[] = {{"output", types::kEvery, 'T'}};
constexpr AttributeDef kAttributes[] = {{"axis", AttributeKind::kInt}};

Status Infer(InferContext& context) {
  const DType dtype = context.input_dtype(2);
  std::optional<SymbolicShape> shape = ShapeOrNull(context, 0);
  if (!shape) return context.SetOutput(0, dtype, std::nullopt);
  KHEYA_ASSIGN_OR_RETURN(int axis, NormalizeAxis(context.attributes().Int("axis", -1),
                                                 static_cast<int>(shape->size()) + 1));
  const std::optional<std::vector<Dim>> depth = context.input_elements(1);
  shape->insert(shape->begin() + axis, depth && depth->size() == 1 ? depth->front() : Dim());
  return context.SetOutput(0, dtype, std::move(shape));
}

// The elements as integers, fractions cut; what is no integer (NaN, too large) becomes the
// smallest int64, which is outside every range.
Result<std::vector<int64_t>> TruncatedElements(const Tensor& tensor) {
  std::vector<int64_t> result;
  KHEYA_RETURN_IF_ERROR(kernels::CallWithNumericType(tensor.dtype(), [&]<typename T>(T) {
    for (const T element : tensor.data<T>()) {
      if constexpr (std::is_integral_v<T>) {
        result.push_back(static_cast<int64_t>(element));
      } else {
        const double value = std::trunc(static_cast<double>(element));
        const bool fits = std::abs(value) < 9e18;
        result.push_back(fits ? static_cast<int64_t>(value) : std::numeric_limits<int64_t>::min());
      }
    }
  }));
  return result;
}

Result<int64_t> ReadDepth(const Tensor& depth) {
  if (depth.num_elements() != 1) {
    return InvalidArgumentError("found a depth of type {}, expected one number",
                                depth.TypeString());
  }
  KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> values, TruncatedElements(depth));
  if (values[0] < 0) {
    return InvalidArgumentError("found a depth of {}, expected 0 or more", values[0]);
  }
  return values[0];
}

Status Evaluate(EvalContext& context) {
  const Tensor& indices = context.input(0);
  const Tensor& values = context.input(2);
  KHEYA_ASSIGN_OR_RETURN(int64_t depth, ReadDepth(context.input(1)));
  if (values.shape().rank() != 1 || values.num_elements() != 2) {
    return InvalidArgumentError("found values of type {}, expected the off and the on value",
                                values.TypeString());
  }
  KHEYA_ASSIGN_OR_RETURN(
      int axis, NormalizeAxis(context.attributes().Int("axis", -1), indices.shape().rank() + 1));
  std::vector<int64_t> dims(indices.shape().begin(), indices.shape().end());
  dims.insert(dims.begin() + axis, depth);
  KHEYA_ASSIGN_OR_RETURN(Shape shape, Shape::Create(dims));
  KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> hot, TruncatedElements(indices));
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView out, context.Output(0, values.dtype(), shape));
  KHEYA_RETURN_IF_ERROR(kernels::FillWith(values.view(), out));
  const int64_t inner = shape.Product(axis + 1, shape.rank());
  for (int64_t i = 0; i < indices.num_elements(); ++i) {
    const int64_t index = hot[i] < 0 && hot[i] >= -depth ? hot[i] + depth : hot[i];
    if (index < 0 || index >= depth) continue;  // all off
    kernels::CopyElements(values.view(), 1, out, (i / inner * depth + index) * inner + i % inner,
                          1);
  }
  return OkStatus();
}

}  // namespace

extern const OpDef kOneHotOp;
const OpDef kOneHotOp = {.domain = "",
                         .name = "OneHot",
                         .category = "shape",
                         .inputs = kInputs,
                         .outputs = kOutputs,
                         .attributes = kAttributes,
                         .infer = Infer,
                         .evaluate = Evaluate};

}  // namespace kheya
