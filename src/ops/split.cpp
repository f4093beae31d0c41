#include <algorithm>
#include <vector>

#include "base/checked_math.h"
#include "kernels/reference/movement.h"
#include "ops/axes.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"input", types::kEvery, 'T'},
                                {"split", types::kInt64, '\0', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"outputs", types::kEvery, 'T', Presence::kVariadic}};
constexpr AttributeDef kAttributes[] = {{"axis", AttributeKind::kInt},
                                        {"num_outputs", AttributeKind::kInt}};

Status CheckNumOutputs(const AttributeReader& attributes, int outputs) {
  const int64_t declared = attributes.Int("num_outputs", outputs);
  if (declared == outputs && outputs > 0) return OkStatus();
  return InvalidArgumentError("found {} outputs, num_outputs is {}", outputs, declared);
}

// Equal parts, the last ones smaller when they do not come out even.
std::vector<int64_t> EvenParts(int64_t size, int outputs) {
  const int64_t part = size / outputs + (size % outputs != 0 ? 1 : 0);
  std::vector<int64_t> parts;
  for (int i = 0; i < outputs; ++i) {
    parts.push_back(std::min(part, size));
    size -= parts.back();
  }
  return parts;
}

Status CheckParts(std::span<const int64_t> parts, int outputs, int64_t size) {
  if (static_cast<int>(parts.size()) != outputs) {
    return InvalidArgumentError("found {} parts in split, expected one for each of {} outputs",
                                parts.size(), outputs);
  }
  int64_t sum = 0;
  for (int64_t part : parts) {
    if (part < 0 || !CheckedAdd(sum, part, &sum)) {
      return InvalidArgumentError("found a part of {} in split, expected 0 or more", part);
    }
  }
  if (sum == size) return OkStatus();
  return InvalidArgumentError("found parts with sum {} of an axis of {}", sum, size);
}

// The size of each part where it can be told.
Result<std::vector<Dim>> SymbolicParts(const InferContext& context, const Dim& size) {
  const int outputs = context.num_outputs();
  if (context.has_input(1)) {
    const auto elements = context.input_elements(1);
    const auto known = KnownElements(context, 1);
    if (known && size.known()) KHEYA_RETURN_IF_ERROR(CheckParts(*known, outputs, size.value()));
    if (!elements || static_cast<int>(elements->size()) != outputs) {
      return std::vector<Dim>(outputs);
    }
    return *elements;
  }
  KHEYA_RETURN_IF_ERROR(CheckNumOutputs(context.attributes(), outputs));
  if (size.known()) {
    const std::vector<int64_t> parts = EvenParts(size.value(), outputs);
    return std::vector<Dim>(parts.begin(), parts.end());
  }
  const Dim part = size.FloorDiv(outputs);
  return std::vector<Dim>(outputs, part * outputs == size ? part : Dim());
}

// Splits a list whose elements are known.
void SplitElements(InferContext& context, const std::vector<Dim>& parts) {
  const std::optional<std::vector<Dim>> elements = context.input_elements(0);
  if (!elements) return;
  size_t start = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].known()) return;
    const size_t end = start + static_cast<size_t>(parts[i].value());
    if (end > elements->size()) return;
    context.SetOutputElements(static_cast<int>(i),
                              {elements->begin() + start, elements->begin() + end});
    start = end;
  }
}

Status Infer(InferContext& context) {
  const SymbolicShape* input = context.input_shape(0);
  const DType dtype = context.input_dtype(0);
  if (input == nullptr) {
    for (int i = 0; i < context.num_outputs(); ++i) {
      KHEYA_RETURN_IF_ERROR(context.SetOutput(i, dtype, std::nullopt));
    }
    return OkStatus();
  }
  KHEYA_ASSIGN_OR_RETURN(int axis, NormalizeAxis(context.attributes().Int("axis", 0),
                                                 static_cast<int>(input->size())));
  const SymbolicShape shape = *input;
  KHEYA_ASSIGN_OR_RETURN(std::vector<Dim> parts, SymbolicParts(context, shape[axis]));
  for (int i = 0; i < context.num_outputs(); ++i) {
    SymbolicShape part = shape;
    part[axis] = parts[i];
    KHEYA_RETURN_IF_ERROR(context.SetOutput(i, dtype, std::move(part)));
  }
  if (shape.size() == 1) SplitElements(context, parts);
  return OkStatus();
}

Result<std::vector<int64_t>> ReadParts(const EvalContext& context, int64_t size) {
  const int outputs = context.num_outputs();
  if (!context.has_input(1)) {
    KHEYA_RETURN_IF_ERROR(CheckNumOutputs(context.attributes(), outputs));
    return EvenParts(size, outputs);
  }
  KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> parts, IntListInput(context, 1));
  KHEYA_RETURN_IF_ERROR(CheckParts(parts, outputs, size));
  return parts;
}

Status Evaluate(EvalContext& context) {
  const Tensor& input = context.input(0);
  const Shape& in = input.shape();
  KHEYA_ASSIGN_OR_RETURN(int axis, NormalizeAxis(context.attributes().Int("axis", 0), in.rank()));
  KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> parts, ReadParts(context, in[axis]));
  const int64_t inner = in.Product(axis + 1, in.rank());
  const int64_t row = in.Product(axis, in.rank());
  std::vector<int64_t> dims(in.begin(), in.end());
  int64_t start = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    dims[axis] = parts[i];
    KHEYA_ASSIGN_OR_RETURN(Shape shape, Shape::Create(dims));
    KHEYA_ASSIGN_OR_RETURN(MutableTensorView out,
                           context.Output(static_cast<int>(i), input.dtype(), shape));
    const int64_t block = parts[i] * inner;
    for (int64_t outer = 0; block > 0 && outer < in.Product(0, axis); ++outer) {
      kernels::CopyElements(input.view(), outer * row + start, out, outer * block, block);
    }
    start += block;
  }
  return OkStatus();
}

}  // namespace

extern const OpDef kSplitOp;
const OpDef kSplitOp = {.domain = "",
                        .name = "Split",
                        .category = "shape",
                        .inputs = kInputs,
                        .outputs = kOutputs,
                        .attributes = kAttributes,
                        .infer = Infer,
                        .evaluate = Evaluate};

}  // namespace kheya
