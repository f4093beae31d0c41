#include "ops/infer.h"

#include <algorithm>
#include <utility>

#include "ops/op.h"

namespace kheya {
namespace {

using Kind = ValueType::Kind;

// "node 'x' (Op) with inputs float32[1,3], int64[2]"
std::string Describe(const Graph& graph, NodeId id) {
  std::string text = graph.node(id).Describe();
  const char* separator = " with inputs ";
  for (ValueId input : graph.node(id).inputs) {
    text += std::exchange(separator, ", ");
    text += input.valid() ? graph.value(input).type.ToString() : "none";
  }
  return text;
}

// True when the shape that was declared cannot be the one that was found.
bool Contradicts(const ValueType& declared, const ValueType& found) {
  if (!declared.shape || !found.shape) return false;
  return !std::equal(declared.shape->begin(), declared.shape->end(), found.shape->begin(),
                     found.shape->end(), [](const Dim& a, const Dim& b) {
                       return !a.known() || !b.known() || a.value() == b.value();
                     });
}

// Captures know what the enclosing graph knows.
void PassTypesToSubgraphs(Graph& graph, NodeId id) {
  for (Graph* subgraph : graph.Subgraphs(id)) {
    for (ValueId capture : subgraph->captures()) {
      const GraphValue& outer = graph.value(subgraph->value(capture).outer);
      if (outer.type.kind != Kind::kUnknown) subgraph->SetType(capture, outer.type);
      subgraph->SetElements(capture, outer.origin == ValueOrigin::kConstant
                                         ? ElementsOf(outer.constant)
                                         : outer.elements);
    }
  }
}

void ForgetTypes(Graph& graph) {
  for (ValueId id : graph.ValueIds()) {
    if (graph.value(id).origin != ValueOrigin::kNode) continue;
    graph.SetType(id, ValueType());
    graph.SetElements(id, std::nullopt);
  }
  for (NodeId id : graph.NodeIds()) {
    for (Graph* subgraph : graph.Subgraphs(id)) ForgetTypes(*subgraph);
  }
}

}  // namespace

Status InferNode(Graph& graph, NodeId id, std::vector<std::string>* warnings) {
  PassTypesToSubgraphs(graph, id);
  for (Graph* subgraph : graph.Subgraphs(id)) {
    KHEYA_RETURN_IF_ERROR(InferTypes(*subgraph, warnings));
  }
  const Node& node = graph.node(id);
  for (ValueId output : node.outputs) {
    if (output.valid()) graph.SetElements(output, std::nullopt);
  }
  const OpDef* op = FindOp(node.domain, node.op);
  if (op == nullptr || op->infer == nullptr) return OkStatus();
  std::vector<ValueType> declared;
  for (ValueId output : node.outputs) {
    declared.push_back(output.valid() ? graph.value(output).type : ValueType());
  }
  InferContext context(graph, id);
  KHEYA_RETURN_IF_ERROR(op->infer(context));
  for (size_t i = 0; i < declared.size(); ++i) {
    if (warnings == nullptr || !node.outputs[i].valid()) continue;
    const GraphValue& value = graph.value(node.outputs[i]);
    if (!Contradicts(declared[i], value.type)) continue;
    warnings->push_back(fmt::format("{}: output '{}' is declared {}, found {}", node.Describe(),
                                    value.name, declared[i].ToString(), value.type.ToString()));
  }
  return OkStatus();
}

Status InferTypes(Graph& graph, std::vector<std::string>* warnings) {
  KHEYA_ASSIGN_OR_RETURN(const std::vector<NodeId> order, graph.TopologicalOrder());
  for (NodeId id : order) {
    KHEYA_RETURN_IF_ERROR(InferNode(graph, id, warnings).WithContext("{}", Describe(graph, id)));
  }
  return OkStatus();
}

Status SpecializeInputs(Graph& graph, const std::map<std::string, Shape>& shapes) {
  std::vector<std::pair<ValueId, Shape>> found;
  for (const auto& [name, shape] : shapes) {
    const auto it =
        std::find_if(graph.inputs().begin(), graph.inputs().end(),
                     [&, &wanted = name](ValueId id) { return graph.value(id).name == wanted; });
    if (it == graph.inputs().end()) return InvalidArgumentError("found no input '{}'", name);
    const ValueType& type = graph.value(*it).type;
    if (type.kind != Kind::kUnknown &&
        (!type.is_tensor() || (type.shape && !Matches(*type.shape, shape)))) {
      return InvalidArgumentError("found shape {} for input '{}', expected {}", shape.ToString(),
                                  name, type.ToString());
    }
    found.emplace_back(*it, shape);
  }
  for (const auto& [id, shape] : found) {
    graph.SetType(id, ValueType::OfTensor(graph.value(id).type.dtype, ToSymbolic(shape)));
  }
  ForgetTypes(graph);
  return InferTypes(graph);
}

}  // namespace kheya
