#include "graph/text.h"

#include "base/hash.h"
#include "graph/text_tokens.h"

namespace kheya {
namespace {

class Printer {
 public:
  explicit Printer(const PrintOptions& options) : options_(options) {}
  void PrintGraph(const Graph& graph, const Graph* enclosing);
  std::string Take() { return std::move(out_); }

 private:
  void Line() { out_.append("\n").append(2 * static_cast<size_t>(indent_), ' '); }
  void PrintHeader(const Graph& graph, const Graph* enclosing);
  void PrintFacts(const Graph& graph);
  void PrintValue(const Graph& graph, ValueId id);
  void PrintNode(const Graph& graph, NodeId id);
  void PrintAttributes(const Node& node, const Graph& graph);
  void PrintAttributeValue(const AttributeValue& value, const Graph& graph);
  void PrintTensor(const Tensor& tensor);
  template <typename T, typename Print>
  void PrintList(const std::vector<T>& list, const char* kind, Print print);

  PrintOptions options_;
  std::string out_;
  int indent_ = 0;
};

// Prints each element of `list` by `print(element)` with commas between.
template <typename List, typename Print>
void Separated(std::string& out, const List& list, Print print) {
  bool first = true;
  for (const auto& each : list) {
    if (!first) out += ", ";
    first = false;
    print(each);
  }
}

// Domain and operator; quoted where it could be taken for a constant.
std::string OperatorText(const Node& node) {
  const auto quote = [](const std::string& name) {
    const bool number_like =
        !name.empty() && (name[0] == '.' || (name[0] >= '0' && name[0] <= '9'));
    return number_like ? text::Quote(name) : text::QuoteName(name);
  };
  return node.domain.empty() ? quote(node.op) : quote(node.domain) + "::" + quote(node.op);
}

void Printer::PrintTensor(const Tensor& tensor) {
  if (tensor.num_elements() > options_.max_constant_elements) {
    out_ += "...";
  } else if (!text::HasElementText(tensor.dtype())) {
    out_ += text::BlobText(tensor.bytes());
  } else {
    out_ += '[';
    for (int64_t i = 0; i < tensor.num_elements(); ++i) {
      if (i > 0) out_ += ", ";
      out_ += text::ElementText(tensor, i);
    }
    out_ += ']';
  }
}

void Printer::PrintValue(const Graph& graph, ValueId id) {
  if (!id.valid()) {
    out_ += '_';
    return;
  }
  const GraphValue& value = graph.value(id);
  out_ += text::QuoteName(value.name);
  if (options_.types && value.type.kind != ValueType::Kind::kUnknown) {
    out_ += ": " + value.type.ToString();
  }
}

template <typename T, typename Print>
void Printer::PrintList(const std::vector<T>& list, const char* kind, Print print) {
  if (list.empty()) out_.append(kind).append(" ");
  out_ += '[';
  Separated(out_, list, print);
  out_ += ']';
}

void Printer::PrintAttributeValue(const AttributeValue& value, const Graph& graph) {
  const auto print_int = [&](int64_t each) { out_ += fmt::format("{}", each); };
  const auto print_float = [&](float each) { out_ += text::FloatText(each); };
  const auto print_string = [&](const std::string& each) { out_ += text::Quote(each); };
  const auto print_type = [&](const ValueType& type) { out_ += "type(" + type.ToString() + ")"; };
  const auto print_tensor = [&](const Tensor& tensor) {
    out_ += "tensor(" + ValueType::OfTensor(tensor).ToString() + " ";
    PrintTensor(tensor);
    out_ += ')';
  };
  const auto print_graph = [&](const std::shared_ptr<Graph>& subgraph) {
    if (subgraph) PrintGraph(*subgraph, &graph);
  };
  switch (static_cast<AttributeKind>(value.index())) {
    case AttributeKind::kInt:
      return print_int(std::get<int64_t>(value));
    case AttributeKind::kFloat:
      return print_float(std::get<float>(value));
    case AttributeKind::kString:
      return print_string(std::get<std::string>(value));
    case AttributeKind::kTensor:
      return print_tensor(std::get<Tensor>(value));
    case AttributeKind::kGraph:
      return print_graph(std::get<std::shared_ptr<Graph>>(value));
    case AttributeKind::kType:
      return print_type(std::get<ValueType>(value));
    case AttributeKind::kInts:
      return PrintList(std::get<std::vector<int64_t>>(value), "ints", print_int);
    case AttributeKind::kFloats:
      return PrintList(std::get<std::vector<float>>(value), "floats", print_float);
    case AttributeKind::kStrings:
      return PrintList(std::get<std::vector<std::string>>(value), "strings", print_string);
    case AttributeKind::kTensors:
      return PrintList(std::get<std::vector<Tensor>>(value), "tensors", print_tensor);
    case AttributeKind::kGraphs:
      return PrintList(std::get<std::vector<std::shared_ptr<Graph>>>(value), "graphs", print_graph);
    case AttributeKind::kTypes:
      return PrintList(std::get<std::vector<ValueType>>(value), "types", print_type);
  }
}

void Printer::PrintAttributes(const Node& node, const Graph& graph) {
  if (node.name.empty() && node.attributes.empty()) return;
  out_ += " {";
  if (!node.name.empty()) out_ += "name: " + text::Quote(node.name);
  bool first = node.name.empty();
  for (const Attribute& attribute : node.attributes) {
    if (!first) out_ += ", ";
    first = false;
    // Without quotes, this key is the node's name.
    out_ += attribute.name == "name" ? "\"name\"" : text::QuoteName(attribute.name);
    out_ += ": ";
    PrintAttributeValue(attribute.value, graph);
  }
  out_ += '}';
}

void Printer::PrintNode(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  Line();
  Separated(out_, node.outputs, [&](ValueId output) { PrintValue(graph, output); });
  out_ += (node.outputs.empty() ? "= " : " = ") + OperatorText(node) + "(";
  Separated(out_, node.inputs, [&](ValueId input) {
    out_ += input.valid() ? text::QuoteName(graph.value(input).name) : "_";
  });
  out_ += ')';
  PrintAttributes(node, graph);
}

void Printer::PrintHeader(const Graph& graph, const Graph* enclosing) {
  out_ += "graph " + text::QuoteName(graph.name()) + "(";
  Separated(out_, graph.inputs(), [&](ValueId input) { PrintValue(graph, input); });
  out_ += ')';
  if (!graph.captures().empty()) {
    out_ += " captures (";
    Separated(out_, graph.captures(), [&](ValueId capture) {
      const ValueId outer = graph.value(capture).outer;
      PrintValue(graph, capture);
      out_ += " = ";
      out_ += enclosing != nullptr ? text::QuoteName(enclosing->value(outer).name) : "_";
    });
    out_ += ')';
  }
  out_ += " -> (";
  Separated(out_, graph.outputs(), [&](const GraphOutput& output) {
    const std::string& value = graph.value(output.value).name;
    out_ += text::QuoteName(output.name);
    if (output.name != value) out_ += " = " + text::QuoteName(value);
  });
  out_ += ") {";
}

void Printer::PrintFacts(const Graph& graph) {
  if (!graph.producer.empty()) {
    Line();
    out_ += "@producer " + text::Quote(graph.producer);
  }
  for (const auto& [domain, version] : graph.declared_opsets) {
    Line();
    out_ += fmt::format("@opset {} {}", text::Quote(domain), version);
  }
  if (!graph.model_domain.empty() || graph.model_version != 0) {
    Line();
    out_ += fmt::format("@model {} {}", text::Quote(graph.model_domain), graph.model_version);
  }
  if (!graph.doc.empty()) {
    Line();
    out_ += "@doc " + text::Quote(graph.doc);
  }
  for (const std::string& name : graph.default_inputs) {
    Line();
    out_ += "@default_input " + text::Quote(name);
  }
  auto print = [&](const char* fact, const auto& pairs) {
    for (const auto& [key, value] : pairs) {
      Line();
      out_ += fmt::format("@{} {} {}", fact, text::Quote(key), text::Quote(value));
    }
  };
  print("metadata", graph.metadata());
  print("graph_metadata", graph.graph_metadata);
}

void Printer::PrintGraph(const Graph& graph, const Graph* enclosing) {
  PrintHeader(graph, enclosing);
  ++indent_;
  PrintFacts(graph);
  for (ValueId id : graph.ValueIds()) {
    const GraphValue& value = graph.value(id);
    if (value.origin != ValueOrigin::kConstant) continue;
    Line();
    out_ += text::QuoteName(value.name) + ": " + value.type.ToString() + " = ";
    PrintTensor(value.constant);
    if (value.constant.num_elements() > options_.max_constant_elements &&
        value.constant.dtype() != DType::kString) {
      out_ += " #" + HashBytes(value.constant.bytes()).ToHex().substr(0, 16);
    }
  }
  const Result<std::vector<NodeId>> order = graph.TopologicalOrder();
  for (NodeId id : order.ok() ? *order : graph.NodeIds()) PrintNode(graph, id);
  --indent_;
  Line();
  out_ += '}';
}

}  // namespace

std::string PrintGraph(const Graph& graph, const PrintOptions& options) {
  Printer printer(options);
  printer.PrintGraph(graph, nullptr);
  return printer.Take() + "\n";
}

}  // namespace kheya
