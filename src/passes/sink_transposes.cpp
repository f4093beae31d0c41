#include "passes/sink_transposes.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "passes/match.h"
#include "passes/permutation.h"
#include "passes/permuted_node.h"

namespace kheya {
namespace {

// What a change saves; larger is better.
struct Gain {
  int64_t transposes = 0;
  int64_t elements = 0;

  Gain operator+(const Gain& other) const {
    return {transposes + other.transposes, elements + other.elements};
  }
  auto operator<=>(const Gain&) const = default;
  bool worthwhile() const {
    return transposes >= 0 && elements >= 0 && (transposes > 0 || elements > 0);
  }
};

// The nodes that are to be said before the Transposes of their operands: at first all that can be,
// in groups that share values; then those at the ends go where nothing is gained by them.
class Sinker {
 public:
  Sinker(Graph& graph, PassContext& context)
      : graph_(graph),
        context_(context),
        perms_(graph.value_index_bound()),
        nodes_(graph.node_index_bound()),
        chosen_(graph.node_index_bound(), false),
        groups_(graph.value_index_bound()) {
    std::iota(groups_.begin(), groups_.end(), 0);
  }

  Status Run() {
    KHEYA_ASSIGN_OR_RETURN(order_, graph_.TopologicalOrder());
    for (NodeId id : order_) Label(id);
    for (auto id = order_.rbegin(); id != order_.rend(); ++id) LeaveOut(*id);
    std::map<int32_t, std::vector<NodeId>> groups;
    for (NodeId id : order_) {
      if (chosen_[id.index]) groups[GroupOf(graph_.node(id))].push_back(id);
    }
    std::erase_if(groups, [&](const auto& group) { return !GainOf(group.second).worthwhile(); });
    for (const auto& [group, ids] : groups) KHEYA_RETURN_IF_ERROR(Rewrite(ids));
    return OkStatus();
  }

 private:
  const Perm* PermAt(ValueId value) const {
    if (value.index >= static_cast<int32_t>(perms_.size())) return nullptr;  // made by this pass
    const Perm& perm = perms_[value.index];
    return perm.empty() || IsInOrder(perm) ? nullptr : &perm;
  }

  bool IsTranspose(ValueId value) const { return ProducerOf(graph_, value, "Transpose").valid(); }

  int32_t Root(int32_t value) {
    while (groups_[value] != value) value = groups_[value] = groups_[groups_[value]];
    return value;
  }
  int32_t GroupOf(const Node& node) {
    for (ValueId output : node.outputs) {
      if (output.valid()) return Root(output.index);
    }
    return -1;
  }

  void Label(NodeId id) {
    const Node& node = graph_.node(id);
    if (IsOp(node, "Transpose")) {
      perms_[node.outputs[0].index] = PermOf(graph_, node);
      return;
    }
    std::string reason;
    const PermFinder find = [this](ValueId value) { return PermAt(value); };
    nodes_[id.index] = Permute(graph_, node, find, &reason);
    if (!reason.empty()) context_.Note(node, "{}", reason);
    if (!nodes_[id.index]) return;
    chosen_[id.index] = true;
    const int32_t group = GroupOf(node);
    for (ValueId output : node.outputs) {
      if (!output.valid()) continue;
      perms_[output.index] = nodes_[id.index]->output;
      groups_[Root(output.index)] = Root(group);
    }
    for (ValueId input : node.inputs) {
      if (input.valid() && PermAt(input) != nullptr) groups_[Root(input.index)] = Root(group);
    }
  }

  // Of unknown dimensions a guess.
  int64_t ElementsOf(ValueId value) const {
    constexpr int64_t kGuess = 16, kMost = int64_t{1} << 40;
    int64_t elements = 1;
    const SymbolicShape* shape = ShapeOf(graph_, value);
    if (shape == nullptr) return kGuess;
    for (const Dim& dim : *shape) {
      elements = std::min(kMost, elements * std::min(kMost, dim.maybe().value_or(kGuess)));
    }
    return elements;
  }

  bool IsChosenUse(const Use& use) const {
    return use.index != Use::kCaptured && chosen_[use.node.index];
  }

  // What is saved at this value: its Transpose, or those behind it, less one that is then needed.
  Gain GainAt(ValueId value) const {
    const GraphValue& here = graph_.value(value);
    const int64_t elements = ElementsOf(value);
    if (IsTranspose(value)) {
      const bool dies = !graph_.IsOutput(value) &&
                        std::all_of(here.uses.begin(), here.uses.end(),
                                    [this](const Use& use) { return IsChosenUse(use); });
      return dies ? Gain{1, elements} : Gain{};
    }
    if (here.origin != ValueOrigin::kNode || !chosen_[here.producer.index]) return {};
    const Perm& perm = perms_[value.index];
    if (IsInOrder(perm)) return {};
    Gain gain;
    bool needs = graph_.IsOutput(value);
    for (const Use& use : here.uses) {
      if (IsChosenUse(use)) continue;
      const Node& user = graph_.node(use.node);
      const bool turns = use.index == 0 && IsOp(user, "Transpose");
      const Perm next = turns ? PermOf(graph_, user) : Perm();
      if (next.size() != perm.size() || next.empty()) {
        needs = true;
      } else if (IsInOrder(Compose(perm, next))) {
        gain = gain + Gain{1, elements};
      }
    }
    return needs ? gain + Gain{-1, -elements} : gain;
  }

  // Of the values around a node.
  Gain GainAround(const Node& node) const {
    std::vector<ValueId> values = node.outputs;
    for (ValueId input : node.inputs) {
      if (std::count(values.begin(), values.end(), input) == 0) values.push_back(input);
    }
    Gain gain;
    for (ValueId value : values) {
      if (value.valid()) gain = gain + GainAt(value);
    }
    return gain;
  }

  void LeaveOut(NodeId id) {
    if (!chosen_[id.index]) return;
    const Node& node = graph_.node(id);
    for (ValueId output : node.outputs) {
      if (!output.valid()) continue;
      for (const Use& use : graph_.value(output).uses) {
        if (IsChosenUse(use)) return;
      }
    }
    const Gain with = GainAround(node);
    chosen_[id.index] = false;
    if (GainAround(node) < with) chosen_[id.index] = true;
  }

  Gain GainOf(const std::vector<NodeId>& ids) const {
    std::vector<ValueId> values;
    for (NodeId id : ids) {
      const Node& node = graph_.node(id);
      values.insert(values.end(), node.inputs.begin(), node.inputs.end());
      values.insert(values.end(), node.outputs.begin(), node.outputs.end());
    }
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    Gain gain;
    for (ValueId value : values) {
      if (value.valid()) gain = gain + GainAt(value);
    }
    return gain;
  }

  // The value before its Transpose.
  ValueId Untransposed(ValueId value) const {
    if (PermAt(value) == nullptr) return ValueId();
    if (const NodeId turn = ProducerOf(graph_, value, "Transpose"); turn.valid()) {
      return graph_.node(turn).inputs[0];
    }
    return made_.at(value.index);
  }

  Status Rewrite(const std::vector<NodeId>& ids) {
    Patch patch(graph_);
    made_.clear();
    for (NodeId id : ids) {
      const Node& node = graph_.node(id);
      KHEYA_ASSIGN_OR_RETURN(NodeSpec spec,
                             SpecOfPermuted(graph_, patch, node, *nodes_[id.index],
                                            [this](ValueId value) { return Untransposed(value); }));
      KHEYA_ASSIGN_OR_RETURN(const NodeId added, patch.AddNode(std::move(spec)));
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        if (!node.outputs[i].valid()) continue;
        made_[node.outputs[i].index] = patch.Output(added, static_cast<int>(i));
      }
    }
    for (NodeId id : ids) {
      for (ValueId output : graph_.node(id).outputs) {
        if (output.valid()) KHEYA_RETURN_IF_ERROR(TransposeBehind(patch, output));
      }
    }
    return context_.Apply(patch);
  }

  // For the uses of a value that stay as they are.
  Status TransposeBehind(Patch& patch, ValueId value) {
    const GraphValue& here = graph_.value(value);
    const bool inside = std::all_of(here.uses.begin(), here.uses.end(),
                                    [this](const Use& use) { return IsChosenUse(use); });
    if (inside && !graph_.IsOutput(value)) return OkStatus();
    ValueId answer = made_.at(value.index);
    if (const Perm* perm = PermAt(value)) {
      KHEYA_ASSIGN_OR_RETURN(const NodeId turn, patch.AddNode({.op = "Transpose",
                                                               .inputs = {answer},
                                                               .outputs = {here.name},
                                                               .attributes = {{"perm", *perm}}}));
      answer = patch.Output(turn, 0);
    }
    patch.ReplaceValue(value, answer);
    return OkStatus();
  }

  Graph& graph_;
  PassContext& context_;
  std::vector<NodeId> order_;
  std::vector<Perm> perms_;                         // by value; empty: not transposed
  std::vector<std::optional<PermutedNode>> nodes_;  // by node
  std::vector<bool> chosen_;                        // by node
  std::vector<int32_t> groups_;                     // by value
  std::map<int32_t, ValueId> made_;                 // by value of the group at hand
};

}  // namespace

Status SinkTransposes(Graph& graph, PassContext& context) { return Sinker(graph, context).Run(); }

}  // namespace kheya
