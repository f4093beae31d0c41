// Scan, and Scan8: its form of opset 8, for batches of sequences of their own lengths.
#include <algorithm>
#include <memory>
#include <vector>

#include "ops/axes.h"
#include "ops/op.h"
#include "ops/parts.h"
#include "ops/subgraph.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {
    {"initial_state_and_scan_inputs", types::kAny, '\0', Presence::kVariadic}};
constexpr ParamDef kInputs8[] = {
    {"sequence_lens", types::kInt64, '\0', Presence::kOptional},
    {"initial_state_and_scan_inputs", types::kAny, '\0', Presence::kVariadic}};
constexpr ParamDef kOutputs[] = {
    {"final_state_and_scan_outputs", types::kAny, '\0', Presence::kVariadic}};
constexpr AttributeDef kAttributes[] = {
    {"body", AttributeKind::kGraph, true},      {"num_scan_inputs", AttributeKind::kInt, true},
    {"scan_input_axes", AttributeKind::kInts},  {"scan_input_directions", AttributeKind::kInts},
    {"scan_output_axes", AttributeKind::kInts}, {"scan_output_directions", AttributeKind::kInts}};
constexpr AttributeDef kAttributes8[] = {{"body", AttributeKind::kGraph, true},
                                         {"directions", AttributeKind::kInts},
                                         {"num_scan_inputs", AttributeKind::kInt, true}};

// Element `index` of a list attribute; a list that is left out is all zeros.
int64_t At(const std::vector<int64_t>& list, size_t index) {
  return list.empty() ? 0 : list[index];
}

// What the attributes and the body say. The body takes (states..., elements...) and gives
// (states..., scanned elements...).
struct Form {
  std::shared_ptr<Graph> body;
  size_t first_input = 0;  // of the node: Scan8 has lengths before its states
  size_t states = 0;
  size_t scan_inputs = 0;
  size_t scan_outputs = 0;
  bool batched = false;
  std::vector<int64_t> input_axes;
  std::vector<int64_t> input_directions;
  std::vector<int64_t> output_axes;
  std::vector<int64_t> output_directions;

  CarriedValues carried() const { return {states, 0, 0}; }
  Result<int> InputAxis(size_t i, int rank) const {
    return batched ? Result<int>(0) : NormalizeAxis(At(input_axes, i), rank);
  }
  Result<int> OutputAxis(size_t i, int rank) const {
    return batched ? Result<int>(0) : NormalizeAxis(At(output_axes, i), rank);
  }
};

Status CheckList(const char* name, const std::vector<int64_t>& list, size_t count, bool flags) {
  if (!list.empty() && list.size() != count) {
    return InvalidArgumentError("{}: found {} elements, expected {}", name, list.size(), count);
  }
  for (int64_t value : list) {
    if (flags && value != 0 && value != 1) {
      return InvalidArgumentError("{}: found {}, expected 0 or 1", name, value);
    }
  }
  return OkStatus();
}

Result<Form> FormOf(const AttributeReader& attributes, const Node& node, bool batched) {
  Form form;
  form.batched = batched;
  form.first_input = batched ? 1 : 0;
  KHEYA_ASSIGN_OR_RETURN(form.body, SubgraphOf(attributes, "body"));
  const size_t inputs = node.inputs.size() - std::min(form.first_input, node.inputs.size());
  const int64_t scans = attributes.Int("num_scan_inputs", 0);
  if (scans < 1 || static_cast<uint64_t>(scans) > inputs) {
    return InvalidArgumentError("num_scan_inputs: found {}, expected 1 to {}", scans, inputs);
  }
  form.scan_inputs = static_cast<size_t>(scans);
  form.states = inputs - form.scan_inputs;
  if (node.outputs.size() < form.states) {
    return InvalidArgumentError("found {} outputs for {} states, expected one for each",
                                node.outputs.size(), form.states);
  }
  form.scan_outputs = node.outputs.size() - form.states;
  KHEYA_RETURN_IF_ERROR(CheckSubgraph(*form.body, "body", inputs, node.outputs.size()));
  const char* directions = batched ? "directions" : "scan_input_directions";
  form.input_axes = attributes.Ints("scan_input_axes");
  form.input_directions = attributes.Ints(directions);
  form.output_axes = attributes.Ints("scan_output_axes");
  form.output_directions = attributes.Ints("scan_output_directions");
  KHEYA_RETURN_IF_ERROR(CheckList("scan_input_axes", form.input_axes, form.scan_inputs, false));
  KHEYA_RETURN_IF_ERROR(CheckList(directions, form.input_directions, form.scan_inputs, true));
  KHEYA_RETURN_IF_ERROR(CheckList("scan_output_axes", form.output_axes, form.scan_outputs, false));
  KHEYA_RETURN_IF_ERROR(
      CheckList("scan_output_directions", form.output_directions, form.scan_outputs, true));
  return form;
}

// A tensor type without its first axis.
Result<ValueType> WithoutBatch(ValueType type) {
  if (!type.is_tensor() || !type.shape) return type;
  if (type.shape->empty()) return InvalidArgumentError("found a scalar, expected a batch axis");
  type.shape->erase(type.shape->begin());
  return type;
}

template <bool batched>
Status InferBody(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Form form, FormOf(context.attributes(), context.node(), batched));
  std::vector<ValueType> types;
  for (size_t i = 0; i < form.states + form.scan_inputs; ++i) {
    ValueType type = context.input_type(static_cast<int>(form.first_input + i));
    if (batched) {
      KHEYA_ASSIGN_OR_RETURN(type, WithoutBatch(std::move(type)));
    }
    if (i >= form.states && type.is_tensor() && type.shape) {
      KHEYA_ASSIGN_OR_RETURN(const int axis,
                             form.InputAxis(i - form.states, static_cast<int>(type.shape->size())));
      if (type.shape->empty()) return InvalidArgumentError("found a scalar to scan");
      type.shape->erase(type.shape->begin() + axis);
    }
    types.push_back(std::move(type));
  }
  return InferBodyInputs(context, *form.body, std::move(types), form.carried());
}

// The length of the scanned axis, and the batch's in Scan8.
struct Lengths {
  Dim batch;
  Dim sequence;
};

Result<Lengths> LengthsOf(const InferContext& context, const Form& form) {
  Lengths lengths;
  for (size_t i = 0; i < form.scan_inputs; ++i) {
    const int input = static_cast<int>(form.first_input + form.states + i);
    const SymbolicShape* shape = context.input_shape(input);
    if (shape == nullptr) continue;
    const int batch_axes = form.batched ? 1 : 0;
    KHEYA_ASSIGN_OR_RETURN(const int axis,
                           form.InputAxis(i, static_cast<int>(shape->size()) - batch_axes));
    if (static_cast<int>(shape->size()) <= axis + batch_axes) {
      return InvalidArgumentError("found scan input {} of {}, expected an axis to scan", i,
                                  ToString(*shape));
    }
    if (form.batched) lengths.batch = (*shape)[0];
    const Dim& length = (*shape)[axis + batch_axes];
    if (lengths.sequence.unknown() || length.known()) lengths.sequence = length;
  }
  return lengths;
}

template <bool batched>
Status Infer(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Form form, FormOf(context.attributes(), context.node(), batched));
  KHEYA_ASSIGN_OR_RETURN(const Lengths lengths, LengthsOf(context, form));
  for (size_t i = 0; i < context.node().outputs.size(); ++i) {
    ValueType type =
        i < form.states ? form.body->value(form.body->inputs()[i]).type : OutputType(*form.body, i);
    if (i >= form.states && !type.is_tensor()) type = ValueType::OfTensor(DType::kUndefined);
    if (i >= form.states && type.shape) {
      KHEYA_ASSIGN_OR_RETURN(
          const int axis,
          form.OutputAxis(i - form.states, static_cast<int>(type.shape->size()) + 1));
      type.shape->insert(type.shape->begin() + axis, lengths.sequence);
    }
    if (batched && type.shape) type.shape->insert(type.shape->begin(), lengths.batch);
    KHEYA_RETURN_IF_ERROR(context.SetOutputType(static_cast<int>(i), std::move(type)));
  }
  return OkStatus();
}

// The results of one sequence.
struct Scanned {
  std::vector<Value> states;
  std::vector<std::vector<Tensor>> outputs;  // the elements, in the order they are joined
};

// Runs the body over `length` places of the scan inputs.
Result<Scanned> RunSequence(EvalContext& context, const Form& form, std::vector<Value> states,
                            const std::vector<Tensor>& inputs, int64_t length) {
  Scanned scanned{std::move(states), std::vector<std::vector<Tensor>>(form.scan_outputs)};
  for (int64_t t = 0; t < length; ++t) {
    KHEYA_RETURN_IF_ERROR(context.CheckAlive());
    std::vector<Value> arguments = std::move(scanned.states);
    for (size_t i = 0; i < inputs.size(); ++i) {
      KHEYA_ASSIGN_OR_RETURN(const int axis, form.InputAxis(i, inputs[i].shape().rank()));
      const int64_t at = At(form.input_directions, i) == 1 ? length - 1 - t : t;
      KHEYA_ASSIGN_OR_RETURN(Tensor element,
                             TakePart(inputs[i], axis, at, 1, true, context.budget()));
      arguments.emplace_back(std::move(element));
    }
    Result<std::vector<Value>> outputs = context.RunSubgraph(*form.body, arguments);
    if (!outputs.ok()) return std::move(outputs).status().WithContext("iteration {}", t);
    scanned.states.assign(outputs->begin(), outputs->begin() + form.states);
    for (size_t i = 0; i < form.scan_outputs; ++i) {
      const Value& value = (*outputs)[form.states + i];
      if (!value.is_tensor()) {
        return InvalidArgumentError("found {} to scan, expected a tensor",
                                    TypeOf(value).ToString());
      }
      scanned.outputs[i].push_back(value.tensor());
    }
  }
  for (size_t i = 0; i < form.scan_outputs; ++i) {
    if (At(form.output_directions, i) == 1) std::ranges::reverse(scanned.outputs[i]);
  }
  return scanned;
}

// The scan inputs, all of one length.
Result<int64_t> SequenceLength(const Form& form, const std::vector<Tensor>& inputs) {
  int64_t length = -1;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Shape& shape = inputs[i].shape();
    if (shape.rank() == 0) return InvalidArgumentError("found a scalar to scan");
    KHEYA_ASSIGN_OR_RETURN(const int axis, form.InputAxis(i, shape.rank()));
    if (length >= 0 && shape[axis] != length) {
      return InvalidArgumentError("found scan inputs of {} and {} places, expected as many", length,
                                  shape[axis]);
    }
    length = shape[axis];
  }
  return length;
}

Result<std::vector<Tensor>> ScanInputs(const EvalContext& context, const Form& form) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < form.scan_inputs; ++i) {
    const Value& value = context.input_value(static_cast<int>(form.first_input + form.states + i));
    if (!value.is_tensor()) {
      return InvalidArgumentError("found scan input {} that is {}, expected a tensor", i,
                                  TypeOf(value).ToString());
    }
    inputs.push_back(value.tensor());
  }
  return inputs;
}

// What a scan output is when the body never ran: unknown sizes are 0.
Result<Tensor> EmptyOutput(const Form& form, size_t index) {
  const ValueType& type = OutputType(*form.body, form.states + index);
  if (!type.is_tensor() || type.dtype == DType::kUndefined) {
    return UnimplementedError("scan output {} of an empty sequence has no known type", index);
  }
  std::vector<int64_t> dims;
  for (const Dim& dim : type.shape.value_or(SymbolicShape())) {
    dims.push_back(dim.maybe().value_or(0));
  }
  KHEYA_ASSIGN_OR_RETURN(const int axis, form.OutputAxis(index, static_cast<int>(dims.size()) + 1));
  dims.insert(dims.begin() + axis, 0);
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(dims));
  return Tensor::Allocate(type.dtype, shape);
}

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Form form, FormOf(context.attributes(), context.node(), false));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, ScanInputs(context, form));
  KHEYA_ASSIGN_OR_RETURN(const int64_t length, SequenceLength(form, inputs));
  std::vector<Value> states;
  for (size_t i = 0; i < form.states; ++i) {
    states.push_back(context.input_value(static_cast<int>(i)));
  }
  KHEYA_ASSIGN_OR_RETURN(Scanned scanned,
                         RunSequence(context, form, std::move(states), inputs, length));
  for (size_t i = 0; i < form.states; ++i) {
    KHEYA_RETURN_IF_ERROR(context.SetOutput(static_cast<int>(i), std::move(scanned.states[i])));
  }
  for (size_t i = 0; i < form.scan_outputs; ++i) {
    const int output = static_cast<int>(form.states + i);
    const std::vector<Tensor>& parts = scanned.outputs[i];
    if (parts.empty()) {
      KHEYA_ASSIGN_OR_RETURN(Tensor empty, EmptyOutput(form, i));
      KHEYA_RETURN_IF_ERROR(context.SetOutput(output, std::move(empty)));
      continue;
    }
    KHEYA_ASSIGN_OR_RETURN(const int axis, form.OutputAxis(i, parts[0].shape().rank() + 1));
    KHEYA_ASSIGN_OR_RETURN(const Shape shape, JoinedShape(parts, axis, true));
    KHEYA_ASSIGN_OR_RETURN(const MutableTensorView out,
                           context.Output(output, parts[0].dtype(), shape));
    JoinParts(parts, axis, out);
  }
  return OkStatus();
}

// `parts` joined along a new first axis and filled up with zeros to `length`.
Result<Tensor> JoinPadded(const std::vector<Tensor>& parts, int64_t length,
                          const std::shared_ptr<MemoryBudget>& budget) {
  KHEYA_ASSIGN_OR_RETURN(const Shape joined, JoinedShape(parts, 0, true));
  std::vector<int64_t> dims(joined.begin(), joined.end());
  dims[0] = length;
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(dims));
  KHEYA_ASSIGN_OR_RETURN(Tensor out, Tensor::Zeros(parts[0].dtype(), shape, budget));
  JoinParts(parts, 0, {out.dtype(), joined, out.mutable_view().data});
  return out;
}

// The batch, item by item.
class BatchedScan {
 public:
  BatchedScan(EvalContext& context, Form form) : context_(context), form_(std::move(form)) {}

  Status Run() {
    KHEYA_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, ScanInputs(context_, form_));
    for (const Tensor& input : inputs) {
      if (input.shape().rank() < 2) {
        return InvalidArgumentError("found scan input {}, expected rank 2 or more",
                                    input.TypeString());
      }
    }
    const int64_t batch = inputs[0].shape()[0];
    const int64_t longest = inputs[0].shape()[1];
    KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> lengths, ReadLengths(batch, longest));
    if (batch == 0 || longest == 0) return UnimplementedError("found nothing to scan");
    outputs_.resize(form_.states + form_.scan_outputs);
    for (int64_t b = 0; b < batch; ++b) {
      KHEYA_RETURN_IF_ERROR(RunItem(inputs, b, lengths[b], longest));
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      KHEYA_ASSIGN_OR_RETURN(const Shape shape, JoinedShape(outputs_[i], 0, true));
      KHEYA_ASSIGN_OR_RETURN(const MutableTensorView out,
                             context_.Output(static_cast<int>(i), outputs_[i][0].dtype(), shape));
      JoinParts(outputs_[i], 0, out);
    }
    return OkStatus();
  }

 private:
  Result<std::vector<int64_t>> ReadLengths(int64_t batch, int64_t longest) const {
    if (!context_.has_input(0)) return std::vector<int64_t>(batch, longest);
    KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> lengths, IntListInput(context_, 0));
    if (static_cast<int64_t>(lengths.size()) != batch) {
      return InvalidArgumentError("found {} sequence lengths, expected {}", lengths.size(), batch);
    }
    for (int64_t length : lengths) {
      if (length < 1 || length > longest) {
        return InvalidArgumentError("found a sequence length of {}, expected 1 to {}", length,
                                    longest);
      }
    }
    return lengths;
  }

  Result<Tensor> Item(const Tensor& tensor, int64_t b) const {
    if (tensor.shape().rank() < 1 || b >= tensor.shape()[0]) {
      return InvalidArgumentError("found {}, expected a batch of more than {}", tensor.TypeString(),
                                  b);
    }
    return TakePart(tensor, 0, b, 1, true, context_.budget());
  }

  Status RunItem(const std::vector<Tensor>& inputs, int64_t b, int64_t length, int64_t longest) {
    std::vector<Value> states;
    for (size_t i = 0; i < form_.states; ++i) {
      const Value& value = context_.input_value(static_cast<int>(form_.first_input + i));
      if (!value.is_tensor()) return InvalidArgumentError("found a state that is no tensor");
      KHEYA_ASSIGN_OR_RETURN(Tensor state, Item(value.tensor(), b));
      states.emplace_back(std::move(state));
    }
    std::vector<Tensor> items;
    for (const Tensor& input : inputs) {
      KHEYA_ASSIGN_OR_RETURN(items.emplace_back(), Item(input, b));
    }
    KHEYA_RETURN_IF_ERROR(SequenceLength(form_, items).status());
    KHEYA_ASSIGN_OR_RETURN(const Scanned scanned,
                           RunSequence(context_, form_, std::move(states), items, length));
    for (size_t i = 0; i < form_.states; ++i) {
      if (!scanned.states[i].is_tensor()) {
        return InvalidArgumentError("found a state that is no tensor");
      }
      outputs_[i].push_back(scanned.states[i].tensor());
    }
    for (size_t i = 0; i < form_.scan_outputs; ++i) {
      KHEYA_ASSIGN_OR_RETURN(Tensor joined,
                             JoinPadded(scanned.outputs[i], longest, context_.budget()));
      outputs_[form_.states + i].push_back(std::move(joined));
    }
    return OkStatus();
  }

  EvalContext& context_;
  const Form form_;
  std::vector<std::vector<Tensor>> outputs_;  // by output, then by item
};

Status Evaluate8(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(Form form, FormOf(context.attributes(), context.node(), true));
  return BatchedScan(context, std::move(form)).Run();
}

}  // namespace

extern const OpDef kScanOp;
const OpDef kScanOp = {.domain = "",
                       .name = "Scan",
                       .category = "control flow",
                       .inputs = kInputs,
                       .outputs = kOutputs,
                       .attributes = kAttributes,
                       .infer = Infer<false>,
                       .evaluate = Evaluate,
                       .infer_subgraph_inputs = InferBody<false>};

extern const OpDef kScan8Op;
const OpDef kScan8Op = {.domain = kInternalDomain,
                        .name = "Scan8",
                        .category = "older forms",
                        .inputs = kInputs8,
                        .outputs = kOutputs,
                        .attributes = kAttributes8,
                        .infer = Infer<true>,
                        .evaluate = Evaluate8,
                        .infer_subgraph_inputs = InferBody<true>};

}  // namespace kheya
