#include <memory>
#include <vector>

#include "ops/op.h"
#include "ops/subgraph.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"input_sequence", types::kAny},
                                {"additional_inputs", types::kAny, '\0', Presence::kAnyNumber}};
constexpr ParamDef kOutputs[] = {{"out_sequence", types::kAny, '\0', Presence::kVariadic}};
constexpr AttributeDef kAttributes[] = {{"body", AttributeKind::kGraph, true}};

Result<std::shared_ptr<Graph>> BodyOf(const AttributeReader& attributes, const Node& node) {
  KHEYA_ASSIGN_OR_RETURN(std::shared_ptr<Graph> body, SubgraphOf(attributes, "body"));
  KHEYA_RETURN_IF_ERROR(CheckSubgraph(*body, "body", node.inputs.size(), node.outputs.size()));
  return body;
}

// The body takes an element of each sequence, and tensors as they are.
Status InferBody(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const std::shared_ptr<Graph> body,
                         BodyOf(context.attributes(), context.node()));
  std::vector<ValueType> types;
  for (int i = 0; i < context.num_inputs(); ++i) {
    const ValueType& type = context.input_type(i);
    const bool sequence = type.kind == ValueType::Kind::kSequence;
    types.push_back(!sequence ? type : type.element ? *type.element : ValueType());
  }
  SetInputTypes(*body, types);
  return OkStatus();
}

Status Infer(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const std::shared_ptr<Graph> body,
                         BodyOf(context.attributes(), context.node()));
  for (size_t i = 0; i < context.node().outputs.size(); ++i) {
    KHEYA_RETURN_IF_ERROR(
        context.SetOutputType(static_cast<int>(i), ValueType::OfSequence(OutputType(*body, i))));
  }
  return OkStatus();
}

// What the body takes in iteration `index`.
Result<std::vector<Value>> Arguments(const EvalContext& context, size_t index) {
  std::vector<Value> arguments;
  for (int i = 0; i < context.num_inputs(); ++i) {
    const Value& value = context.input_value(i);
    const Sequence* sequence = value.sequence();
    if (sequence == nullptr) {
      arguments.push_back(value);
      continue;
    }
    if (index >= sequence->size()) {
      return InvalidArgumentError(
          "found a sequence of {} for input {}, expected as many as input 0", sequence->size(), i);
    }
    arguments.push_back((*sequence)[index]);
  }
  return arguments;
}

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const std::shared_ptr<Graph> body,
                         BodyOf(context.attributes(), context.node()));
  const Sequence* first = context.input_value(0).sequence();
  if (first == nullptr) {
    return InvalidArgumentError("found {} for input 0, expected a sequence",
                                TypeOf(context.input_value(0)).ToString());
  }
  std::vector<Sequence> outputs(context.node().outputs.size());
  for (size_t i = 0; i < first->size(); ++i) {
    KHEYA_RETURN_IF_ERROR(context.CheckAlive());
    KHEYA_ASSIGN_OR_RETURN(const std::vector<Value> arguments, Arguments(context, i));
    Result<std::vector<Value>> results =
        context.RunSubgraph(*body, arguments).WithContext("element {}", i);
    KHEYA_ASSIGN_OR_RETURN(std::vector<Value> values, std::move(results));
    for (size_t o = 0; o < outputs.size(); ++o) outputs[o].push_back(std::move(values[o]));
  }
  for (size_t o = 0; o < outputs.size(); ++o) {
    KHEYA_RETURN_IF_ERROR(context.SetOutput(static_cast<int>(o), Value(std::move(outputs[o]))));
  }
  return OkStatus();
}

}  // namespace

extern const OpDef kSequenceMapOp;
const OpDef kSequenceMapOp = {.domain = "",
                              .name = "SequenceMap",
                              .category = "control flow",
                              .inputs = kInputs,
                              .outputs = kOutputs,
                              .attributes = kAttributes,
                              .infer = Infer,
                              .evaluate = Evaluate,
                              .infer_subgraph_inputs = InferBody};

}  // namespace kheya
