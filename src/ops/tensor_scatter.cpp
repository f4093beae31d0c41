#include <vector>

#include "kernels/reference/movement.h"
#include "ops/axes.h"
#include "ops/infer_util.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"past_cache", types::kEvery, 'T'},
                                {"update", types::kEvery, 'T'},
                                {"write_indices", types::kInt64, '\0', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"present_cache", types::kEvery, 'T'}};
constexpr AttributeDef kAttributes[] = {{"axis", AttributeKind::kInt},
                                        {"mode", AttributeKind::kString}};

Status CheckShapes(const Shape& cache, const Shape& update, int axis) {
  bool fits = axis >= 1 && cache.rank() == update.rank();
  for (int i = 0; fits && i < cache.rank(); ++i) {
    fits = i == axis ? update[i] <= cache[i] : update[i] == cache[i];
  }
  if (fits) return OkStatus();
  return InvalidArgumentError(
      "found update {} for cache {}, expected equal sizes, or less along axis {}, which is not the "
      "first",
      update.ToString(), cache.ToString(), axis);
}

// Where each batch begins to write.
Result<std::vector<int64_t>> Starts(const EvalContext& context, int64_t batch, int64_t last) {
  if (!context.has_input(2)) return std::vector<int64_t>(batch, 0);
  KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> starts, IntListInput(context, 2));
  if (static_cast<int64_t>(starts.size()) != batch) {
    return InvalidArgumentError("found {} write indices, expected {}", starts.size(), batch);
  }
  for (int64_t start : starts) {
    if (start >= 0 && start <= last) continue;
    return InvalidArgumentError("found write index {}, expected 0 to {}", start, last);
  }
  return starts;
}

Status Evaluate(EvalContext& context) {
  const Tensor& cache = context.input(0);
  const Tensor& update = context.input(1);
  const Shape& shape = cache.shape();
  const std::string mode = context.attributes().String("mode", "linear");
  if (mode != "linear" && mode != "circular") {
    return InvalidArgumentError("found mode '{}', expected 'linear' or 'circular'", mode);
  }
  KHEYA_ASSIGN_OR_RETURN(const int axis,
                         NormalizeAxis(context.attributes().Int("axis", -2), shape.rank()));
  KHEYA_RETURN_IF_ERROR(CheckShapes(shape, update.shape(), axis));
  const int64_t places = shape[axis];
  const int64_t written = update.shape()[axis];
  const int64_t last = mode == "circular" ? std::numeric_limits<int32_t>::max() : places - written;
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> starts, Starts(context, shape[0], last));
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView out, context.Output(0, cache.dtype(), shape));
  kernels::CopyElements(cache.view(), 0, out, 0, shape.num_elements());
  const int64_t inner = shape.Product(axis + 1, shape.rank());
  const int64_t rows = shape.Product(1, axis);
  for (int64_t outer = 0; outer < shape[0] * rows; ++outer) {
    for (int64_t i = 0; i < written; ++i) {
      const int64_t place = (starts[outer / rows] + i) % places;
      kernels::CopyElements(update.view(), (outer * written + i) * inner, out,
                            (outer * places + place) * inner, inner);
    }
  }
  return OkStatus();
}

}  // namespace

extern const OpDef kTensorScatterOp;
const OpDef kTensorScatterOp = {.domain = "",
                                .name = "TensorScatter",
                                .category = "shape",
                                .inputs = kInputs,
                                .outputs = kOutputs,
                                .attributes = kAttributes,
                                .infer = InferSameType,
                                .evaluate = Evaluate};

}  // namespace kheya
