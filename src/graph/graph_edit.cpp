// Graph: the methods that change what is there.
#include <algorithm>

#include "graph/graph.h"

namespace kheya {
namespace {

std::vector<ValueId> DistinctOuters(const std::vector<Graph*>& subgraphs) {
  std::vector<ValueId> outers;
  for (const Graph* subgraph : subgraphs) {
    for (ValueId capture : subgraph->captures()) outers.push_back(subgraph->value(capture).outer);
  }
  std::sort(outers.begin(), outers.end());
  outers.erase(std::unique(outers.begin(), outers.end()), outers.end());
  return outers;
}

bool Contains(std::span<const NodeId> nodes, NodeId node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

}  // namespace

void Graph::AddUse(ValueId value, Use use) {
  if (value.valid()) mutable_value(value).uses.push_back(use);
}

void Graph::RemoveUse(ValueId value, Use use) {
  if (!value.valid()) return;
  std::vector<Use>& uses = mutable_value(value).uses;
  // From the back: what was added last tends to go first.
  for (size_t i = uses.size(); i-- > 0;) {
    if (!(uses[i] == use)) continue;
    uses[i] = uses.back();
    uses.pop_back();
    return;
  }
}

void Graph::AddCaptureUses(NodeId id) {
  for (ValueId outer : DistinctOuters(Subgraphs(id))) AddUse(outer, {id, Use::kCaptured});
}

void Graph::RemoveCaptureUses(NodeId id) {
  for (ValueId outer : DistinctOuters(Subgraphs(id))) RemoveUse(outer, {id, Use::kCaptured});
}

void Graph::RefreshCaptures(NodeId id) {
  for (const std::unique_ptr<GraphValue>& value : values_) {
    if (value) std::erase(value->uses, Use{id, Use::kCaptured});
  }
  AddCaptureUses(id);
}

void Graph::SetType(ValueId id, ValueType type) { mutable_value(id).type = std::move(type); }

void Graph::SetElements(ValueId id, std::optional<std::vector<Dim>> elements) {
  mutable_value(id).elements = std::move(elements);
}

void Graph::SetNodeName(NodeId id, std::string name) { mutable_node(id).name = std::move(name); }

void Graph::RenameValue(ValueId id, std::string name) {
  by_name_.erase(value(id).name);
  by_name_[name] = id;
  mutable_value(id).name = std::move(name);
}

void Graph::SetInput(NodeId id, int index, ValueId value) {
  Node& node = mutable_node(id);
  if (index >= static_cast<int>(node.inputs.size())) node.inputs.resize(index + 1);
  RemoveUse(node.inputs[index], {id, index});
  node.inputs[index] = value;
  AddUse(value, {id, index});
}

void Graph::SetAttribute(NodeId id, Attribute attribute) {
  RemoveCaptureUses(id);
  std::vector<Attribute>& attributes = mutable_node(id).attributes;
  auto it = std::find_if(attributes.begin(), attributes.end(),
                         [&](const Attribute& each) { return each.name == attribute.name; });
  if (it == attributes.end()) {
    attributes.push_back(std::move(attribute));
  } else {
    *it = std::move(attribute);
  }
  AddCaptureUses(id);
}

void Graph::RemoveAttribute(NodeId id, std::string_view name) {
  RemoveCaptureUses(id);
  std::erase_if(mutable_node(id).attributes,
                [&](const Attribute& each) { return each.name == name; });
  AddCaptureUses(id);
}

// A subgraph has one capture at most for each outer value, so two that become one are merged.
void Graph::ReplaceCaptures(NodeId id, ValueId from, ValueId to) {
  for (Graph* subgraph : Subgraphs(id)) {
    auto it = subgraph->capture_by_outer_.find(from.index);
    if (it == subgraph->capture_by_outer_.end()) continue;
    const ValueId capture = it->second;
    if (auto other = subgraph->capture_by_outer_.find(to.index);
        other != subgraph->capture_by_outer_.end()) {
      subgraph->ReplaceUses(capture, other->second);
      subgraph->EraseValue(capture);
      continue;
    }
    subgraph->capture_by_outer_.erase(it);
    subgraph->capture_by_outer_.emplace(to.index, capture);
    GraphValue& inner = subgraph->mutable_value(capture);
    inner.outer = to;
    if (value(to).type.kind != ValueType::Kind::kUnknown) inner.type = value(to).type;
  }
}

void Graph::ReplaceUses(ValueId from, ValueId to, std::span<const NodeId> except) {
  if (from == to) return;
  std::vector<Use> kept;
  std::vector<Use>& gained = mutable_value(to).uses;
  for (const Use& use : value(from).uses) {
    if (Contains(except, use.node)) {
      kept.push_back(use);
    } else if (use.index != Use::kCaptured) {
      mutable_node(use.node).inputs[use.index] = to;
      gained.push_back(use);
    } else {
      ReplaceCaptures(use.node, from, to);
      if (std::find(gained.begin(), gained.end(), use) == gained.end()) gained.push_back(use);
    }
  }
  mutable_value(from).uses = std::move(kept);
  if (!IsOutput(from)) return;
  for (int i = 0; i < static_cast<int>(outputs_.size()); ++i) {
    if (outputs_[i].value == from) SetOutput(i, to);
  }
}

void Graph::SetOutput(int index, ValueId value) {
  --mutable_value(outputs_[index].value).num_graph_outputs;
  outputs_[index].value = value;
  ++mutable_value(value).num_graph_outputs;
}

void Graph::EraseValue(ValueId id) {
  const GraphValue& gone = value(id);
  by_name_.erase(gone.name);
  if (gone.origin == ValueOrigin::kInput) std::erase(inputs_, id);
  if (gone.origin == ValueOrigin::kCapture) {
    std::erase(captures_, id);
    if (auto it = capture_by_outer_.find(gone.outer.index);
        it != capture_by_outer_.end() && it->second == id) {
      capture_by_outer_.erase(it);
    }
  }
  values_[id.index] = nullptr;
}

Status Graph::RemoveNode(NodeId id) {
  if (!IsLive(id)) return InvalidArgumentError("node {} to be removed is not there", id.index);
  for (ValueId output : node(id).outputs) {
    if (!output.valid() || (value(output).uses.empty() && !IsOutput(output))) continue;
    return FailedPreconditionError("{} cannot be removed: its output '{}' is used",
                                   node(id).Describe(), value(output).name);
  }
  const std::vector<ValueId>& inputs = node(id).inputs;
  for (size_t i = 0; i < inputs.size(); ++i) RemoveUse(inputs[i], {id, static_cast<int>(i)});
  RemoveCaptureUses(id);
  for (ValueId output : node(id).outputs) {
    if (output.valid()) EraseValue(output);
  }
  nodes_[id.index] = nullptr;
  --num_nodes_;
  return OkStatus();
}

Status Graph::RemoveValue(ValueId id) {
  if (!IsLive(id)) return InvalidArgumentError("value {} to be removed is not there", id.index);
  const GraphValue& gone = value(id);
  if (gone.origin == ValueOrigin::kNode) {
    return FailedPreconditionError("value '{}' cannot be removed: a node makes it", gone.name);
  }
  if (!gone.uses.empty() || IsOutput(id)) {
    return FailedPreconditionError("value '{}' cannot be removed: it is used", gone.name);
  }
  EraseValue(id);
  return OkStatus();
}

}  // namespace kheya
