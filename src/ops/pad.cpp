#include <string>
#include <vector>

#include "base/checked_math.h"
#include "kernels/reference/movement.h"
#include "ops/axes.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"data", types::kEvery, 'T'},
                                {"pads", types::kInt64},
                                {"constant_value", types::kEvery, 'T', Presence::kOptional},
                                {"axes", types::kIndex, '\0', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"output", types::kEvery, 'T'}};
constexpr AttributeDef kAttributes[] = {{"mode", AttributeKind::kString}};

enum class Mode : uint8_t { kConstant, kReflect, kEdge, kWrap };

Result<Mode> ParseMode(const std::string& text) {
  if (text == "constant") return Mode::kConstant;
  if (text == "reflect") return Mode::kReflect;
  if (text == "edge") return Mode::kEdge;
  if (text == "wrap") return Mode::kWrap;
  return InvalidArgumentError("found mode '{}', expected constant, reflect, edge or wrap", text);
}

// Begin and end padding of one axis; negative ones cut.
struct AxisPad {
  Dim begin = 0;
  Dim end = 0;
};

Result<std::vector<AxisPad>> SpreadPads(const std::vector<Dim>& pads,
                                        const std::optional<std::vector<int64_t>>& axes, int rank) {
  std::vector<int> padded;
  if (axes) {
    KHEYA_ASSIGN_OR_RETURN(padded, NormalizeAxes(*axes, rank));
  } else {
    for (int i = 0; i < rank; ++i) padded.push_back(i);
  }
  if (pads.size() != 2 * padded.size()) {
    return InvalidArgumentError("found {} values of pads, expected {}", pads.size(),
                                2 * padded.size());
  }
  std::vector<AxisPad> result(rank);
  for (size_t i = 0; i < padded.size(); ++i) {
    result[padded[i]] = {pads[i], pads[padded.size() + i]};
  }
  return result;
}

Status Infer(InferContext& context) {
  std::optional<SymbolicShape> shape = ShapeOrNull(context, 0);
  if (!shape) return context.SetOutput(0, context.input_dtype(0), std::nullopt);
  const int rank = static_cast<int>(shape->size());
  const std::optional<std::vector<Dim>> pads = context.input_elements(1);
  std::optional<std::vector<int64_t>> axes;
  if (context.has_input(3)) axes = KnownElements(context, 3);
  if (!pads || (context.has_input(3) && !axes)) {
    return context.SetOutput(0, context.input_dtype(0), UnknownDims(rank));
  }
  KHEYA_ASSIGN_OR_RETURN(std::vector<AxisPad> spread, SpreadPads(*pads, axes, rank));
  for (int i = 0; i < rank; ++i) (*shape)[i] = (*shape)[i] + spread[i].begin + spread[i].end;
  return context.SetOutput(0, context.input_dtype(0), std::move(shape));
}

int64_t FloorMod(int64_t value, int64_t divisor) {
  const int64_t rest = value % divisor;
  return rest < 0 ? rest + divisor : rest;
}

// The input index that `at` (which may lie outside) stands for; -1: the constant.
int64_t SourceIndex(Mode mode, int64_t at, int64_t size) {
  if (at >= 0 && at < size) return at;
  switch (mode) {
    case Mode::kEdge:
      return at < 0 ? 0 : size - 1;
    case Mode::kWrap:
      return FloorMod(at, size);
    case Mode::kReflect: {
      if (size == 1) return 0;
      const int64_t folded = FloorMod(at, 2 * (size - 1));
      return folded < size ? folded : 2 * (size - 1) - folded;
    }
    default:
      return -1;
  }
}

bool Within(int64_t value, int64_t limit) { return value >= -limit && value <= limit; }

Result<int64_t> PaddedSize(int64_t size, const AxisPad& pad) {
  constexpr int64_t kLargest = int64_t{1} << 62;  // so that indices less padding fit
  int64_t padded = 0;
  if (!Within(pad.begin.value(), kLargest) || !Within(pad.end.value(), kLargest) ||
      !CheckedAdd(size, pad.begin.value(), &padded) ||
      !CheckedAdd(padded, pad.end.value(), &padded) || padded < 0) {
    return InvalidArgumentError(
        "found padding {} and {} of an axis of {}, expected a size that "
        "fits",
        pad.begin.value(), pad.end.value(), size);
  }
  return padded;
}

Result<std::vector<AxisPad>> ReadPads(const EvalContext& context, int rank) {
  KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> pads, IntListInput(context, 1));
  std::optional<std::vector<int64_t>> axes;
  if (context.has_input(3)) {
    KHEYA_ASSIGN_OR_RETURN(axes, IntListInput(context, 3));
  }
  return SpreadPads(std::vector<Dim>(pads.begin(), pads.end()), axes, rank);
}

// One element of `dtype`: input 2, or zero.
Result<Tensor> FillValue(const EvalContext& context, DType dtype) {
  if (context.has_input(2)) {
    const Tensor& value = context.input(2);
    if (value.num_elements() == 1 && value.dtype() == dtype) return value;
    return InvalidArgumentError("found constant_value of type {}, expected one {}",
                                value.TypeString(), DTypeName(dtype));
  }
  return Tensor::Zeros(dtype, Shape{});
}

Status Evaluate(EvalContext& context) {
  const Tensor& data = context.input(0);
  const Shape& in = data.shape();
  KHEYA_ASSIGN_OR_RETURN(Mode mode, ParseMode(context.attributes().String("mode", "constant")));
  KHEYA_ASSIGN_OR_RETURN(std::vector<AxisPad> pads, ReadPads(context, in.rank()));
  KHEYA_ASSIGN_OR_RETURN(Tensor fill, FillValue(context, data.dtype()));
  std::vector<int64_t> dims;
  for (int axis = 0; axis < in.rank(); ++axis) {
    KHEYA_ASSIGN_OR_RETURN(int64_t size, PaddedSize(in[axis], pads[axis]));
    if (in[axis] == 0 && size > 0 && mode != Mode::kConstant) {
      return InvalidArgumentError("found an empty axis {} of {}, expected elements to pad from",
                                  axis, in.ToString());
    }
    dims.push_back(size);
  }
  KHEYA_ASSIGN_OR_RETURN(Shape shape, Shape::Create(dims));
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView out, context.Output(0, data.dtype(), shape));
  if (shape.num_elements() == 0) return OkStatus();
  std::vector<std::vector<int64_t>> maps(in.rank());
  for (int axis = 0; axis < in.rank(); ++axis) {
    for (int64_t i = 0; i < dims[axis]; ++i) {
      maps[axis].push_back(SourceIndex(mode, i - pads[axis].begin.value(), in[axis]));
    }
  }
  return kernels::CopyMapped(maps, data.view(), fill.view(), out);
}

}  // namespace

extern const OpDef kPadOp;
const OpDef kPadOp = {.domain = "",
                      .name = "Pad",
                      .category = "shape",
                      .inputs = kInputs,
                      .outputs = kOutputs,
                      .attributes = kAttributes,
                      .infer = Infer,
                      .evaluate = Evaluate};

}  // namespace kheya
