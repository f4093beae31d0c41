#include <algorithm>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "ops/axes.h"
#include "ops/op.h"
#include "ops/parts.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"input", types::kEvery, 'T'},
                                {"split", types::kIndex, '\0', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"output_sequence", types::kAny}};
constexpr AttributeDef kAttributes[] = {{"axis", AttributeKind::kInt},
                                        {"keepdims", AttributeKind::kInt}};

// The axis goes when the parts are of one place each because nothing was said about them.
bool DropsAxis(const AttributeReader& attributes, bool has_split) {
  return !has_split && attributes.Int("keepdims", 1) == 0;
}

Status Infer(InferContext& context) {
  std::optional<SymbolicShape> shape = ShapeOrNull(context, 0);
  if (shape) {
    const int rank = static_cast<int>(shape->size());
    KHEYA_ASSIGN_OR_RETURN(const int axis,
                           NormalizeAxis(context.attributes().Int("axis", 0), rank));
    if (DropsAxis(context.attributes(), context.has_input(1))) {
      shape->erase(shape->begin() + axis);
    } else {
      (*shape)[axis] = context.has_input(1) ? Dim() : Dim(1);
    }
  }
  return context.SetOutputType(
      0, ValueType::OfSequence(ValueType::OfTensor(context.input_dtype(0), std::move(shape))));
}

// Parts of `part` places, the last one smaller when they do not come out even.
std::vector<int64_t> EqualParts(int64_t size, int64_t part) {
  std::vector<int64_t> parts;
  for (int64_t left = size; left > 0; left -= parts.back()) parts.push_back(std::min(part, left));
  return parts;
}

Result<std::vector<int64_t>> ReadParts(const EvalContext& context, int64_t size) {
  if (!context.has_input(1)) return EqualParts(size, 1);
  KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> split, IntListInput(context, 1));
  if (context.input(1).shape().rank() == 0) {
    if (split[0] >= 1) return EqualParts(size, split[0]);
    return InvalidArgumentError("found a split of {}, expected 1 or more", split[0]);
  }
  int64_t sum = 0;
  for (int64_t part : split) {
    if (part < 0 || !CheckedAdd(sum, part, &sum)) {
      return InvalidArgumentError("found a part of {} in split, expected 0 or more", part);
    }
  }
  if (sum == size) return split;
  return InvalidArgumentError("found parts with sum {} of an axis of {}", sum, size);
}

Status Evaluate(EvalContext& context) {
  const Tensor& input = context.input(0);
  const int rank = input.shape().rank();
  KHEYA_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(context.attributes().Int("axis", 0), rank));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> parts, ReadParts(context, input.shape()[axis]));
  const bool drop_axis = DropsAxis(context.attributes(), context.has_input(1));
  Sequence sequence;
  int64_t start = 0;
  for (int64_t part : parts) {
    KHEYA_RETURN_IF_ERROR(context.CheckAlive());
    KHEYA_ASSIGN_OR_RETURN(Tensor tensor,
                           TakePart(input, axis, start, part, drop_axis, context.budget()));
    sequence.emplace_back(std::move(tensor));
    start += part;
  }
  return context.SetOutput(0, Value(std::move(sequence)));
}

}  // namespace

extern const OpDef kSplitToSequenceOp;
const OpDef kSplitToSequenceOp = {.domain = "",
                                  .name = "SplitToSequence",
                                  .category = "sequences and optionals",
                                  .inputs = kInputs,
                                  .outputs = kOutputs,
                                  .attributes = kAttributes,
                                  .infer = Infer,
                                  .evaluate = Evaluate};

}  // namespace kheya
