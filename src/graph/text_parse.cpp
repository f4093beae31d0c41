// ParseGraph: a recursive-descent reader of the text form.
#include "base/string_util.h"
#include "graph/text.h"
#include "graph/text_reader.h"
#include "graph/text_tokens.h"
#include "graph/verify.h"

namespace kheya {
namespace {

constexpr size_t kMaxTextBytes = size_t{256} << 20;

class Parser {
 public:
  explicit Parser(std::string_view text) : size_(text.size()), in_(text) {}
  Result<Graph> Parse();

 private:
  // One output of a statement, or an input of a graph.
  struct Declared {
    std::string name;  // empty: left out
    ValueType type;
  };

  Result<Declared> ParseDeclared();
  Result<ValueId> ParseUse(const Graph& graph);

  // Attributes.
  Status ParseAttributes(NodeSpec& spec, Graph& graph);
  Result<AttributeValue> ParseAttribute(Graph& graph);
  Result<AttributeValue> ParseList(Graph& graph);
  Result<AttributeValue> ParseEmptyList();

  // Graphs.
  Result<Graph> ParseGraphText(Graph* enclosing);
  Status ParseInputs(Graph& graph);
  Status ParseCaptures(Graph& graph, Graph* enclosing);
  Result<std::vector<std::pair<std::string, std::string>>> ParseOutputNames();
  Status ParseFact(Graph& graph);
  Status ParseStatement(Graph& graph);
  Status ParseNode(Graph& graph, const std::vector<Declared>& outputs);
  Status ParseConstant(Graph& graph, const std::vector<Declared>& outputs);

  size_t size_;
  text::TextReader in_;
  int depth_ = 0;
};

Result<Parser::Declared> Parser::ParseDeclared() {
  Declared declared;
  if (in_.Accept("_")) return declared;
  KHEYA_ASSIGN_OR_RETURN(declared.name, in_.ParseName());
  if (declared.name.empty()) return in_.Fail("found an empty name");
  if (in_.Accept(":")) {
    KHEYA_ASSIGN_OR_RETURN(declared.type, in_.ParseType());
  }
  return declared;
}

Result<ValueId> Parser::ParseUse(const Graph& graph) {
  if (in_.Accept("_")) return ValueId();
  KHEYA_ASSIGN_OR_RETURN(const std::string name, in_.ParseName());
  const std::optional<ValueId> id = graph.FindValue(name);
  if (!id) return in_.Fail("found '{}', which no line above defines", Abbreviate(name));
  return *id;
}

Result<AttributeValue> Parser::ParseEmptyList() {
  std::optional<AttributeValue> value;
  if (in_.Accept("ints")) value = std::vector<int64_t>();
  if (!value && in_.Accept("floats")) value = std::vector<float>();
  if (!value && in_.Accept("strings")) value = std::vector<std::string>();
  if (!value && in_.Accept("tensors")) value = std::vector<Tensor>();
  if (!value && in_.Accept("graphs")) value = std::vector<std::shared_ptr<Graph>>();
  if (!value && in_.Accept("types")) value = std::vector<ValueType>();
  if (!value) return in_.Expected("an attribute's value");
  KHEYA_RETURN_IF_ERROR(in_.Expect("["));
  KHEYA_RETURN_IF_ERROR(in_.Expect("]"));
  return *std::move(value);
}

// The list kind of the kind of `element`, with that element appended.
Status AppendToList(AttributeValue& list, AttributeValue element, bool first) {
  return std::visit(
      [&](auto&& value) -> Status {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_constructible_v<AttributeValue, std::in_place_type_t<std::vector<T>>,
                                              std::vector<T>>) {
          if (first) list = std::vector<T>();
          auto* values = std::get_if<std::vector<T>>(&list);
          if (values == nullptr) return InvalidArgumentError("found a list of several kinds");
          values->push_back(std::forward<decltype(value)>(value));
          return OkStatus();
        } else {
          return InvalidArgumentError("found a list in a list");
        }
      },
      std::move(element));
}

Result<AttributeValue> Parser::ParseList(Graph& graph) {
  KHEYA_RETURN_IF_ERROR(in_.Expect("["));
  AttributeValue list;
  bool first = true;
  KHEYA_RETURN_IF_ERROR(in_.ParseSeparated("]", [&]() -> Status {
    if (in_.Peek() == '[') return in_.Fail("found a list in a list");
    KHEYA_ASSIGN_OR_RETURN(AttributeValue element, ParseAttribute(graph));
    const Status appended = AppendToList(list, std::move(element), first);
    first = false;
    return appended.ok() ? OkStatus() : in_.Fail("{}", appended.message());
  }));
  if (first) return in_.Fail("found an empty list without its kind, expected such as 'ints []'");
  return list;
}

Result<AttributeValue> Parser::ParseAttribute(Graph& graph) {
  const char c = in_.Peek();
  if (c == '"') {
    KHEYA_ASSIGN_OR_RETURN(std::string value, in_.ParseString());
    return AttributeValue(std::move(value));
  }
  if (c == '[') return ParseList(graph);
  if (in_.Sees("graph ")) {
    KHEYA_ASSIGN_OR_RETURN(Graph subgraph, ParseGraphText(&graph));
    return AttributeValue(std::make_shared<Graph>(std::move(subgraph)));
  }
  if (in_.Accept("type")) {
    KHEYA_RETURN_IF_ERROR(in_.Expect("("));
    KHEYA_ASSIGN_OR_RETURN(ValueType type, in_.ParseType());
    KHEYA_RETURN_IF_ERROR(in_.Expect(")"));
    return AttributeValue(std::move(type));
  }
  if (in_.Accept("tensor")) {
    KHEYA_RETURN_IF_ERROR(in_.Expect("("));
    KHEYA_ASSIGN_OR_RETURN(const ValueType type, in_.ParseType());
    KHEYA_ASSIGN_OR_RETURN(Tensor tensor, in_.ParseTensor(type));
    KHEYA_RETURN_IF_ERROR(in_.Expect(")"));
    return AttributeValue(std::move(tensor));
  }
  const bool number = c == '-' || (c >= '0' && c <= '9') || in_.Sees("inf") || in_.Sees("nan");
  if (!number) return ParseEmptyList();
  KHEYA_ASSIGN_OR_RETURN(const std::string_view token, in_.ParseNumberToken());
  if (Result<int64_t> value = ParseInt64(token); value.ok()) return AttributeValue(*value);
  if (std::optional<float> value = text::ParseFloatText(token)) return AttributeValue(*value);
  return in_.Fail("found '{}', expected a number", Abbreviate(token));
}

Status Parser::ParseAttributes(NodeSpec& spec, Graph& graph) {
  if (!in_.Accept("{")) return OkStatus();
  return in_.ParseSeparated("}", [&]() -> Status {
    bool quoted = false;
    KHEYA_ASSIGN_OR_RETURN(std::string name, in_.ParseName(&quoted));
    KHEYA_RETURN_IF_ERROR(in_.Expect(":"));
    if (name == "name" && !quoted) {
      KHEYA_ASSIGN_OR_RETURN(spec.name, in_.ParseString());
      return OkStatus();
    }
    KHEYA_ASSIGN_OR_RETURN(AttributeValue value, ParseAttribute(graph));
    spec.attributes.push_back({std::move(name), std::move(value)});
    return OkStatus();
  });
}

Status Parser::ParseInputs(Graph& graph) {
  KHEYA_RETURN_IF_ERROR(in_.Expect("("));
  return in_.ParseSeparated(")", [&]() -> Status {
    KHEYA_ASSIGN_OR_RETURN(Declared input, ParseDeclared());
    if (input.name.empty()) return in_.Fail("found an input without a name");
    const ValueId id = graph.AddInput(input.name, std::move(input.type));
    if (graph.value(id).name != input.name) return in_.Fail("'{}' is defined twice", input.name);
    return OkStatus();
  });
}

Status Parser::ParseCaptures(Graph& graph, Graph* enclosing) {
  if (!in_.Accept("captures")) return OkStatus();
  if (enclosing == nullptr) return in_.Fail("found captures in a graph that is no subgraph");
  KHEYA_RETURN_IF_ERROR(in_.Expect("("));
  return in_.ParseSeparated(")", [&]() -> Status {
    KHEYA_ASSIGN_OR_RETURN(Declared capture, ParseDeclared());
    KHEYA_RETURN_IF_ERROR(in_.Expect("="));
    KHEYA_ASSIGN_OR_RETURN(const ValueId outer, ParseUse(*enclosing));
    if (!outer.valid() || capture.name.empty()) return in_.Fail("found a capture without a name");
    const ValueId id = graph.AddCapture(capture.name, outer, std::move(capture.type));
    if (graph.value(id).name != capture.name)
      return in_.Fail("'{}' is defined twice", capture.name);
    return OkStatus();
  });
}

Result<std::vector<std::pair<std::string, std::string>>> Parser::ParseOutputNames() {
  KHEYA_RETURN_IF_ERROR(in_.Expect("->"));
  KHEYA_RETURN_IF_ERROR(in_.Expect("("));
  std::vector<std::pair<std::string, std::string>> names;
  KHEYA_RETURN_IF_ERROR(in_.ParseSeparated(")", [&]() -> Status {
    KHEYA_ASSIGN_OR_RETURN(std::string name, in_.ParseName());
    std::string value = name;
    if (in_.Accept("=")) {
      KHEYA_ASSIGN_OR_RETURN(value, in_.ParseName());
    }
    names.emplace_back(std::move(name), std::move(value));
    return OkStatus();
  }));
  return names;
}

Status Parser::ParseFact(Graph& graph) {
  if (in_.Accept("producer")) {
    KHEYA_ASSIGN_OR_RETURN(graph.producer, in_.ParseString());
    return OkStatus();
  }
  if (in_.Accept("opset")) {
    KHEYA_ASSIGN_OR_RETURN(std::string domain, in_.ParseString());
    KHEYA_ASSIGN_OR_RETURN(const int64_t version, in_.ParseInt());
    graph.declared_opsets.emplace_back(std::move(domain), version);
    return OkStatus();
  }
  if (in_.Accept("model")) {
    KHEYA_ASSIGN_OR_RETURN(graph.model_domain, in_.ParseString());
    KHEYA_ASSIGN_OR_RETURN(graph.model_version, in_.ParseInt());
    return OkStatus();
  }
  if (in_.Accept("doc")) {
    KHEYA_ASSIGN_OR_RETURN(graph.doc, in_.ParseString());
    return OkStatus();
  }
  if (in_.Accept("default_input")) {
    KHEYA_ASSIGN_OR_RETURN(std::string name, in_.ParseString());
    graph.default_inputs.push_back(std::move(name));
    return OkStatus();
  }
  const bool of_graph = in_.Accept("graph_metadata");
  if (of_graph || in_.Accept("metadata")) {
    KHEYA_ASSIGN_OR_RETURN(std::string key, in_.ParseString());
    KHEYA_ASSIGN_OR_RETURN(std::string value, in_.ParseString());
    auto& pairs = of_graph ? graph.graph_metadata : graph.metadata();
    pairs.emplace_back(std::move(key), std::move(value));
    return OkStatus();
  }
  return in_.Expected(
      "'producer', 'opset', 'model', 'default_input', 'doc', 'metadata' or 'graph_metadata'");
}

Status Parser::ParseConstant(Graph& graph, const std::vector<Declared>& outputs) {
  if (outputs.size() != 1 || outputs[0].name.empty()) {
    return in_.Fail("found a constant with {} names, expected one", outputs.size());
  }
  KHEYA_ASSIGN_OR_RETURN(Tensor tensor, in_.ParseTensor(outputs[0].type));
  const ValueId id = graph.AddConstant(outputs[0].name, std::move(tensor));
  if (graph.value(id).name == outputs[0].name) return OkStatus();
  return in_.Fail("'{}' is defined twice", Abbreviate(outputs[0].name));
}

Status Parser::ParseNode(Graph& graph, const std::vector<Declared>& outputs) {
  NodeSpec spec;
  KHEYA_ASSIGN_OR_RETURN(spec.op, in_.ParseName());
  if (in_.Accept("::")) {
    spec.domain = std::move(spec.op);
    KHEYA_ASSIGN_OR_RETURN(spec.op, in_.ParseName());
  }
  KHEYA_RETURN_IF_ERROR(in_.Expect("("));
  KHEYA_RETURN_IF_ERROR(in_.ParseSeparated(")", [&]() -> Status {
    KHEYA_ASSIGN_OR_RETURN(const ValueId input, ParseUse(graph));
    spec.inputs.push_back(input);
    return OkStatus();
  }));
  KHEYA_RETURN_IF_ERROR(ParseAttributes(spec, graph));
  for (const Declared& output : outputs) spec.outputs.push_back(output.name);
  KHEYA_ASSIGN_OR_RETURN(const NodeId id, graph.AddNode(std::move(spec)));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ValueId value = graph.node(id).outputs[i];
    if (!value.valid()) continue;
    if (graph.value(value).name != outputs[i].name) {
      return in_.Fail("'{}' is defined twice", Abbreviate(outputs[i].name));
    }
    graph.SetType(value, outputs[i].type);
  }
  return OkStatus();
}

Status Parser::ParseStatement(Graph& graph) {
  if (in_.Accept("@")) return ParseFact(graph);
  std::vector<Declared> outputs;
  KHEYA_RETURN_IF_ERROR(in_.ParseSeparated("=", [&]() -> Status {
    KHEYA_ASSIGN_OR_RETURN(outputs.emplace_back(), ParseDeclared());
    return OkStatus();
  }));
  const char next = in_.Peek();
  const bool constant = next == '[' || next == '.' || (next >= '0' && next <= '9');
  return constant ? ParseConstant(graph, outputs) : ParseNode(graph, outputs);
}

Result<Graph> Parser::ParseGraphText(Graph* enclosing) {
  if (++depth_ > kMaxSubgraphDepth) {
    return in_.Fail("found graphs nested deeper than {}", kMaxSubgraphDepth);
  }
  KHEYA_RETURN_IF_ERROR(in_.Expect("graph"));
  KHEYA_ASSIGN_OR_RETURN(std::string name, in_.ParseName());
  Graph graph(std::move(name));
  KHEYA_RETURN_IF_ERROR(ParseInputs(graph));
  KHEYA_RETURN_IF_ERROR(ParseCaptures(graph, enclosing));
  KHEYA_ASSIGN_OR_RETURN(auto outputs, ParseOutputNames());
  KHEYA_RETURN_IF_ERROR(in_.Expect("{"));
  while (!in_.Accept("}")) KHEYA_RETURN_IF_ERROR(ParseStatement(graph));
  for (auto& [output, value] : outputs) {
    const std::optional<ValueId> id = graph.FindValue(value);
    if (!id) return in_.Fail("graph output '{}' is '{}', which no line defines", output, value);
    graph.AddOutput(std::move(output), *id);
  }
  --depth_;
  return graph;
}

Result<Graph> Parser::Parse() {
  if (size_ > kMaxTextBytes) {
    return InvalidArgumentError("found a text of {} bytes, expected at most {}", size_,
                                kMaxTextBytes);
  }
  KHEYA_ASSIGN_OR_RETURN(Graph graph, ParseGraphText(nullptr));
  if (!in_.AtEnd()) return in_.Expected("the end");
  KHEYA_RETURN_IF_ERROR(Verify(graph));
  return graph;
}

}  // namespace

Result<Graph> ParseGraph(std::string_view text) { return Parser(text).Parse(); }

}  // namespace kheya
