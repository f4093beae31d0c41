#include "passes/fold_constants.h"

#include <algorithm>

#include "ops/check_inputs.h"
#include "ops/infer.h"
#include "ops/op.h"
#include "passes/match.h"

namespace kheya {
namespace {

bool IsFoldable(const Graph& graph, const Node& node, const OpDef& op) {
  if (!op.deterministic || op.evaluate == nullptr) return false;
  for (const char* kept : {"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"}) {
    if (IsOp(node, kept)) return false;
  }
  std::vector<DType> dtypes;
  for (ValueId input : node.inputs) {
    if (input.valid() && graph.Constant(input) == nullptr) return false;
    dtypes.push_back(DTypeOfValue(graph, input));
  }
  return CheckNode(op, node).ok() && CheckInputTypes(op, dtypes).ok();
}

// The known bytes of all outputs, nullopt when some are not known.
std::optional<uint64_t> OutputBytes(const Graph& graph, const Node& node) {
  uint64_t total = 0;
  for (ValueId output : node.outputs) {
    if (!output.valid()) continue;
    const ValueType& type = graph.value(output).type;
    const std::optional<Shape> shape = type.KnownShape();
    if (!shape || type.dtype == DType::kUndefined) return std::nullopt;
    total += BytesFor(type.dtype, shape->num_elements());
  }
  return total;
}

// The bytes of constants that only `id` uses, each counted once: they go when the node does.
uint64_t FreedBytes(const Graph& graph, NodeId id) {
  const std::vector<ValueId>& inputs = graph.node(id).inputs;
  uint64_t total = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor* tensor = graph.Constant(inputs[i]);
    if (tensor == nullptr || graph.IsOutput(inputs[i])) continue;
    const std::vector<Use>& uses = graph.value(inputs[i]).uses;
    const bool only_here =
        std::all_of(uses.begin(), uses.end(), [&](const Use& use) { return use.node == id; });
    const bool seen =
        std::find(inputs.begin(), inputs.begin() + i, inputs[i]) != inputs.begin() + i;
    if (only_here && !seen) total += tensor->num_bytes();
  }
  return total;
}

class Folder {
 public:
  Folder(Graph& graph, PassContext& context) : graph_(graph), context_(context) {}

  Status Visit(NodeId id) {
    const Node& node = graph_.node(id);
    const OpDef* op = FindOp(node.domain, node.op);
    if (op == nullptr || !graph_.Subgraphs(id).empty()) return OkStatus();
    KHEYA_RETURN_IF_ERROR(FoldKnownElements(id));
    if (!graph_.IsLive(id) || !IsFoldable(graph_, node, *op)) return OkStatus();
    return Fold(id, *op);
  }

 private:
  // A small integer output that inference knows becomes a constant, whatever its inputs are.
  Status FoldKnownElements(NodeId id) {
    const Node& node = graph_.node(id);
    if (node.outputs.size() != 1 || !node.outputs[0].valid()) return OkStatus();
    const GraphValue& value = graph_.value(node.outputs[0]);
    const std::optional<Shape> shape = value.type.KnownShape();
    const bool is_int64 = value.type.dtype == DType::kInt64;
    if (!value.elements || !shape || !(is_int64 || value.type.dtype == DType::kInt32)) {
      return OkStatus();
    }
    if (static_cast<int64_t>(value.elements->size()) != shape->num_elements()) return OkStatus();
    std::vector<int64_t> elements;
    for (const Dim& element : *value.elements) {
      if (!element.known()) return OkStatus();
      elements.push_back(element.value());
    }
    const std::vector<int32_t> narrow(elements.begin(), elements.end());
    return Replace(id, {is_int64 ? Value(Tensor::FromValues<int64_t>(*shape, elements))
                                 : Value(Tensor::FromValues<int32_t>(*shape, narrow))});
  }

  Status Fold(NodeId id, const OpDef& op) {
    const Node& node = graph_.node(id);
    const uint64_t freed_bytes = FreedBytes(graph_, id);
    const std::optional<uint64_t> known_bytes = OutputBytes(graph_, node);
    if (known_bytes && *known_bytes > freed_bytes + context_.fold_bytes_left) {
      context_.Note(node, "its result of {} bytes is over the budget of folding", *known_bytes);
      return OkStatus();
    }
    const std::optional<int64_t> macs = op.macs != nullptr ? op.macs(graph_, node) : std::nullopt;
    if (macs && *macs > context_.options.fold_macs) {
      context_.Note(node, "it takes {} multiply-accumulates, too many to fold", *macs);
      return OkStatus();
    }
    InterpretOptions options;
    options.budget = std::make_shared<MemoryBudget>(
        "constant folding", freed_bytes + context_.fold_bytes_left + kScratchBytes,
        ProcessBudget());
    std::vector<Value> inputs;
    for (ValueId input : node.inputs) {
      inputs.push_back(input.valid() ? Value(*graph_.Constant(input)) : Value());
    }
    Result<std::vector<Value>> results = EvaluateNode(graph_, id, inputs, options);
    if (!results.ok()) {
      context_.Note(node, "it cannot be folded: {}", results.status().message());
      return OkStatus();
    }
    return Replace(id, *results, freed_bytes);
  }

  Status Replace(NodeId id, const std::vector<Value>& results, uint64_t freed_bytes = 0) {
    const Node& node = graph_.node(id);
    uint64_t bytes = 0;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (!node.outputs[i].valid()) continue;
      if (i >= results.size() || !results[i].is_tensor()) return OkStatus();
      bytes += results[i].tensor().num_bytes();
    }
    const uint64_t growth = bytes > freed_bytes ? bytes - freed_bytes : 0;
    if (growth > context_.fold_bytes_left) {
      context_.Note(node, "its result of {} bytes is over the budget of folding", bytes);
      return OkStatus();
    }
    context_.fold_bytes_left -= growth;
    Patch patch(graph_);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId output = node.outputs[i];
      if (!output.valid()) continue;
      patch.ReplaceValue(output, patch.AddConstant(graph_.value(output).name, results[i].tensor()));
    }
    return context_.Apply(patch);
  }

  // For what an evaluation needs besides its results.
  static constexpr uint64_t kScratchBytes = uint64_t{64} << 20;

  Graph& graph_;
  PassContext& context_;
};

}  // namespace

Status FoldConstants(Graph& graph, PassContext& context) {
  return VisitNodesInOrder(graph, context, [](Graph& visited, NodeId id, PassContext& running) {
    return Folder(visited, running).Visit(id);
  });
}

}  // namespace kheya
