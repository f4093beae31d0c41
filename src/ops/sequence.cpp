// SequenceConstruct, SequenceEmpty, SequenceAt, SequenceErase, SequenceInsert and SequenceLength.
#include "ops/sequence.h"

#include <utility>

#include "ops/axes.h"
#include "ops/op.h"

namespace kheya {

Result<const Sequence*> SequenceInput(const EvalContext& context, int index) {
  const Sequence* sequence = context.input_value(index).sequence();
  if (sequence != nullptr) return sequence;
  return InvalidArgumentError("found {} for input {}, expected a sequence",
                              TypeOf(context.input_value(index)).ToString(), index);
}

Result<std::vector<Tensor>> TensorSequenceInput(const EvalContext& context, int index) {
  KHEYA_ASSIGN_OR_RETURN(const Sequence* sequence, SequenceInput(context, index));
  std::vector<Tensor> tensors;
  for (const Value& value : *sequence) {
    if (!value.is_tensor()) {
      return InvalidArgumentError("found {} in the sequence, expected tensors",
                                  TypeOf(value).ToString());
    }
    tensors.push_back(value.tensor());
  }
  return tensors;
}

Result<ValueType> ElementTypeOf(const InferContext& context, int index) {
  const ValueType& type = context.input_type(index);
  if (type.kind == ValueType::Kind::kUnknown) return ValueType();
  if (type.kind != ValueType::Kind::kSequence) {
    return InvalidArgumentError("found {} for input {}, expected a sequence", type.ToString(),
                                index);
  }
  return type.element ? *type.element : ValueType();
}

namespace {

constexpr ParamDef kSequence[] = {{"input_sequence", types::kAny}};
constexpr ParamDef kSequenceOut[] = {{"output_sequence", types::kAny}};
constexpr ParamDef kAtInputs[] = {{"input_sequence", types::kAny}, {"position", types::kIndex}};
constexpr ParamDef kAtOutputs[] = {{"tensor", types::kAny}};
constexpr ParamDef kEraseInputs[] = {{"input_sequence", types::kAny},
                                     {"position", types::kIndex, '\0', Presence::kOptional}};
constexpr ParamDef kInsertInputs[] = {{"input_sequence", types::kAny},
                                      {"tensor", types::kAny},
                                      {"position", types::kIndex, '\0', Presence::kOptional}};
constexpr ParamDef kConstructInputs[] = {{"inputs", types::kAny, 'T', Presence::kVariadic}};
constexpr ParamDef kLengthOutputs[] = {{"length", types::kInt64}};
constexpr AttributeDef kEmptyAttributes[] = {{"dtype", AttributeKind::kInt}};

// A position of [-size, end) as one of [0, end).
Result<size_t> PositionInput(const EvalContext& context, int index, size_t size, size_t end) {
  KHEYA_ASSIGN_OR_RETURN(const int64_t position, IntScalarInput(context, index));
  const auto count = static_cast<int64_t>(size);
  const int64_t normal = position < 0 ? position + count : position;
  if (position >= -count && normal >= 0 && normal < static_cast<int64_t>(end)) {
    return static_cast<size_t>(normal);
  }
  return InvalidArgumentError("found position {} in a sequence of {}", position, size);
}

Status InferConstruct(InferContext& context) {
  ValueType element = context.input_type(0);
  for (int i = 1; i < context.num_inputs(); ++i) {
    std::optional<ValueType> common = CommonType(element, context.input_type(i));
    if (!common) {
      return InvalidArgumentError("found elements {} and {}, expected equal types",
                                  element.ToString(), context.input_type(i).ToString());
    }
    element = *std::move(common);
  }
  return context.SetOutputType(0, ValueType::OfSequence(std::move(element)));
}

Status EvaluateConstruct(EvalContext& context) {
  Sequence sequence;
  for (int i = 0; i < context.num_inputs(); ++i) {
    if (!context.has_input(i)) return InvalidArgumentError("found no element {}", i);
    sequence.push_back(context.input_value(i));
  }
  return context.SetOutput(0, Value(std::move(sequence)));
}

Status InferEmpty(InferContext& context) {
  const int64_t number = context.attributes().Int("dtype", 1);
  const std::optional<DType> dtype = DTypeFromOnnx(number);
  if (!dtype) return InvalidArgumentError("found element type number {} in 'dtype'", number);
  return context.SetOutputType(0, ValueType::OfSequence(ValueType::OfTensor(*dtype)));
}

Status EvaluateEmpty(EvalContext& context) { return context.SetOutput(0, Value(Sequence())); }

Status InferAt(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(ValueType element, ElementTypeOf(context, 0));
  return context.SetOutputType(0, std::move(element));
}

Status EvaluateAt(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Sequence* sequence, SequenceInput(context, 0));
  const size_t size = sequence->size();
  KHEYA_ASSIGN_OR_RETURN(const size_t at, PositionInput(context, 1, size, size));
  return context.SetOutput(0, (*sequence)[at]);
}

Status InferErase(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(ValueType element, ElementTypeOf(context, 0));
  return context.SetOutputType(0, ValueType::OfSequence(std::move(element)));
}

Status EvaluateErase(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Sequence* before, SequenceInput(context, 0));
  Sequence sequence = *before;
  if (sequence.empty()) return InvalidArgumentError("found an empty sequence to erase from");
  size_t at = sequence.size() - 1;
  if (context.has_input(1)) {
    KHEYA_ASSIGN_OR_RETURN(at, PositionInput(context, 1, sequence.size(), sequence.size()));
  }
  sequence.erase(sequence.begin() + static_cast<std::ptrdiff_t>(at));
  return context.SetOutput(0, Value(std::move(sequence)));
}

Status InferInsert(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const ValueType element, ElementTypeOf(context, 0));
  std::optional<ValueType> common = CommonType(element, context.input_type(1));
  if (!common) {
    return InvalidArgumentError("found {} for a sequence of {}", context.input_type(1).ToString(),
                                element.ToString());
  }
  return context.SetOutputType(0, ValueType::OfSequence(*std::move(common)));
}

Status EvaluateInsert(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Sequence* before, SequenceInput(context, 0));
  const Value& value = context.input_value(1);
  if (!value.is_tensor()) {
    return InvalidArgumentError("found {} to insert, expected a tensor", TypeOf(value).ToString());
  }
  Sequence sequence = *before;
  if (!sequence.empty() &&
      (!sequence[0].is_tensor() || sequence[0].tensor().dtype() != value.tensor().dtype())) {
    return InvalidArgumentError("found {} for a sequence of {}", value.tensor().TypeString(),
                                TypeOf(sequence[0]).ToString());
  }
  size_t at = sequence.size();
  if (context.has_input(2)) {
    KHEYA_ASSIGN_OR_RETURN(at, PositionInput(context, 2, sequence.size(), sequence.size() + 1));
  }
  sequence.insert(sequence.begin() + static_cast<std::ptrdiff_t>(at), value);
  return context.SetOutput(0, Value(std::move(sequence)));
}

Status InferLength(InferContext& context) {
  KHEYA_RETURN_IF_ERROR(ElementTypeOf(context, 0).status());
  return context.SetOutput(0, DType::kInt64, SymbolicShape());
}

Status EvaluateLength(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Sequence* sequence, SequenceInput(context, 0));
  return context.SetOutput(0, Tensor::Scalar(static_cast<int64_t>(sequence->size())));
}

constexpr OpDef Op(const char* name, std::span<const ParamDef> inputs,
                   std::span<const ParamDef> outputs, std::span<const AttributeDef> attributes,
                   Status (*infer)(InferContext&), Status (*evaluate)(EvalContext&)) {
  return {.domain = "",
          .name = name,
          .category = "sequences and optionals",
          .inputs = inputs,
          .outputs = outputs,
          .attributes = attributes,
          .infer = infer,
          .evaluate = evaluate};
}

}  // namespace

extern const OpDef kSequenceAtOp;
const OpDef kSequenceAtOp = Op("SequenceAt", kAtInputs, kAtOutputs, {}, InferAt, EvaluateAt);
extern const OpDef kSequenceConstructOp;
const OpDef kSequenceConstructOp =
    Op("SequenceConstruct", kConstructInputs, kSequenceOut, {}, InferConstruct, EvaluateConstruct);
extern const OpDef kSequenceEmptyOp;
const OpDef kSequenceEmptyOp =
    Op("SequenceEmpty", {}, kSequenceOut, kEmptyAttributes, InferEmpty, EvaluateEmpty);
extern const OpDef kSequenceEraseOp;
const OpDef kSequenceEraseOp =
    Op("SequenceErase", kEraseInputs, kSequenceOut, {}, InferErase, EvaluateErase);
extern const OpDef kSequenceInsertOp;
const OpDef kSequenceInsertOp =
    Op("SequenceInsert", kInsertInputs, kSequenceOut, {}, InferInsert, EvaluateInsert);
extern const OpDef kSequenceLengthOp;
const OpDef kSequenceLengthOp =
    Op("SequenceLength", kSequence, kLengthOutputs, {}, InferLength, EvaluateLength);

}  // namespace kheya
