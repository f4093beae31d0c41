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

Status InferSubgraphs(InferContext& context, const OpDef* op, NodeId id,
                      std::vector<std::string>* warnings) {
  Graph& graph = context.graph();
  PassTypesToSubgraphs(graph, id);
  if (op != nullptr && op->infer_subgraph_inputs != nullptr) {
    KHEYA_RETURN_IF_ERROR(op->infer_subgraph_inputs(context));
  }
  for (Graph* subgraph : graph.Subgraphs(id)) {
    KHEYA_RETURN_IF_ERROR(InferNested(*subgraph, context.depth() + 1, warnings));
  }
  return OkStatus();
}

Status InferNodeAt(Graph& graph, NodeId id, int depth, std::vector<std::string>* warnings) {
  const Node& node = graph.node(id);
  const OpDef* op = FindOp(node.domain, node.op);
  InferContext context(graph, id, depth);
  KHEYA_RETURN_IF_ERROR(InferSubgraphs(context, op, id, warnings));
  for (ValueId output : node.outputs) {
    if (output.valid()) graph.SetElements(output, std::nullopt);
  }
  if (op == nullptr || op->infer == nullptr) return OkStatus();
  std::vector<ValueType> declared;
  for (ValueId output : node.outputs) {
    declared.push_back(output.valid() ? graph.value(output).type : ValueType());
  }
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

}  // namespace

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

Status InferNode(Graph& graph, NodeId id, std::vector<std::string>* warnings) {
  return InferNodeAt(graph, id, 0, warnings);
}

Status InferNested(Graph& graph, int depth, std::vector<std::string>* warnings) {
  KHEYA_ASSIGN_OR_RETURN(const std::vector<NodeId> order, graph.TopologicalOrder());
  for (NodeId id : order) {
    KHEYA_RETURN_IF_ERROR(
        InferNodeAt(graph, id, depth, warnings).WithContext("{}", Describe(graph, id)));
  }
  return OkStatus();
}

Status InferTypes(Graph& graph, std::vector<std::string>* warnings) {
  return InferNested(graph, 0, warnings);
}

namespace {

// The numbers that symbols of input shapes stand for, and the inputs that said so.
class SymbolTable {
 public:
  Status Bind(const SymbolicShape& declared, const Shape& shape, const std::string& input) {
    for (size_t i = 0; i < declared.size(); ++i) {
      const std::optional<std::string> symbol = declared[i].symbol();
      if (!symbol) continue;
      const auto [it, is_new] = numbers_.try_emplace(*symbol, shape[i], input);
      if (is_new || it->second.first == shape[i]) continue;
      return InvalidArgumentError(
          "found dimension '{}' of {} in input '{}' and {} in input '{}', expected one number",
          *symbol, it->second.first, it->second.second, shape[i], input);
    }
    return OkStatus();
  }

  SymbolicShape Replace(const SymbolicShape& shape) const {
    SymbolicShape replaced = shape;
    for (Dim& dim : replaced) {
      const auto number = dim.Evaluate([&](std::string_view symbol) -> std::optional<int64_t> {
        const auto it = numbers_.find(symbol);
        return it == numbers_.end() ? std::nullopt : std::optional(it->second.first);
      });
      if (number) dim = *number;
    }
    return replaced;
  }

 private:
  std::map<std::string, std::pair<int64_t, std::string>, std::less<>> numbers_;
};

Status CheckShape(const ValueType& type, const Shape& shape, const std::string& input) {
  const bool fits = type.kind == Kind::kUnknown ||
                    (type.is_tensor() && (!type.shape || Matches(*type.shape, shape)));
  if (fits) return OkStatus();
  return InvalidArgumentError("found shape {} for input '{}', expected {}", shape.ToString(), input,
                              type.ToString());
}

Status UnknownInput(const Graph& graph, const std::map<std::string, Shape>& shapes) {
  for (const auto& [name, shape] : shapes) {
    const bool known =
        std::any_of(graph.inputs().begin(), graph.inputs().end(),
                    [&, &wanted = name](ValueId id) { return graph.value(id).name == wanted; });
    if (!known) return InvalidArgumentError("found no input '{}'", name);
  }
  return OkStatus();
}

}  // namespace

Status SpecializeInputs(Graph& graph, const std::map<std::string, Shape>& shapes) {
  SymbolTable symbols;
  size_t found = 0;
  for (ValueId id : graph.inputs()) {
    const GraphValue& input = graph.value(id);
    const auto given = shapes.find(input.name);
    if (given == shapes.end()) continue;
    ++found;
    KHEYA_RETURN_IF_ERROR(CheckShape(input.type, given->second, input.name));
    if (!input.type.shape) continue;
    KHEYA_RETURN_IF_ERROR(symbols.Bind(*input.type.shape, given->second, input.name));
  }
  if (found != shapes.size()) return UnknownInput(graph, shapes);
  for (ValueId id : graph.inputs()) {
    const ValueType& type = graph.value(id).type;
    const auto given = shapes.find(graph.value(id).name);
    if (given == shapes.end() && (!type.is_tensor() || !type.shape)) continue;
    graph.SetType(
        id, ValueType::OfTensor(type.dtype, given == shapes.end() ? symbols.Replace(*type.shape)
                                                                  : ToSymbolic(given->second)));
  }
  ForgetTypes(graph);
  return InferTypes(graph);
}

}  // namespace kheya
