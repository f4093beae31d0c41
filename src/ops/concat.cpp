#include <vector>

#include "base/checked_math.h"
#include "kernels/reference/movement.h"
#include "ops/axes.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"inputs", types::kEvery, 'T', Presence::kVariadic}};
constexpr ParamDef kOutputs[] = {{"concat_result", types::kEvery, 'T'}};
constexpr AttributeDef kAttributes[] = {{"axis", AttributeKind::kInt, true}};

// Merges what two inputs tell of the same dimension.
Status MergeDim(int axis, const Dim& other, Dim& dim) {
  if (dim.known() && other.known() && dim.value() != other.value()) {
    return InvalidArgumentError("found sizes {} and {} of axis {}, expected equal ones",
                                dim.value(), other.value(), axis);
  }
  if (other.known() || dim.unknown()) dim = other;
  return OkStatus();
}

Status CheckRank(size_t found, size_t expected) {
  if (found == expected) return OkStatus();
  return InvalidArgumentError("found inputs of ranks {} and {}, expected equal ones", expected,
                              found);
}

Result<std::optional<SymbolicShape>> InferShape(InferContext& context) {
  std::optional<SymbolicShape> output;
  bool all_known = true;
  for (int i = 0; i < context.num_inputs(); ++i) {
    const SymbolicShape* shape = context.input_shape(i);
    if (shape == nullptr) {
      all_known = false;
      continue;
    }
    if (!output) output = UnknownDims(static_cast<int>(shape->size()));
    KHEYA_RETURN_IF_ERROR(CheckRank(shape->size(), output->size()));
  }
  if (!output) return output;
  const int rank = static_cast<int>(output->size());
  KHEYA_ASSIGN_OR_RETURN(int axis, NormalizeAxis(context.attributes().Int("axis", 0), rank));
  Dim total = all_known ? Dim(0) : Dim();
  for (int i = 0; i < context.num_inputs(); ++i) {
    const SymbolicShape* shape = context.input_shape(i);
    if (shape == nullptr) continue;
    total = total + (*shape)[axis];
    for (int a = 0; a < rank; ++a) {
      if (a != axis) KHEYA_RETURN_IF_ERROR(MergeDim(a, (*shape)[a], (*output)[a]));
    }
  }
  (*output)[axis] = total;
  return output;
}

// The elements of all lists behind each other.
std::optional<std::vector<Dim>> JoinElements(const InferContext& context) {
  std::vector<Dim> joined;
  for (int i = 0; i < context.num_inputs(); ++i) {
    const SymbolicShape* shape = context.input_shape(i);
    const std::optional<std::vector<Dim>> elements = context.input_elements(i);
    if (shape == nullptr || shape->size() != 1) return std::nullopt;
    if (elements) {
      joined.insert(joined.end(), elements->begin(), elements->end());
    } else if ((*shape)[0].known() && (*shape)[0].value() <= kMaxPropagatedElements) {
      joined.resize(joined.size() + static_cast<size_t>((*shape)[0].value()));
    } else {
      return std::nullopt;
    }
    if (joined.size() > static_cast<size_t>(kMaxPropagatedElements)) return std::nullopt;
  }
  return joined;
}

Status Infer(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(std::optional<SymbolicShape> shape, InferShape(context));
  KHEYA_RETURN_IF_ERROR(context.SetOutput(0, context.input_dtype(0), std::move(shape)));
  if (!IsInteger(context.input_dtype(0))) return OkStatus();
  if (auto joined = JoinElements(context)) context.SetOutputElements(0, std::move(*joined));
  return OkStatus();
}

Result<Shape> OutputShape(const EvalContext& context, int axis) {
  const Shape& first = context.input(0).shape();
  std::vector<int64_t> dims(first.begin(), first.end());
  for (int i = 1; i < context.num_inputs(); ++i) {
    const Shape& shape = context.input(i).shape();
    KHEYA_RETURN_IF_ERROR(CheckRank(shape.rank(), first.rank()));
    for (int a = 0; a < first.rank(); ++a) {
      if (a == axis) {
        if (!CheckedAdd(dims[a], shape[a], &dims[a])) {
          return InvalidArgumentError("the joined size of axis {} overflows", axis);
        }
      } else if (shape[a] != dims[a]) {
        return InvalidArgumentError("found shapes {} and {}, expected equal sizes but on axis {}",
                                    first.ToString(), shape.ToString(), axis);
      }
    }
  }
  return Shape::Create(dims);
}

Status Evaluate(EvalContext& context) {
  const Shape& first = context.input(0).shape();
  KHEYA_ASSIGN_OR_RETURN(int axis,
                         NormalizeAxis(context.attributes().Int("axis", 0), first.rank()));
  KHEYA_ASSIGN_OR_RETURN(Shape shape, OutputShape(context, axis));
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView out, context.Output(0, context.input(0).dtype(), shape));
  if (shape.num_elements() == 0) return OkStatus();
  const int64_t row = shape.Product(axis, shape.rank());
  int64_t start = 0;
  for (int i = 0; i < context.num_inputs(); ++i) {
    const Tensor& input = context.input(i);
    const int64_t block = input.shape().Product(axis, shape.rank());
    for (int64_t outer = 0; outer < shape.Product(0, axis); ++outer) {
      kernels::CopyElements(input.view(), outer * block, out, outer * row + start, block);
    }
    start += block;
  }
  return OkStatus();
}

}  // namespace

extern const OpDef kConcatOp;
const OpDef kConcatOp = {.domain = "",
                         .name = "Concat",
                         .category = "shape",
                         .inputs = kInputs,
                         .outputs = kOutputs,
                         .attributes = kAttributes,
                         .infer = Infer,
                         .evaluate = Evaluate};

}  // namespace kheya
