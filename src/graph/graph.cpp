#include "graph/graph.h"

#include <algorithm>
#include <queue>

namespace kheya {
namespace {

void CloneSubgraphs(Attribute& attribute) {
  if (auto* graph = std::get_if<std::shared_ptr<Graph>>(&attribute.value)) {
    if (*graph) *graph = std::make_shared<Graph>((*graph)->Clone());
  } else if (auto* graphs = std::get_if<std::vector<std::shared_ptr<Graph>>>(&attribute.value)) {
    for (std::shared_ptr<Graph>& each : *graphs) {
      if (each) each = std::make_shared<Graph>(each->Clone());
    }
  }
}

void CollectSubgraphs(const Attribute& attribute, std::vector<Graph*>& found) {
  if (const auto* graph = std::get_if<std::shared_ptr<Graph>>(&attribute.value)) {
    if (*graph) found.push_back(graph->get());
  } else if (const auto* graphs =
                 std::get_if<std::vector<std::shared_ptr<Graph>>>(&attribute.value)) {
    for (const std::shared_ptr<Graph>& each : *graphs) {
      if (each) found.push_back(each.get());
    }
  }
}

std::vector<Graph*> SubgraphsOf(const std::vector<Attribute>& attributes) {
  std::vector<Graph*> found;
  for (const Attribute& attribute : attributes) CollectSubgraphs(attribute, found);
  return found;
}

}  // namespace

const Attribute* Node::FindAttribute(std::string_view attribute) const {
  auto it = std::find_if(attributes.begin(), attributes.end(),
                         [&](const Attribute& each) { return each.name == attribute; });
  return it == attributes.end() ? nullptr : &*it;
}

std::string Node::Describe() const {
  const std::string full = domain.empty() ? op : domain + "." + op;
  return name.empty() ? fmt::format("node ({})", full) : fmt::format("node '{}' ({})", name, full);
}

Graph Graph::Clone() const {
  Graph copy(name_);
  copy.metadata_ = metadata_;
  copy.declared_opsets = declared_opsets;
  copy.producer = producer;
  copy.model_domain = model_domain;
  copy.model_version = model_version;
  copy.default_inputs = default_inputs;
  copy.doc = doc;
  copy.graph_metadata = graph_metadata;
  copy.notes = notes;
  copy.inputs_ = inputs_;
  copy.captures_ = captures_;
  copy.outputs_ = outputs_;
  copy.by_name_ = by_name_;
  copy.capture_by_outer_ = capture_by_outer_;
  copy.next_suffix_ = next_suffix_;
  copy.num_nodes_ = num_nodes_;
  copy.nodes_.reserve(nodes_.size());
  for (const std::unique_ptr<Node>& node : nodes_) {
    copy.nodes_.push_back(node ? std::make_unique<Node>(*node) : nullptr);
    if (!node) continue;
    for (Attribute& attribute : copy.nodes_.back()->attributes) CloneSubgraphs(attribute);
  }
  copy.values_.reserve(values_.size());
  for (const std::unique_ptr<GraphValue>& value : values_) {
    copy.values_.push_back(value ? std::make_unique<GraphValue>(*value) : nullptr);
  }
  return copy;
}

const std::string* Graph::FindMetadata(std::string_view key) const {
  for (const auto& [name, text] : metadata_) {
    if (name == key) return &text;
  }
  return nullptr;
}

ValueId Graph::NewValue(std::string name, ValueType type, ValueOrigin origin) {
  const std::string base = name.empty() ? "value" : std::move(name);
  std::string unique = UniqueName(base);
  if (unique != base) ++next_suffix_[base];
  const ValueId id{static_cast<int32_t>(values_.size())};
  by_name_.emplace(unique, id);
  auto value = std::make_unique<GraphValue>();
  value->name = std::move(unique);
  value->type = std::move(type);
  value->origin = origin;
  values_.push_back(std::move(value));
  return id;
}

ValueId Graph::AddInput(std::string name, ValueType type) {
  const ValueId id = NewValue(std::move(name), std::move(type), ValueOrigin::kInput);
  inputs_.push_back(id);
  return id;
}

ValueId Graph::AddConstant(std::string name, Tensor tensor) {
  const ValueId id = NewValue(std::move(name), ValueType::OfTensor(tensor), ValueOrigin::kConstant);
  mutable_value(id).constant = std::move(tensor);
  return id;
}

ValueId Graph::AddCapture(std::string name, ValueId outer, ValueType type) {
  if (auto it = capture_by_outer_.find(outer.index); it != capture_by_outer_.end()) {
    return it->second;
  }
  const ValueId id = NewValue(std::move(name), std::move(type), ValueOrigin::kCapture);
  mutable_value(id).outer = outer;
  captures_.push_back(id);
  capture_by_outer_.emplace(outer.index, id);
  return id;
}

Status Graph::CheckSpec(const NodeSpec& spec) const {
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    if (spec.inputs[i].valid() && !IsLive(spec.inputs[i])) {
      return InvalidArgumentError("input {} of new node '{}' ({}) is not a value of the graph", i,
                                  spec.name, spec.op);
    }
  }
  for (const Graph* subgraph : SubgraphsOf(spec.attributes)) {
    for (ValueId capture : subgraph->captures()) {
      if (IsLive(subgraph->value(capture).outer)) continue;
      return InvalidArgumentError("capture '{}' of new node '{}' ({}) is not a value of the graph",
                                  subgraph->value(capture).name, spec.name, spec.op);
    }
  }
  return OkStatus();
}

Result<NodeId> Graph::AddNode(NodeSpec spec) {
  KHEYA_RETURN_IF_ERROR(CheckSpec(spec));
  const NodeId id{static_cast<int32_t>(nodes_.size())};
  auto node = std::make_unique<Node>();
  node->op = std::move(spec.op);
  node->domain = std::move(spec.domain);
  node->name = std::move(spec.name);
  node->inputs = std::move(spec.inputs);
  node->attributes = std::move(spec.attributes);
  for (size_t i = 0; i < spec.outputs.size(); ++i) {
    ValueId output;
    if (!spec.outputs[i].empty()) {
      output = NewValue(std::move(spec.outputs[i]), ValueType(), ValueOrigin::kNode);
      mutable_value(output).producer = id;
      mutable_value(output).output_index = static_cast<int>(i);
    }
    node->outputs.push_back(output);
  }
  nodes_.push_back(std::move(node));
  ++num_nodes_;
  const std::vector<ValueId>& inputs = this->node(id).inputs;
  for (size_t i = 0; i < inputs.size(); ++i) AddUse(inputs[i], {id, static_cast<int>(i)});
  AddCaptureUses(id);
  return id;
}

void Graph::AddOutput(std::string name, ValueId value) {
  outputs_.push_back({std::move(name), value});
  ++mutable_value(value).num_graph_outputs;
}

bool Graph::IsLive(NodeId id) const {
  return id.valid() && id.index < node_index_bound() && nodes_[id.index] != nullptr;
}

bool Graph::IsLive(ValueId id) const {
  return id.valid() && id.index < value_index_bound() && values_[id.index] != nullptr;
}

std::optional<ValueId> Graph::FindValue(std::string_view name) const {
  auto it = by_name_.find(std::string(name));
  return it == by_name_.end() ? std::nullopt : std::optional(it->second);
}

std::vector<NodeId> Graph::NodeIds() const {
  std::vector<NodeId> ids;
  ids.reserve(num_nodes_);
  for (int32_t i = 0; i < node_index_bound(); ++i) {
    if (nodes_[i]) ids.push_back({i});
  }
  return ids;
}

std::vector<ValueId> Graph::ValueIds() const {
  std::vector<ValueId> ids;
  ids.reserve(by_name_.size());
  for (int32_t i = 0; i < value_index_bound(); ++i) {
    if (values_[i]) ids.push_back({i});
  }
  return ids;
}

const Tensor* Graph::Constant(ValueId id) const {
  if (!IsLive(id) || value(id).origin != ValueOrigin::kConstant) return nullptr;
  return &value(id).constant;
}

Result<std::vector<NodeId>> Graph::TopologicalOrder() const {
  std::vector<int64_t> waiting(nodes_.size(), 0);  // for how many uses of nodes' outputs
  for (const std::unique_ptr<GraphValue>& value : values_) {
    if (!value || value->origin != ValueOrigin::kNode) continue;
    for (const Use& use : value->uses) ++waiting[use.node.index];
  }
  std::priority_queue<NodeId, std::vector<NodeId>, std::greater<>> ready;
  for (NodeId id : NodeIds()) {
    if (waiting[id.index] == 0) ready.push(id);
  }
  std::vector<NodeId> order;
  order.reserve(num_nodes_);
  while (!ready.empty()) {
    const NodeId id = ready.top();
    ready.pop();
    order.push_back(id);
    for (ValueId output : node(id).outputs) {
      if (!output.valid()) continue;
      for (const Use& use : value(output).uses) {
        if (--waiting[use.node.index] == 0) ready.push(use.node);
      }
    }
  }
  if (static_cast<int64_t>(order.size()) == num_nodes_) return order;
  return CycleError(waiting);
}

// Every waiting node waits for another one: going back over them must come round.
Status Graph::CycleError(const std::vector<int64_t>& waiting) const {
  std::vector<NodeId> awaited(nodes_.size());  // for each node, one that it waits for
  NodeId at;
  for (NodeId id : NodeIds()) {
    if (waiting[id.index] == 0) continue;
    at = id;
    for (ValueId output : node(id).outputs) {
      if (!output.valid()) continue;
      for (const Use& use : value(output).uses) awaited[use.node.index] = id;
    }
  }
  std::vector<bool> seen(nodes_.size(), false);
  while (at.valid() && !seen[at.index]) {
    seen[at.index] = true;
    at = awaited[at.index];
  }
  if (!at.valid()) return InternalError("the order of nodes is incomplete");
  return InvalidArgumentError("{} is on a cycle", node(at).Describe());
}

std::string Graph::UniqueName(std::string_view base) const {
  std::string name(base);
  if (!by_name_.contains(name)) return name;
  auto it = next_suffix_.find(name);
  for (int suffix = it == next_suffix_.end() ? 1 : it->second + 1;; ++suffix) {
    std::string candidate = fmt::format("{}_{}", base, suffix);
    if (!by_name_.contains(candidate)) return candidate;
  }
}

std::vector<Graph*> Graph::Subgraphs(NodeId id) { return SubgraphsOf(node(id).attributes); }

std::vector<const Graph*> Graph::Subgraphs(NodeId id) const {
  const std::vector<Graph*> found = SubgraphsOf(node(id).attributes);
  return {found.begin(), found.end()};
}

}  // namespace kheya
