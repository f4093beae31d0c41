#include "ops/infer_util.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "ops/axes.h"

namespace kheya {
namespace {

using Elements = std::vector<Dim>;

bool Holds(DType dtype, const Dim& element) {
  if (!element.known()) return true;
  switch (dtype) {
    case DType::kInt64:
      return true;
    case DType::kInt32:
      return element.value() >= std::numeric_limits<int32_t>::min() &&
             element.value() <= std::numeric_limits<int32_t>::max();
    case DType::kBool:
      return element.value() == 0 || element.value() == 1;
    default:
      return false;
  }
}

// Sets the elements, unless the output's type is one that is not propagated.
void SetElements(InferContext& context, Elements elements) {
  const DType dtype = context.output_type(0).dtype;
  if (dtype != DType::kInt64 && dtype != DType::kInt32 && dtype != DType::kBool) return;
  for (Dim& element : elements) {
    if (!Holds(dtype, element)) element = Dim();
  }
  context.SetOutputElements(0, std::move(elements));
}

// The size of lists broadcast together; nullopt when they do not.
std::optional<size_t> CommonSize(std::initializer_list<const Elements*> lists) {
  size_t size = 1;
  for (const Elements* list : lists) {
    if (list->size() != 1) size = list->size();
  }
  for (const Elements* list : lists) {
    if (list->size() != 1 && list->size() != size) return std::nullopt;
  }
  return size;
}

const Dim& At(const Elements& elements, size_t index) {
  return elements[elements.size() == 1 ? 0 : index];
}

std::optional<Elements> Combine(const Elements& a, const Elements& b,
                                FunctionRef<Dim(const Dim&, const Dim&)> function) {
  const std::optional<size_t> size = CommonSize({&a, &b});
  if (!size) return std::nullopt;
  Elements elements;
  for (size_t i = 0; i < *size; ++i) elements.push_back(function(At(a, i), At(b, i)));
  return elements;
}

}  // namespace

Status InferSameShape(InferContext& context, DType dtype) {
  return context.SetOutput(0, dtype, ShapeOrNull(context, 0));
}

Status InferSameType(InferContext& context) {
  return InferSameShape(context, context.input_dtype(0));
}

Status InferIdentity(InferContext& context) {
  KHEYA_RETURN_IF_ERROR(context.SetOutputType(0, context.input_type(0)));
  if (auto elements = context.input_elements(0)) context.SetOutputElements(0, *elements);
  return OkStatus();
}

Status InferBroadcast(InferContext& context, DType dtype) {
  SymbolicShape shape;
  for (int i = 0; i < context.num_inputs(); ++i) {
    const SymbolicShape* input = context.input_shape(i);
    if (input == nullptr) return context.SetOutput(0, dtype, std::nullopt);
    KHEYA_ASSIGN_OR_RETURN(shape, BroadcastShapes(shape, *input));
  }
  return context.SetOutput(0, dtype, std::move(shape));
}

void PropagateUnary(InferContext& context, FunctionRef<Dim(const Dim&)> function) {
  const std::optional<Elements> input = context.input_elements(0);
  if (!input) return;
  Elements elements;
  for (const Dim& element : *input) elements.push_back(function(element));
  SetElements(context, std::move(elements));
}

void PropagateBinary(InferContext& context, FunctionRef<Dim(const Dim&, const Dim&)> function) {
  const std::optional<Elements> a = context.input_elements(0);
  const std::optional<Elements> b = context.input_elements(1);
  if (!a || !b) return;
  if (auto elements = Combine(*a, *b, function)) SetElements(context, *std::move(elements));
}

void PropagateTernary(InferContext& context,
                      FunctionRef<Dim(const Dim&, const Dim&, const Dim&)> function) {
  const std::optional<Elements> a = context.input_elements(0);
  const std::optional<Elements> b = context.input_elements(1);
  const std::optional<Elements> c = context.input_elements(2);
  if (!a || !b || !c) return;
  const std::optional<size_t> size = CommonSize({&*a, &*b, &*c});
  if (!size) return;
  Elements elements;
  for (size_t i = 0; i < *size; ++i) elements.push_back(function(At(*a, i), At(*b, i), At(*c, i)));
  SetElements(context, std::move(elements));
}

void PropagateVariadic(InferContext& context, FunctionRef<Dim(const Dim&, const Dim&)> function) {
  std::optional<Elements> elements = context.input_elements(0);
  for (int i = 1; elements && i < context.num_inputs(); ++i) {
    const std::optional<Elements> next = context.input_elements(i);
    elements = next ? Combine(*elements, *next, function) : std::nullopt;
  }
  if (elements) SetElements(context, *std::move(elements));
}

}  // namespace kheya
