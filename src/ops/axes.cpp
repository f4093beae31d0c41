#include "ops/axes.h"

#include <algorithm>

namespace kheya {

Result<int> NormalizeAxis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    return InvalidArgumentError("found axis {}, expected one in [{}, {}]", axis, -rank, rank - 1);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Result<std::vector<int>> NormalizeAxes(std::span<const int64_t> axes, int rank) {
  std::vector<int> normalized;
  for (int64_t axis : axes) {
    KHEYA_ASSIGN_OR_RETURN(int positive, NormalizeAxis(axis, rank));
    if (std::find(normalized.begin(), normalized.end(), positive) != normalized.end()) {
      return InvalidArgumentError("found axis {} twice", axis);
    }
    normalized.push_back(positive);
  }
  return normalized;
}

std::optional<std::vector<int64_t>> KnownElements(const InferContext& context, int index) {
  const std::optional<std::vector<Dim>> elements = context.input_elements(index);
  if (!elements) return std::nullopt;
  std::vector<int64_t> known;
  for (const Dim& element : *elements) {
    if (!element.known()) return std::nullopt;
    known.push_back(element.value());
  }
  return known;
}

std::optional<int64_t> KnownLength(const InferContext& context, int index) {
  const auto elements = context.input_elements(index);
  return elements ? std::optional(static_cast<int64_t>(elements->size())) : std::nullopt;
}

Result<std::vector<int64_t>> IntListInput(const EvalContext& context, int index) {
  const Tensor& tensor = context.input(index);
  if (tensor.shape().rank() > 1) {
    return InvalidArgumentError("found input {} of type {}, expected a list of integers", index,
                                tensor.TypeString());
  }
  return ToInt64s(tensor);
}

Result<int64_t> IntScalarInput(const EvalContext& context, int index) {
  const Tensor& tensor = context.input(index);
  if (tensor.num_elements() != 1) {
    return InvalidArgumentError("found input {} of type {}, expected one integer", index,
                                tensor.TypeString());
  }
  KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> values, ToInt64s(tensor));
  return values[0];
}

SymbolicShape UnknownDims(int rank) { return SymbolicShape(static_cast<size_t>(rank)); }

Dim ProductOf(std::span<const Dim> dims) {
  Dim product = 1;
  for (const Dim& dim : dims) product = product * dim;
  return product;
}

std::optional<SymbolicShape> ShapeOrNull(const InferContext& context, int index) {
  const SymbolicShape* shape = context.input_shape(index);
  return shape == nullptr ? std::nullopt : std::optional(*shape);
}

}  // namespace kheya
