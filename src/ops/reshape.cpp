#include <optional>
#include <vector>

#include "ops/axes.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"data", types::kEvery, 'T'}, {"shape", types::kInt64}};
constexpr ParamDef kOutputs[] = {{"reshaped", types::kEvery, 'T'}};
constexpr AttributeDef kAttributes[] = {{"allowzero", AttributeKind::kInt}};

// What is left of the product of `dims` after the product of `taken` is divided out; equal
// factors go first, so that symbols vanish. A reshape divides exactly or fails when it runs.
Dim DivideOut(SymbolicShape dims, const std::vector<Dim>& taken) {
  Dim divisor = 1;
  for (const Dim& factor : taken) {
    size_t i = 0;
    while (i < dims.size() && !(dims[i] == factor)) ++i;
    if (i < dims.size()) {
      dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      divisor = divisor * factor;
    }
  }
  return ProductOf(dims).FloorDiv(divisor);
}

// The output shape for the elements of `shape`; nullopt dims stay unknown.
Result<SymbolicShape> OutputShape(const std::optional<SymbolicShape>& data,
                                  const std::vector<Dim>& wanted, bool allow_zero) {
  SymbolicShape output = wanted;
  std::optional<size_t> inferred;
  bool maybe_inferred = false;  // an unknown element could be -1 or 0
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i].known()) {
      maybe_inferred = maybe_inferred || wanted[i].unknown();
      continue;
    }
    if (wanted[i].value() < -1) {
      return InvalidArgumentError("found {} in the shape, expected -1 or more", wanted[i].value());
    }
    if (wanted[i].value() == -1) {
      if (inferred) return InvalidArgumentError("found -1 twice in the shape, expected one");
      inferred = i;
    } else if (wanted[i].value() == 0 && !allow_zero) {
      if (data && i >= data->size()) {
        return InvalidArgumentError("found 0 at axis {} of the shape, the input has rank {}", i,
                                    data->size());
      }
      output[i] = data ? (*data)[i] : Dim();
    }
  }
  if (!inferred) return output;
  output[*inferred] = Dim();
  if (data && !maybe_inferred) {
    std::vector<Dim> others = output;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(*inferred));
    output[*inferred] = DivideOut(*data, others);
  }
  return output;
}

Status CheckElementCounts(const SymbolicShape& data, const SymbolicShape& output) {
  const std::optional<Shape> from = ToKnown(data);
  const std::optional<Shape> to = ToKnown(output);
  if (!from || !to || from->num_elements() == to->num_elements()) return OkStatus();
  return InvalidArgumentError("found {} elements of input {}, the shape {} holds {}",
                              from->num_elements(), from->ToString(), to->ToString(),
                              to->num_elements());
}

Status Infer(InferContext& context) {
  const std::optional<std::vector<Dim>> wanted = context.input_elements(1);
  const DType dtype = context.input_dtype(0);
  if (!wanted) {
    const SymbolicShape* list = context.input_shape(1);
    if (list == nullptr || list->size() != 1 || !(*list)[0].known() ||
        (*list)[0].value() > kMaxRank) {
      return context.SetOutput(0, dtype, std::nullopt);
    }
    return context.SetOutput(0, dtype, UnknownDims(static_cast<int>((*list)[0].value())));
  }
  const std::optional<SymbolicShape> data = ShapeOrNull(context, 0);
  const bool allow_zero = context.attributes().Int("allowzero", 0) != 0;
  KHEYA_ASSIGN_OR_RETURN(SymbolicShape shape, OutputShape(data, *wanted, allow_zero));
  if (data) KHEYA_RETURN_IF_ERROR(CheckElementCounts(*data, shape));
  const bool list = shape.size() <= 1;
  KHEYA_RETURN_IF_ERROR(context.SetOutput(0, dtype, std::move(shape)));
  if (auto elements = context.input_elements(0); elements && list) {
    context.SetOutputElements(0, std::move(*elements));
  }
  return OkStatus();
}

Result<Shape> KnownOutputShape(const Shape& data, std::span<const int64_t> wanted,
                               bool allow_zero) {
  std::vector<Dim> dims(wanted.begin(), wanted.end());
  KHEYA_ASSIGN_OR_RETURN(SymbolicShape output, OutputShape(ToSymbolic(data), dims, allow_zero));
  std::vector<int64_t> known;
  for (const Dim& dim : output) {
    if (!dim.known()) {
      return InvalidArgumentError("the -1 of the shape cannot be inferred from input {}",
                                  data.ToString());
    }
    known.push_back(dim.value());
  }
  return Shape::Create(known);
}

Status Evaluate(EvalContext& context) {
  const Tensor& data = context.input(0);
  KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> wanted, IntListInput(context, 1));
  KHEYA_ASSIGN_OR_RETURN(
      Shape shape,
      KnownOutputShape(data.shape(), wanted, context.attributes().Int("allowzero", 0) != 0));
  KHEYA_RETURN_IF_ERROR(CheckElementCounts(ToSymbolic(data.shape()), ToSymbolic(shape)));
  KHEYA_ASSIGN_OR_RETURN(Tensor reshaped, data.Reshaped(shape));
  return context.SetOutput(0, std::move(reshaped));
}

}  // namespace

extern const OpDef kReshapeOp;
const OpDef kReshapeOp = {.domain = "",
                          .name = "Reshape",
                          .category = "shape",
                          .inputs = kInputs,
                          .outputs = kOutputs,
                          .attributes = kAttributes,
                          .infer = Infer,
                          .evaluate = Evaluate,
                          .aliases_input = true};

}  // namespace kheya
