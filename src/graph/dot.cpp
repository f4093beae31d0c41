// PrintDot: a graph as Graphviz.
#include "graph/text.h"

namespace kheya {
namespace {

class DotPrinter {
 public:
  void Print(const Graph& graph, const std::string& prefix);
  std::string out;

 private:
  void PrintNode(const Graph& graph, NodeId id, const std::string& prefix);
  int clusters_ = 0;
};

std::string QuoteDot(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (c == '\n') {
      quoted += "\\n";
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string TypeLabel(const GraphValue& value) {
  return value.type.kind == ValueType::Kind::kUnknown ? "" : value.type.ToString();
}

// The Graphviz node that gives the value: an operator, or the box of an input, capture or constant.
std::string Source(const Graph& graph, ValueId id, const std::string& prefix) {
  const GraphValue& value = graph.value(id);
  if (value.origin == ValueOrigin::kNode) return fmt::format("{}n{}", prefix, value.producer.index);
  return fmt::format("{}v{}", prefix, id.index);
}

void DotPrinter::PrintNode(const Graph& graph, NodeId id, const std::string& prefix) {
  const Node& node = graph.node(id);
  const std::string self = fmt::format("{}n{}", prefix, id.index);
  const std::string op = node.domain.empty() ? node.op : node.domain + "." + node.op;
  const std::string label = node.name.empty() ? op : op + "\n" + node.name;
  out += fmt::format("  {} [shape=box, style=rounded, label={}];\n", self, QuoteDot(label));
  for (ValueId input : node.inputs) {
    if (!input.valid()) continue;
    out += fmt::format("  {} -> {} [label={}];\n", Source(graph, input, prefix), self,
                       QuoteDot(TypeLabel(graph.value(input))));
  }
  for (const Graph* subgraph : graph.Subgraphs(id)) {
    const std::string inner = fmt::format("g{}_", ++clusters_);
    out += fmt::format("  subgraph cluster_{} {{\n  label={};\n", clusters_,
                       QuoteDot(subgraph->name()));
    Print(*subgraph, inner);
    out += "  }\n";
    for (ValueId capture : subgraph->captures()) {
      out += fmt::format("  {} -> {} [style=dashed];\n",
                         Source(graph, subgraph->value(capture).outer, prefix),
                         Source(*subgraph, capture, inner));
    }
  }
}

void DotPrinter::Print(const Graph& graph, const std::string& prefix) {
  for (ValueId id : graph.ValueIds()) {
    const GraphValue& value = graph.value(id);
    if (value.origin == ValueOrigin::kNode) continue;
    const char* style = value.origin == ValueOrigin::kConstant ? "note" : "ellipse";
    const std::string type = TypeLabel(value);
    out += fmt::format("  {} [shape={}, label={}];\n", Source(graph, id, prefix), style,
                       QuoteDot(type.empty() ? value.name : value.name + "\n" + type));
  }
  for (NodeId id : graph.NodeIds()) PrintNode(graph, id, prefix);
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const GraphOutput& output = graph.outputs()[i];
    out += fmt::format("  {}o{} [shape=ellipse, label={}];\n", prefix, i, QuoteDot(output.name));
    out += fmt::format("  {} -> {}o{} [label={}];\n", Source(graph, output.value, prefix), prefix,
                       i, QuoteDot(TypeLabel(graph.value(output.value))));
  }
}

}  // namespace

std::string PrintDot(const Graph& graph) {
  DotPrinter printer;
  printer.Print(graph, "");
  return fmt::format("digraph {} {{\n{}}}\n", QuoteDot(graph.name()), printer.out);
}

}  // namespace kheya
