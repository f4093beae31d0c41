// Interpret and EvaluateNode: the reference execution of graphs.
#include <algorithm>
#include <utility>

#include "base/out_of_memory.h"
#include "base/random.h"
#include "ops/check_inputs.h"
#include "ops/infer.h"
#include "ops/op.h"
#include "ops/text_memory.h"

namespace kheya {
namespace {

// "node 'x' (Op) with inputs float32[1,3], int64[2]"
std::string Describe(const Node& node, std::span<const Value> inputs) {
  std::string text = node.Describe();
  const char* separator = " with inputs ";
  for (const Value& input : inputs) {
    text += std::exchange(separator, ", ");
    text += input.is_tensor() ? input.tensor().TypeString() : input.empty() ? "none" : "no tensor";
  }
  return text;
}

// The values of one run of one graph, by index; those that nobody needs any more are dropped.
class Environment {
 public:
  Environment(const Graph& graph, const InterpretOptions& options)
      : graph_(graph),
        options_(options),
        values_(graph.value_index_bound()),
        uses_left_(graph.value_index_bound(), 0) {
    for (ValueId id : graph.ValueIds()) {
      uses_left_[id.index] =
          static_cast<int64_t>(graph.value(id).uses.size()) + graph.value(id).num_graph_outputs;
    }
  }

  const Graph& graph() const { return graph_; }
  const InterpretOptions& options() const { return options_; }

  void Set(ValueId id, Value value) { values_[id.index] = std::move(value); }

  Result<Value> Get(ValueId id) {
    if (!id.valid()) return Value();
    const Tensor* constant = graph_.Constant(id);
    if (constant == nullptr) return values_[id.index];
    if (values_[id.index].empty()) {
      KHEYA_ASSIGN_OR_RETURN(Tensor aligned, constant->Aligned(options_.budget));
      values_[id.index] = std::move(aligned);
    }
    return values_[id.index];
  }

  // One use of the value is over.
  void Release(ValueId id) {
    if (id.valid() && --uses_left_[id.index] <= 0) values_[id.index] = Value();
  }

  void ReleaseUses(NodeId id) {
    for (ValueId input : graph_.node(id).inputs) Release(input);
    std::vector<ValueId> outers;
    for (const Graph* subgraph : graph_.Subgraphs(id)) {
      for (ValueId capture : subgraph->captures()) {
        outers.push_back(subgraph->value(capture).outer);
      }
    }
    std::sort(outers.begin(), outers.end());
    outers.erase(std::unique(outers.begin(), outers.end()), outers.end());
    for (ValueId outer : outers) Release(outer);
    for (ValueId output : graph_.node(id).outputs) {
      if (output.valid() && uses_left_[output.index] == 0) values_[output.index] = Value();
    }
  }

 private:
  const Graph& graph_;
  const InterpretOptions& options_;
  std::vector<Value> values_;
  std::vector<int64_t> uses_left_;
};

class NodeContext : public EvalContext {
 public:
  NodeContext(const Graph& graph, const Node& node, std::span<const Value> inputs,
              const InterpretOptions& options, Environment* environment)
      : graph_(graph),
        node_(node),
        inputs_(inputs),
        options_(options),
        environment_(environment),
        outputs_(node.outputs.size()) {}

  const Node& node() const override { return node_; }
  int num_inputs() const override { return static_cast<int>(inputs_.size()); }
  const Value& input_value(int index) const override {
    static const Value none;
    return index < num_inputs() ? inputs_[index] : none;
  }

  Result<MutableTensorView> Output(int index, DType dtype, const Shape& shape) override {
    if (dtype == DType::kString) KHEYA_RETURN_IF_ERROR(CheckTextFits(*this, shape));
    KHEYA_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, shape, options_.budget));
    const MutableTensorView view = tensor.mutable_view();
    KHEYA_RETURN_IF_ERROR(SetOutput(index, std::move(tensor)));
    return view;
  }

  Status SetOutput(int index, Value value) override {
    if (index >= static_cast<int>(outputs_.size())) {
      scratch_.push_back(std::move(value));
    } else {
      outputs_[index] = std::move(value);
    }
    return OkStatus();
  }

  Result<std::vector<Value>> RunSubgraph(const Graph& graph,
                                         std::span<const Value> inputs) override {
    InterpretOptions options{options_.budget, {}, options_.check_alive, 0};
    // Each run of a subgraph draws numbers of its own.
    if (options_.seed != 0) options.seed = NextSeed();
    for (ValueId capture : graph.captures()) {
      const ValueId outer = graph.value(capture).outer;
      if (environment_ != nullptr) {
        KHEYA_ASSIGN_OR_RETURN(Value value, environment_->Get(outer));
        options.captures.push_back(std::move(value));
      } else if (const Tensor* constant = graph_.Constant(outer)) {
        options.captures.emplace_back(*constant);
      } else {
        return FailedPreconditionError("captured value '{}' is not known",
                                       graph_.value(outer).name);
      }
    }
    return Interpret(graph, inputs, options);
  }

  const std::shared_ptr<MemoryBudget>& budget() const override { return options_.budget; }
  uint64_t seed() const override {
    return options_.seed == 0 ? FreshSeed() : MixSeed(options_.seed, node_, 0);
  }
  Status CheckAlive() const override {
    return options_.check_alive ? options_.check_alive() : OkStatus();
  }

  uint64_t NextSeed() { return MixSeed(options_.seed, node_, ++subgraph_runs_); }
  std::vector<Value> TakeOutputs() { return std::move(outputs_); }

 private:
  const Graph& graph_;
  const Node& node_;
  std::span<const Value> inputs_;
  const InterpretOptions& options_;
  Environment* environment_;
  std::vector<Value> outputs_;
  std::vector<Value> scratch_;  // outputs that the node does not list
  uint64_t subgraph_runs_ = 0;
};

Result<std::vector<Value>> Evaluate(const Graph& graph, NodeId id, std::span<const Value> inputs,
                                    const InterpretOptions& options, Environment* environment) {
  const Node& node = graph.node(id);
  const OpDef* op = FindOp(node.domain, node.op);
  if (op == nullptr || op->evaluate == nullptr) {
    return UnimplementedError("{}: operator '{}{}{}' is not supported", node.Describe(),
                              node.domain, node.domain.empty() ? "" : ".", node.op);
  }
  KHEYA_RETURN_IF_ERROR(CheckInputValues(*op, inputs).WithContext("{}", Describe(node, inputs)));
  NodeContext context(graph, node, inputs, options, environment);
  KHEYA_RETURN_IF_ERROR(CatchOutOfMemory([&] {
                          return op->evaluate(context);
                        }).WithContext("{}", Describe(node, inputs)));
  return context.TakeOutputs();
}

Status CheckInput(const GraphValue& declared, const Value& value) {
  if (value.empty() && declared.origin == ValueOrigin::kCapture) return OkStatus();
  return CheckType(value, declared.type).WithContext("'{}'", declared.name);
}

Status Fill(Environment& environment, const std::vector<ValueId>& ids,
            std::span<const Value> values, const char* what) {
  const Graph& graph = environment.graph();
  if (values.size() != ids.size()) {
    return InvalidArgumentError("found {} {}, expected {}", values.size(), what, ids.size());
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    KHEYA_RETURN_IF_ERROR(CheckInput(graph.value(ids[i]), values[i]));
    KHEYA_ASSIGN_OR_RETURN(Value value, values[i].Aligned(environment.options().budget));
    environment.Set(ids[i], std::move(value));
  }
  return OkStatus();
}

Status RunNode(Environment& environment, NodeId id) {
  const Graph& graph = environment.graph();
  const Node& node = graph.node(id);
  if (environment.options().check_alive) {
    KHEYA_RETURN_IF_ERROR(environment.options().check_alive());
  }
  std::vector<Value> inputs;
  for (ValueId input : node.inputs) {
    KHEYA_ASSIGN_OR_RETURN(inputs.emplace_back(), environment.Get(input));
  }
  KHEYA_ASSIGN_OR_RETURN(std::vector<Value> outputs,
                         Evaluate(graph, id, inputs, environment.options(), &environment));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (node.outputs[i].valid()) environment.Set(node.outputs[i], std::move(outputs[i]));
  }
  environment.ReleaseUses(id);
  return OkStatus();
}

}  // namespace

Result<std::vector<Value>> EvaluateNode(const Graph& graph, NodeId node,
                                        std::span<const Value> inputs,
                                        const InterpretOptions& options) {
  std::vector<Value> aligned(inputs.begin(), inputs.end());
  for (Value& value : aligned) {
    KHEYA_ASSIGN_OR_RETURN(value, value.Aligned(options.budget));
  }
  return Evaluate(graph, node, aligned, options, nullptr);
}

Result<std::vector<Value>> Interpret(const Graph& graph, std::span<const Value> inputs,
                                     const InterpretOptions& options) {
  KHEYA_ASSIGN_OR_RETURN(const std::vector<NodeId> order, graph.TopologicalOrder());
  Environment environment(graph, options);
  KHEYA_RETURN_IF_ERROR(Fill(environment, graph.inputs(), inputs, "inputs"));
  KHEYA_RETURN_IF_ERROR(Fill(environment, graph.captures(), options.captures, "captures"));
  for (NodeId id : order) {
    KHEYA_RETURN_IF_ERROR(RunNode(environment, id));
  }
  std::vector<Value> outputs;
  for (const GraphOutput& output : graph.outputs()) {
    KHEYA_ASSIGN_OR_RETURN(outputs.emplace_back(), environment.Get(output.value));
  }
  return outputs;
}

}  // namespace kheya
