#include "graph/verify.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace kheya {
namespace {

// Tensors and graphs that attributes hold are there.
Status CheckAttribute(const Attribute& attribute) {
  if (attribute.name.empty()) return InvalidArgumentError("found an attribute without a name");
  const auto undefined = [](const Tensor& tensor) { return !tensor.defined(); };
  const auto null = [](const std::shared_ptr<Graph>& graph) { return graph == nullptr; };
  bool missing = false;
  if (const auto* tensor = std::get_if<Tensor>(&attribute.value)) missing = undefined(*tensor);
  if (const auto* graph = std::get_if<std::shared_ptr<Graph>>(&attribute.value)) {
    missing = null(*graph);
  }
  if (const auto* list = std::get_if<std::vector<Tensor>>(&attribute.value)) {
    missing = std::any_of(list->begin(), list->end(), undefined);
  }
  if (const auto* list = std::get_if<std::vector<std::shared_ptr<Graph>>>(&attribute.value)) {
    missing = std::any_of(list->begin(), list->end(), null);
  }
  if (!missing) return OkStatus();
  return InvalidArgumentError("attribute '{}' holds a {} that is not there", attribute.name,
                              AttributeKindName(attribute.kind()));
}

class Verifier {
 public:
  Verifier(const Graph& graph, const Graph* enclosing) : graph_(graph), enclosing_(enclosing) {}

  Status Run(int depth) {
    if (depth > kMaxSubgraphDepth) {
      return InvalidArgumentError("found subgraphs nested deeper than {}", kMaxSubgraphDepth);
    }
    listed_.assign(graph_.value_index_bound(), false);
    uses_.assign(graph_.value_index_bound(), {});
    num_outputs_.assign(graph_.value_index_bound(), 0);
    KHEYA_RETURN_IF_ERROR(CheckBoundary());
    for (NodeId id : graph_.NodeIds()) {
      KHEYA_RETURN_IF_ERROR(CheckNode(id, depth).WithContext("{}", graph_.node(id).Describe()));
    }
    for (ValueId id : graph_.ValueIds()) {
      KHEYA_RETURN_IF_ERROR(CheckValue(id).WithContext("value '{}'", graph_.value(id).name));
    }
    return graph_.TopologicalOrder().status();
  }

 private:
  Status CheckListed(const std::vector<ValueId>& list, ValueOrigin origin, const char* what);
  Status CheckBoundary();
  Status CheckNode(NodeId id, int depth);
  Status CheckOutputsOfNode(NodeId id);
  Status CheckValue(ValueId id);
  Status CheckOrigin(ValueId id);
  Status CheckCapture(const GraphValue& value);
  Status CheckUses(ValueId id);

  const Graph& graph_;
  const Graph* enclosing_;
  std::vector<bool> listed_;            // by value: among the graph's inputs or captures
  std::vector<std::vector<Use>> uses_;  // by value, found from the nodes
  std::vector<int> num_outputs_;        // by value, found from the graph outputs
};

Status Verifier::CheckListed(const std::vector<ValueId>& list, ValueOrigin origin,
                             const char* what) {
  for (ValueId id : list) {
    if (!graph_.IsLive(id)) return InvalidArgumentError("a graph {} is not a value", what);
    if (graph_.value(id).origin != origin || listed_[id.index]) {
      return InvalidArgumentError("graph {} '{}' is of another origin or listed twice", what,
                                  graph_.value(id).name);
    }
    listed_[id.index] = true;
  }
  return OkStatus();
}

Status Verifier::CheckBoundary() {
  KHEYA_RETURN_IF_ERROR(CheckListed(graph_.inputs(), ValueOrigin::kInput, "input"));
  KHEYA_RETURN_IF_ERROR(CheckListed(graph_.captures(), ValueOrigin::kCapture, "capture"));
  std::set<std::string_view> names;
  for (const GraphOutput& output : graph_.outputs()) {
    if (!graph_.IsLive(output.value)) {
      return InvalidArgumentError("graph output '{}' is not a value", output.name);
    }
    if (output.name.empty()) return InvalidArgumentError("found a graph output without a name");
    if (!names.insert(output.name).second) {
      return InvalidArgumentError("found two graph outputs named '{}'", output.name);
    }
    ++num_outputs_[output.value.index];
  }
  return OkStatus();
}

Status Verifier::CheckNode(NodeId id, int depth) {
  const Node& node = graph_.node(id);
  if (node.op.empty()) return InvalidArgumentError("found no operator name");
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId input = node.inputs[i];
    if (!input.valid()) continue;
    if (!graph_.IsLive(input)) return InvalidArgumentError("input {} is not a value", i);
    uses_[input.index].push_back({id, static_cast<int>(i)});
  }
  KHEYA_RETURN_IF_ERROR(CheckOutputsOfNode(id));
  std::set<std::string_view> names;
  for (const Attribute& attribute : node.attributes) {
    if (!names.insert(attribute.name).second) {
      return InvalidArgumentError("found attribute '{}' twice", attribute.name);
    }
    KHEYA_RETURN_IF_ERROR(CheckAttribute(attribute));
  }
  std::set<ValueId> outers;
  for (const Graph* subgraph : graph_.Subgraphs(id)) {
    KHEYA_RETURN_IF_ERROR(
        Verifier(*subgraph, &graph_).Run(depth + 1).WithContext("subgraph '{}'", subgraph->name()));
    for (ValueId capture : subgraph->captures()) outers.insert(subgraph->value(capture).outer);
  }
  for (ValueId outer : outers) uses_[outer.index].push_back({id, Use::kCaptured});
  return OkStatus();
}

Status Verifier::CheckOutputsOfNode(NodeId id) {
  const Node& node = graph_.node(id);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId output = node.outputs[i];
    if (!output.valid()) continue;
    if (!graph_.IsLive(output)) return InvalidArgumentError("output {} is not a value", i);
    const GraphValue& value = graph_.value(output);
    if (value.origin != ValueOrigin::kNode || value.producer != id ||
        value.output_index != static_cast<int>(i)) {
      return InvalidArgumentError("output {} ('{}') does not say that this node makes it", i,
                                  value.name);
    }
  }
  return OkStatus();
}

Status Verifier::CheckOrigin(ValueId id) {
  const GraphValue& value = graph_.value(id);
  switch (value.origin) {
    case ValueOrigin::kNode: {
      if (!graph_.IsLive(value.producer)) return InvalidArgumentError("its producer is not a node");
      const std::vector<ValueId>& outputs = graph_.node(value.producer).outputs;
      const size_t index = value.output_index;
      if (index < outputs.size() && outputs[index] == id) return OkStatus();
      return InvalidArgumentError("it is not output {} of its producer", value.output_index);
    }
    case ValueOrigin::kInput:
      if (!listed_[id.index]) return InvalidArgumentError("it is not among the inputs");
      return OkStatus();
    case ValueOrigin::kCapture:
      if (!listed_[id.index]) return InvalidArgumentError("it is not among the captures");
      return CheckCapture(value);
    case ValueOrigin::kConstant:
      if (!value.constant.defined()) return InvalidArgumentError("its constant has no tensor");
      return OkStatus();
  }
  return InvalidArgumentError("found an unknown origin");
}

Status Verifier::CheckCapture(const GraphValue& value) {
  if (enclosing_ == nullptr) return InvalidArgumentError("a graph that is no subgraph captures it");
  if (!enclosing_->IsLive(value.outer)) {
    return InvalidArgumentError("it captures what is no value of the enclosing graph");
  }
  const ValueType& outer = enclosing_->value(value.outer).type;
  const auto unknown = [](const ValueType& type) { return type.kind == ValueType::Kind::kUnknown; };
  if (unknown(outer) || unknown(value.type)) return OkStatus();
  if (outer.kind == value.type.kind && outer.dtype == value.type.dtype) return OkStatus();
  return InvalidArgumentError("it is {}, but captures '{}' of {}", value.type.ToString(),
                              enclosing_->value(value.outer).name, outer.ToString());
}

Status Verifier::CheckUses(ValueId id) {
  const auto less = [](const Use& a, const Use& b) {
    return std::pair(a.node, a.index) < std::pair(b.node, b.index);
  };
  std::vector<Use> recorded = graph_.value(id).uses;
  std::vector<Use>& found = uses_[id.index];
  std::sort(recorded.begin(), recorded.end(), less);
  std::sort(found.begin(), found.end(), less);
  if (recorded != found) {
    return InvalidArgumentError("it records {} uses, found {} or others", recorded.size(),
                                found.size());
  }
  if (graph_.value(id).num_graph_outputs != num_outputs_[id.index]) {
    return InvalidArgumentError("it records {} graph outputs, found {}",
                                graph_.value(id).num_graph_outputs, num_outputs_[id.index]);
  }
  return OkStatus();
}

Status Verifier::CheckValue(ValueId id) {
  const GraphValue& value = graph_.value(id);
  if (value.name.empty()) return InvalidArgumentError("found no name");
  if (graph_.FindValue(value.name) != id) {
    return InvalidArgumentError("its name leads to another value");
  }
  KHEYA_RETURN_IF_ERROR(CheckOrigin(id));
  return CheckUses(id);
}

}  // namespace

Status Verify(const Graph& graph) { return Verifier(graph, nullptr).Run(0); }

}  // namespace kheya
