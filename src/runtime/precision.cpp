#include "runtime/precision.h"

#include <algorithm>
#include <numeric>

#include "base/denormals.h"
#include "base/hash.h"
#include "kernels/portable/bf16.h"
#include "ops/op.h"
#include "runtime/trial.h"

namespace kheya {
namespace {

constexpr const char* kNarrowChoice = "bfloat16";
constexpr const char* kWideChoice = "float32";

bool IsProduct(const KernelCall& call) {
  return std::holds_alternative<FusedConvParams>(call.params) ||
         std::holds_alternative<FusedMatMulParams>(call.params);
}

// A rounding error of an exponent is one of the whole result.
bool ReadsExactly(const KernelCall& call) {
  return std::holds_alternative<SoftmaxParams>(call.params);
}

}  // namespace

bool CanComputeBf16() { return HasBf16Arithmetic(); }

KernelCall Narrowed(const NodeCall& node_call, const Graph& graph) {
  KernelCall call = node_call.call;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.has_input(i) || call.inputs[i].dtype != DType::kFloat32) continue;
    if (graph.Constant(node_call.inputs[i]) != nullptr || ReadsExactly(call)) continue;
    call.inputs[i].dtype = DType::kBFloat16;
  }
  for (TensorDesc& output : call.outputs) {
    if (output.dtype == DType::kFloat32) output.dtype = DType::kBFloat16;
  }
  return call;
}

class TypeChooser {
 public:
  TypeChooser(const Graph& graph, const CompilePlanOptions& options)
      : graph_(graph), options_(options), groups_(graph.value_index_bound()) {
    std::iota(groups_.begin(), groups_.end(), 0);
    active_.resize(groups_.size());
    written_.resize(groups_.size());
    read_.resize(groups_.size());
  }

  Result<TypePlan> Run() {
    KHEYA_ASSIGN_OR_RETURN(const std::vector<NodeId> order, graph_.TopologicalOrder());
    plan_.computes_.resize(graph_.node_index_bound());
    for (NodeId id : order) {
      const Node& node = graph_.node(id);
      KHEYA_RETURN_IF_ERROR(Visit(id, node).WithContext("{}", node.Describe()));
    }
    plan_.narrow_.resize(groups_.size());
    for (int32_t v = 0; v < graph_.value_index_bound(); ++v) {
      plan_.narrow_[v] = written_[v] && read_[v] && active_[GroupOf(v)];
    }
    return std::move(plan_);
  }

 private:
  // Values of one group are of one type if they can.
  int32_t GroupOf(int32_t value) {
    while (groups_[value] != value) value = groups_[value] = groups_[groups_[value]];
    return value;
  }

  void Join(int32_t a, int32_t b) {
    const int32_t from = GroupOf(a), to = GroupOf(b);
    groups_[from] = to;
    active_[to] = active_[to] || active_[from];
  }

  bool IsFloat32(ValueId id) const {
    const ValueType& type = graph_.value(id).type;
    return type.is_tensor() && type.dtype == DType::kFloat32 && type.KnownShape().has_value();
  }

  Status Visit(NodeId id, const Node& node) {
    const OpDef* op = FindOp(node.domain, node.op);
    if (op != nullptr && op->aliases_input && node.outputs.size() == 1) {
      if (!node.outputs[0].valid() || !IsFloat32(node.outputs[0])) return OkStatus();
      Use({node.inputs[0]}, {node.outputs[0]}, /*computes=*/false);
      return OkStatus();
    }
    const std::optional<NodeCall> node_call = MakeNodeCall(graph_, node);
    if (!node_call) return OkStatus();
    KernelCall call = Narrowed(*node_call, graph_);
    if (node_call->rule == LayoutRule::kChannelsLast) SetChannelsLast(*node_call, &call);
    std::vector<const KernelRow*> rows = RowsFor(call, options_);
    if (rows.empty() && node_call->rule == LayoutRule::kFollow) {
      SetChannelsLast(*node_call, &call);
      rows = RowsFor(call, options_);
    }
    if (rows.empty()) return OkStatus();
    const bool product = IsProduct(call);
    if (product) {
      KHEYA_ASSIGN_OR_RETURN(const bool within, IsWithinBudget(*node_call, call, rows, node));
      if (!within) return OkStatus();
      plan_.computes_[id.index] = true;
    }
    std::vector<ValueId> read;
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      if (call.has_input(i) && call.inputs[i].dtype == DType::kBFloat16) {
        read.push_back(node_call->inputs[i]);
      }
    }
    Use(read, node_call->outputs, product);
    return OkStatus();
  }

  static void SetChannelsLast(const NodeCall& node_call, KernelCall* call) {
    for (size_t i = 0; i < call->inputs.size(); ++i) {
      if (node_call.follows[i]) call->inputs[i].layout = Layout::kChannelsLast;
    }
    for (TensorDesc& output : call->outputs) output.layout = Layout::kChannelsLast;
  }

  // A step that can read and write these values in bfloat16.
  void Use(const std::vector<ValueId>& inputs, const std::vector<ValueId>& outputs, bool computes) {
    std::vector<int32_t> all;
    for (ValueId id : inputs) {
      if (graph_.Constant(id) != nullptr) continue;
      read_[id.index] = true;
      all.push_back(id.index);
    }
    for (ValueId id : outputs) {
      if (!id.valid() || !IsFloat32(id)) continue;
      written_[id.index] = true;
      all.push_back(id.index);
    }
    for (int32_t value : all) {
      if (computes) {
        active_[GroupOf(value)] = true;
      } else {
        Join(all[0], value);
      }
    }
  }

  // Compares a run on sample inputs with the definition, once for the weights, shape and tolerance.
  Result<bool> IsWithinBudget(const NodeCall& node_call, const KernelCall& call,
                              const std::vector<const KernelRow*>& rows, const Node& node) {
    std::vector<Tensor> held(node_call.inputs.size());
    std::vector<const Tensor*> constants;
    for (size_t i = 0; i < node_call.inputs.size(); ++i) {
      const ValueId id = node_call.inputs[i];
      const Tensor* constant = id.valid() ? graph_.Constant(id) : nullptr;
      if (constant != nullptr) {
        KHEYA_ASSIGN_OR_RETURN(held[i], constant->Aligned());
        constant = &held[i];
      }
      constants.push_back(constant);
    }
    std::optional<std::string> key;
    if (options_.tuner != nullptr) {
      key = BudgetKey(call, constants);
      const std::optional<std::string> known = options_.tuner->Known(*key);
      if (known) return *known == kNarrowChoice;
    }
    const std::optional<double> error = ErrorOf(call, rows, constants, node);
    const bool within = error && *error <= options_.tolerance;
    if (error && !within) {
      Note(node,
           fmt::format("its error in bfloat16 is {:.2g}, expected at most {}; it stays float32",
                       *error, options_.tolerance));
    }
    if (key) options_.tuner->Remember(*key, within ? kNarrowChoice : kWideChoice);
    return within;
  }

  std::string BudgetKey(const KernelCall& call, std::span<const Tensor* const> constants) const {
    std::string key = fmt::format("type {}", options_.tolerance);
    for (const Tensor* constant : constants) {
      if (constant != nullptr) key += " " + HashBytes(constant->bytes()).ToHex();
    }
    return key + " " + TuningKey(call, constants).value_or("");
  }

  // nullopt where no kernel could be tried.
  std::optional<double> ErrorOf(const KernelCall& call, const std::vector<const KernelRow*>& rows,
                                std::span<const Tensor* const> constants, const Node& node) {
    const ScopedFlushDenormals flush;
    for (const KernelRow* row : rows) {
      auto kernel = row->prepare(call, {constants, options_.cache});
      if (!kernel.ok()) {
        Note(node, fmt::format("kernel '{}': {}", row->name, kernel.status().message()));
        continue;
      }
      TrialInputs inputs;
      if (!inputs.Make(call, constants)) return std::nullopt;
      Trial trial(call, **kernel, inputs);
      if (!trial.Allocate() || !trial.Run()) return std::nullopt;
      plan_.held_.push_back(std::move(kernel).value());
      return trial.Error();
    }
    return std::nullopt;
  }

  void Note(const Node& node, const std::string& reason) const {
    if (options_.notes == nullptr) return;
    options_.notes->push_back(
        fmt::format("precision: node '{}' ({}): {}", node.name, node.op, reason));
  }

  const Graph& graph_;
  const CompilePlanOptions& options_;
  TypePlan plan_;
  std::vector<int32_t> groups_;
  std::vector<bool> active_;   // by group: some step computes in bfloat16 with one of its values
  std::vector<bool> written_;  // by value: its producer can write bfloat16
  std::vector<bool> read_;     // some reader can read bfloat16
};

Result<TypePlan> ChooseTypes(const Graph& graph, const CompilePlanOptions& options) {
  if (options.precision == DType::kFloat32 || options.tactics != Tactics::kAuto) return TypePlan();
  if (!HasBf16Arithmetic()) {
    if (options.notes != nullptr) {
      options.notes->push_back(
          "precision: this processor does not compute in bfloat16, float32 is used");
    }
    return TypePlan();
  }
  return TypeChooser(graph, options).Run();
}

}  // namespace kheya
