#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/reference/movement.h"
#include "kernels/reference/numeric_dispatch.h"
#include "ops/axes.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"X", types::kNumeric, 'T'}, {"K", types::kInt64}};
constexpr ParamDef kOutputs[] = {{"Values", types::kNumeric, 'T'}, {"Indices", types::kInt64}};
constexpr AttributeDef kAttributes[] = {{"axis", AttributeKind::kInt},
                                        {"largest", AttributeKind::kInt},
                                        {"sorted", AttributeKind::kInt}};

Status Infer(InferContext& context) {
  std::optional<SymbolicShape> shape = ShapeOrNull(context, 0);
  if (shape) {
    KHEYA_ASSIGN_OR_RETURN(int axis, NormalizeAxis(context.attributes().Int("axis", -1),
                                                   static_cast<int>(shape->size())));
    const std::optional<std::vector<Dim>> k = context.input_elements(1);
    (*shape)[axis] = k && k->size() == 1 ? k->front() : Dim();
  }
  KHEYA_RETURN_IF_ERROR(context.SetOutput(1, DType::kInt64, shape));
  return context.SetOutput(0, context.input_dtype(0), std::move(shape));
}

// Whether a comes before b: larger (or smaller) first, NaN as the largest.
template <typename T>
bool Before(T a, T b, bool largest) {
  if constexpr (!std::is_integral_v<T>) {
    const bool a_nan = std::isnan(static_cast<float>(a)), b_nan = std::isnan(static_cast<float>(b));
    if (a_nan || b_nan) return largest ? a_nan && !b_nan : b_nan && !a_nan;
  }
  return largest ? a > b : a < b;
}

struct TopKSizes {
  int64_t outer, size, inner, k;
  bool largest;
};

// Fills `indices` [outer, k, inner] with positions along the axis, best first, equals in order.
template <typename T>
void FindTop(const TopKSizes& sizes, const T* x, std::span<int64_t> indices) {
  std::vector<int64_t> order(sizes.size);
  for (int64_t i = 0; i < sizes.outer * sizes.inner; ++i) {
    const int64_t outer = i / sizes.inner, inner = i % sizes.inner;
    const T* line = x + outer * sizes.size * sizes.inner + inner;
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + sizes.k, order.end(),
                      [&](int64_t a, int64_t b) {
                        const T left = line[a * sizes.inner], right = line[b * sizes.inner];
                        if (Before(left, right, sizes.largest)) return true;
                        return !Before(right, left, sizes.largest) && a < b;
                      });
    for (int64_t j = 0; j < sizes.k; ++j) {
      indices[(outer * sizes.k + j) * sizes.inner + inner] = order[j];
    }
  }
}

Status Evaluate(EvalContext& context) {
  const Tensor& x = context.input(0);
  const Shape& in = x.shape();
  KHEYA_ASSIGN_OR_RETURN(int axis, NormalizeAxis(context.attributes().Int("axis", -1), in.rank()));
  KHEYA_ASSIGN_OR_RETURN(int64_t k, IntScalarInput(context, 1));
  if (k < 0 || k > in[axis]) {
    return InvalidArgumentError("found K of {}, expected 0 to the {} elements of axis {}", k,
                                in[axis], axis);
  }
  std::vector<int64_t> dims(in.begin(), in.end());
  dims[axis] = k;
  KHEYA_ASSIGN_OR_RETURN(Shape shape, Shape::Create(dims));
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView values, context.Output(0, x.dtype(), shape));
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView indices, context.Output(1, DType::kInt64, shape));
  if (shape.num_elements() == 0) return OkStatus();
  const TopKSizes sizes = {in.Product(0, axis), in[axis], in.Product(axis + 1, in.rank()), k,
                           context.attributes().Int("largest", 1) != 0};
  KHEYA_RETURN_IF_ERROR(kernels::CallWithNumericType(x.dtype(), [&]<typename T>(T) {
    FindTop(sizes, x.data<T>().data(), indices.as<int64_t>());
  }));
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    const int64_t outer = i / sizes.inner / k, inner = i % sizes.inner;
    const int64_t from = (outer * sizes.size + indices.as<int64_t>()[i]) * sizes.inner + inner;
    kernels::CopyElements(x.view(), from, values, i, 1);
  }
  return OkStatus();
}

}  // namespace

extern const OpDef kTopKOp;
const OpDef kTopKOp = {.domain = "",
                       .name = "TopK",
                       .category = "shape",
                       .inputs = kInputs,
                       .outputs = kOutputs,
                       .attributes = kAttributes,
                       .infer = Infer,
                       .evaluate = Evaluate};

}  // namespace kheya
