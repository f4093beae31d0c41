#include "graph/patch.h"

#include <algorithm>

namespace kheya {
namespace {

bool MayReplace(const ValueType& from, const ValueType& to) {
  if (from.kind == ValueType::Kind::kUnknown || to.kind == ValueType::Kind::kUnknown) return true;
  if (from.kind != to.kind) return false;
  if (from.dtype != DType::kUndefined && to.dtype != DType::kUndefined && from.dtype != to.dtype) {
    return false;
  }
  if (!from.shape || !to.shape) return true;
  if (from.shape->size() != to.shape->size()) return false;
  for (size_t i = 0; i < from.shape->size(); ++i) {
    const Dim& a = (*from.shape)[i];
    const Dim& b = (*to.shape)[i];
    if (a.known() && b.known() && a.value() != b.value()) return false;
  }
  return true;
}

bool IsUnused(const Graph& graph, ValueId id) {
  return graph.value(id).uses.empty() && !graph.IsOutput(id);
}

bool IsUnused(const Graph& graph, NodeId id) {
  const std::vector<ValueId>& outputs = graph.node(id).outputs;
  return std::all_of(outputs.begin(), outputs.end(),
                     [&](ValueId output) { return !output.valid() || IsUnused(graph, output); });
}

}  // namespace

Patch::~Patch() {
  if (applied_) return;
  // Newest first: added nodes use only older ones. What is still used stays: Verify will tell.
  std::for_each(added_nodes_.rbegin(), added_nodes_.rend(),
                [&](NodeId id) { (void)graph_.RemoveNode(id); });
  for (ValueId id : added_constants_) (void)graph_.RemoveValue(id);
}

ValueId Patch::AddConstant(std::string name, Tensor tensor) {
  added_constants_.push_back(graph_.AddConstant(std::move(name), std::move(tensor)));
  return added_constants_.back();
}

Result<NodeId> Patch::AddNode(NodeSpec spec) {
  KHEYA_ASSIGN_OR_RETURN(const NodeId id, graph_.AddNode(std::move(spec)));
  added_nodes_.push_back(id);
  return id;
}

void Patch::SetType(ValueId value, ValueType type) { graph_.SetType(value, std::move(type)); }

void Patch::ReplaceValue(ValueId from, ValueId to) { replacements_.emplace_back(from, to); }

void Patch::SetInput(NodeId node, int index, ValueId value) {
  input_edits_.push_back({node, index, value});
}

void Patch::SetAttribute(NodeId node, Attribute attribute) {
  attribute_edits_.push_back({node, std::move(attribute), false});
}

void Patch::RemoveAttribute(NodeId node, std::string name) {
  attribute_edits_.push_back({node, {std::move(name), int64_t{0}}, true});
}

void Patch::RemoveNode(NodeId node) { removals_.push_back(node); }

void Patch::RemoveValue(ValueId value) { value_removals_.push_back(value); }

bool Patch::empty() const {
  return added_nodes_.empty() && added_constants_.empty() && replacements_.empty() &&
         input_edits_.empty() && attribute_edits_.empty() && removals_.empty() &&
         value_removals_.empty();
}

Status Patch::CheckReplacement(ValueId from, ValueId to) const {
  if (!graph_.IsLive(from) || !graph_.IsLive(to)) {
    return InvalidArgumentError("a replacement names a value that is not there");
  }
  const ValueType& old_type = graph_.value(from).type;
  const ValueType& new_type = graph_.value(to).type;
  if (MayReplace(old_type, new_type)) return OkStatus();
  return InvalidArgumentError("value '{}' of {} cannot be replaced by '{}' of {}",
                              graph_.value(from).name, old_type.ToString(), graph_.value(to).name,
                              new_type.ToString());
}

Status Patch::Check() const {
  if (applied_) return FailedPreconditionError("a patch is applied once");
  for (const auto& [from, to] : replacements_) KHEYA_RETURN_IF_ERROR(CheckReplacement(from, to));
  for (const InputEdit& edit : input_edits_) {
    if (!graph_.IsLive(edit.node) || edit.index < 0 ||
        (edit.value.valid() && !graph_.IsLive(edit.value))) {
      return InvalidArgumentError("an input edit names a node or value that is not there");
    }
  }
  for (const AttributeEdit& edit : attribute_edits_) {
    if (!graph_.IsLive(edit.node)) {
      return InvalidArgumentError("attribute '{}' is set on a node that is not there",
                                  edit.attribute.name);
    }
  }
  for (NodeId id : removals_) {
    if (!graph_.IsLive(id)) return InvalidArgumentError("a removed node is not there");
  }
  for (ValueId id : value_removals_) {
    if (!graph_.IsLive(id)) return InvalidArgumentError("a removed value is not there");
  }
  return OkStatus();
}

void Patch::ApplyAttributes() {
  for (AttributeEdit& edit : attribute_edits_) {
    if (edit.remove) {
      graph_.RemoveAttribute(edit.node, edit.attribute.name);
    } else {
      graph_.SetAttribute(edit.node, std::move(edit.attribute));
    }
  }
}

void Patch::Replace(ValueId from, ValueId to) {
  if (from == to) return;
  graph_.ReplaceUses(from, to, added_nodes_);
  const GraphValue& old_value = graph_.value(from);
  const GraphValue& new_value = graph_.value(to);
  if (new_value.type.kind == ValueType::Kind::kUnknown) graph_.SetType(to, old_value.type);
  if (!new_value.elements && old_value.elements) graph_.SetElements(to, old_value.elements);
  const bool added =
      new_value.origin == ValueOrigin::kNode
          ? std::binary_search(added_nodes_.begin(), added_nodes_.end(), new_value.producer)
          : std::binary_search(added_constants_.begin(), added_constants_.end(), to);
  if (added) names_to_move_.emplace_back(old_value.name, to);
  maybe_dead_.push_back(from);
}

void Patch::NoteInputs(NodeId node) {
  for (ValueId input : graph_.node(node).inputs) {
    if (input.valid()) maybe_dead_.push_back(input);
  }
  for (const Graph* subgraph : graph_.Subgraphs(node)) {
    for (ValueId capture : subgraph->captures()) {
      maybe_dead_.push_back(subgraph->value(capture).outer);
    }
  }
}

Status Patch::Remove() {
  for (NodeId id : removals_) {
    NoteInputs(id);
    KHEYA_RETURN_IF_ERROR(graph_.RemoveNode(id));
  }
  for (ValueId id : value_removals_) KHEYA_RETURN_IF_ERROR(graph_.RemoveValue(id));
  return OkStatus();
}

void Patch::RemoveDead() {
  for (NodeId id : added_nodes_) {
    for (ValueId output : graph_.IsLive(id) ? graph_.node(id).outputs : std::vector<ValueId>()) {
      if (output.valid()) maybe_dead_.push_back(output);
    }
  }
  maybe_dead_.insert(maybe_dead_.end(), added_constants_.begin(), added_constants_.end());
  while (!maybe_dead_.empty()) {
    const ValueId id = maybe_dead_.back();
    maybe_dead_.pop_back();
    if (!graph_.IsLive(id) || !IsUnused(graph_, id)) continue;
    const GraphValue& value = graph_.value(id);
    if (value.origin == ValueOrigin::kConstant) {
      (void)graph_.RemoveValue(id);
    } else if (value.origin == ValueOrigin::kNode && IsUnused(graph_, value.producer)) {
      const NodeId producer = value.producer;
      NoteInputs(producer);
      (void)graph_.RemoveNode(producer);
    }
  }
}

void Patch::MoveNames() {
  for (auto& [name, to] : names_to_move_) {
    if (graph_.IsLive(to) && !graph_.FindValue(name)) graph_.RenameValue(to, std::move(name));
  }
}

Status Patch::Apply() {
  KHEYA_RETURN_IF_ERROR(Check());
  applied_ = true;
  ApplyAttributes();
  for (const InputEdit& edit : input_edits_) {
    const std::vector<ValueId>& inputs = graph_.node(edit.node).inputs;
    if (edit.index < static_cast<int>(inputs.size()) && inputs[edit.index].valid()) {
      maybe_dead_.push_back(inputs[edit.index]);
    }
    graph_.SetInput(edit.node, edit.index, edit.value);
  }
  for (const auto& [from, to] : replacements_) Replace(from, to);
  KHEYA_RETURN_IF_ERROR(Remove());
  RemoveDead();
  MoveNames();
  return OkStatus();
}

}  // namespace kheya
