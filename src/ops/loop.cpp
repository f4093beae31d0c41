#include <limits>
#include <memory>
#include <vector>

#include "ops/axes.h"
#include "ops/op.h"
#include "ops/parts.h"
#include "ops/subgraph.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"M", types::kInt64, '\0', Presence::kOptional},
                                {"cond", types::kBool, '\0', Presence::kOptional},
                                {"v_initial", types::kAny, '\0', Presence::kAnyNumber}};
constexpr ParamDef kOutputs[] = {
    {"v_final_and_scan_outputs", types::kAny, '\0', Presence::kAnyNumber}};
constexpr AttributeDef kAttributes[] = {{"body", AttributeKind::kGraph, true}};

// Inputs of the node and the body before the carried ones; the body's outputs have the condition
// before them.
constexpr size_t kFirstCarried = 2;

size_t NumCarried(const Node& node) {
  return node.inputs.size() > kFirstCarried ? node.inputs.size() - kFirstCarried : 0;
}

// The body takes (iteration, condition, carried...) and gives (condition, carried..., scanned...).
Result<std::shared_ptr<Graph>> BodyOf(const AttributeReader& attributes, const Node& node) {
  KHEYA_ASSIGN_OR_RETURN(std::shared_ptr<Graph> body, SubgraphOf(attributes, "body"));
  if (NumCarried(node) > node.outputs.size()) {
    return InvalidArgumentError("found {} outputs for {} carried values, expected one for each",
                                node.outputs.size(), NumCarried(node));
  }
  for (size_t i = kFirstCarried; i < node.inputs.size(); ++i) {
    if (node.inputs[i].valid()) continue;
    return InvalidArgumentError("found no input {}, expected the first value of what is carried",
                                i);
  }
  KHEYA_RETURN_IF_ERROR(
      CheckSubgraph(*body, "body", kFirstCarried + NumCarried(node), node.outputs.size() + 1));
  return body;
}

// Files declare iteration and condition as scalars or as lists of one element.
Shape ScalarShape(const Graph& body, size_t input) {
  const std::optional<SymbolicShape>& shape = body.value(body.inputs()[input]).type.shape;
  return shape && shape->size() == 1 ? Shape{1} : Shape{};
}

Status InferBody(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const std::shared_ptr<Graph> body,
                         BodyOf(context.attributes(), context.node()));
  std::vector<ValueType> types = {
      ValueType::OfTensor(DType::kInt64, ToSymbolic(ScalarShape(*body, 0))),
      ValueType::OfTensor(DType::kBool, ToSymbolic(ScalarShape(*body, 1)))};
  const size_t count = NumCarried(context.node());
  for (size_t i = 0; i < count; ++i) {
    types.push_back(context.input_type(static_cast<int>(kFirstCarried + i)));
  }
  return InferBodyInputs(context, *body, std::move(types), {count, kFirstCarried, 1});
}

// True when the loop can end by its trip count alone.
bool NeverBreaks(const InferContext& context, const Graph& body) {
  const auto is_true = [](const std::optional<std::vector<Dim>>& elements) {
    return elements && elements->size() == 1 && elements->front() == Dim(1);
  };
  if (context.has_input(1) && !is_true(context.input_elements(1))) return false;
  const ValueId condition = body.outputs()[0].value;
  if (condition == body.inputs()[1]) return true;
  const Tensor* constant = body.Constant(condition);
  return is_true(constant != nullptr ? ElementsOf(*constant) : body.value(condition).elements);
}

Dim TripCount(const InferContext& context, const Graph& body) {
  const std::optional<std::vector<int64_t>> trips = KnownElements(context, 0);
  if (!trips || trips->size() != 1 || !NeverBreaks(context, body)) return Dim();
  return std::max<int64_t>(trips->front(), 0);
}

Status Infer(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const std::shared_ptr<Graph> body,
                         BodyOf(context.attributes(), context.node()));
  const size_t count = NumCarried(context.node());
  for (size_t i = 0; i < count; ++i) {
    const ValueType& type = body->value(body->inputs()[kFirstCarried + i]).type;
    KHEYA_RETURN_IF_ERROR(context.SetOutputType(static_cast<int>(i), type));
  }
  const Dim trips = TripCount(context, *body);
  for (size_t i = count; i < context.node().outputs.size(); ++i) {
    ValueType type = OutputType(*body, i + 1);
    if (!type.is_tensor()) type = ValueType::OfTensor(DType::kUndefined);
    if (type.shape) type.shape->insert(type.shape->begin(), trips);
    KHEYA_RETURN_IF_ERROR(context.SetOutputType(static_cast<int>(i), std::move(type)));
  }
  return OkStatus();
}

Result<bool> TruthOf(const Value& value, const char* what) {
  if (!value.is_tensor() || value.tensor().dtype() != DType::kBool ||
      value.tensor().num_elements() != 1) {
    return InvalidArgumentError("found {} of type {}, expected one bool", what,
                                TypeOf(value).ToString());
  }
  return value.tensor().At<bool>(0);
}

// What a scanned output is when the body never ran.
Result<Tensor> EmptyScan(const Graph& body, size_t output) {
  const ValueType& type = OutputType(body, output);
  if (!type.is_tensor() || type.dtype == DType::kUndefined) {
    return UnimplementedError("output {} of a loop that never runs has no known type", output - 1);
  }
  std::vector<int64_t> dims = {0};
  for (const Dim& dim : type.shape.value_or(SymbolicShape())) {
    dims.push_back(dim.maybe().value_or(0));
  }
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(dims));
  return Tensor::Allocate(type.dtype, shape);
}

class LoopRun {
 public:
  LoopRun(EvalContext& context, const Graph& body)
      : context_(context), body_(body), count_(NumCarried(context.node())) {
    for (size_t i = 0; i < count_; ++i) {
      carried_.push_back(context.input_value(static_cast<int>(kFirstCarried + i)));
    }
    scanned_.resize(context.node().outputs.size() - count_);
  }

  Status Run() {
    int64_t trips = std::numeric_limits<int64_t>::max();
    if (context_.has_input(0)) {
      KHEYA_ASSIGN_OR_RETURN(trips, IntScalarInput(context_, 0));
    }
    if (context_.has_input(1)) {
      KHEYA_ASSIGN_OR_RETURN(condition_, TruthOf(context_.input_value(1), "a condition"));
    }
    for (int64_t i = 0; i < trips && condition_; ++i) {
      KHEYA_RETURN_IF_ERROR(context_.CheckAlive());
      KHEYA_RETURN_IF_ERROR(Iterate(i).WithContext("iteration {}", i));
    }
    return SetOutputs();
  }

 private:
  Status Iterate(int64_t index) {
    std::vector<Value> inputs = {Tensor::FromValues<int64_t>(ScalarShape(body_, 0), {index}),
                                 Tensor::FromValues<bool>(ScalarShape(body_, 1), {condition_})};
    for (Value& value : carried_) inputs.push_back(std::move(value));
    KHEYA_ASSIGN_OR_RETURN(std::vector<Value> outputs, context_.RunSubgraph(body_, inputs));
    KHEYA_ASSIGN_OR_RETURN(condition_, TruthOf(outputs[0], "a condition from the body"));
    for (size_t i = 0; i < count_; ++i) carried_[i] = std::move(outputs[i + 1]);
    for (size_t i = 0; i < scanned_.size(); ++i) {
      const Value& value = outputs[count_ + 1 + i];
      if (!value.is_tensor()) {
        return InvalidArgumentError("found {} to scan, expected a tensor",
                                    TypeOf(value).ToString());
      }
      scanned_[i].push_back(value.tensor());
    }
    return OkStatus();
  }

  Status SetOutputs() {
    for (size_t i = 0; i < count_; ++i) {
      KHEYA_RETURN_IF_ERROR(context_.SetOutput(static_cast<int>(i), std::move(carried_[i])));
    }
    for (size_t i = 0; i < scanned_.size(); ++i) {
      const int output = static_cast<int>(count_ + i);
      if (scanned_[i].empty()) {
        KHEYA_ASSIGN_OR_RETURN(Tensor empty, EmptyScan(body_, count_ + 1 + i));
        KHEYA_RETURN_IF_ERROR(context_.SetOutput(output, std::move(empty)));
        continue;
      }
      KHEYA_ASSIGN_OR_RETURN(const Shape shape, JoinedShape(scanned_[i], 0, true));
      KHEYA_ASSIGN_OR_RETURN(const MutableTensorView out,
                             context_.Output(output, scanned_[i][0].dtype(), shape));
      JoinParts(scanned_[i], 0, out);
    }
    return OkStatus();
  }

  EvalContext& context_;
  const Graph& body_;
  const size_t count_;
  bool condition_ = true;
  std::vector<Value> carried_;
  std::vector<std::vector<Tensor>> scanned_;
};

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const std::shared_ptr<Graph> body,
                         BodyOf(context.attributes(), context.node()));
  return LoopRun(context, *body).Run();
}

}  // namespace

extern const OpDef kLoopOp;
const OpDef kLoopOp = {.domain = "",
                       .name = "Loop",
                       .category = "control flow",
                       .inputs = kInputs,
                       .outputs = kOutputs,
                       .attributes = kAttributes,
                       .infer = Infer,
                       .evaluate = Evaluate,
                       .infer_subgraph_inputs = InferBody};

}  // namespace kheya
