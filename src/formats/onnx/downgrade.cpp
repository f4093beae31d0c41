#include "formats/onnx/downgrade.h"

#include <charconv>
#include <optional>

#include "formats/onnx/downgrade_rules.h"
#include "formats/onnx/schemas.h"
#include "ops/check_inputs.h"
#include "ops/op.h"

namespace kheya::onnx {
namespace {

struct Rule {
  const char* op;
  int since;  // nodes of older opsets need the rule
  Status (*apply)(Downgraded& node);
};

// Changes of meaning and form that the schemas do not show, or that can be undone.
constexpr Rule kRules[] = {
    {"AveragePool", 19, DowngradeDilations},
    {"DFT", 20, DowngradeDft},
    {"DequantizeLinear", 13, DowngradeQuantize},
    {"Dropout", 12, DowngradeDropout},
    {"Gelu", 20, ExpandGelu},
    {"GreaterOrEqual", 12, DowngradeOrEqual},
    {"GridSample", 20, DowngradeGridSample},
    {"GroupNormalization", 21, ExpandGroupNormalization},
    {"HardSwish", 14, ExpandHardSwish},
    {"Hardmax", 13, DowngradeSoftmax},
    {"LayerNormalization", 17, ExpandLayerNormalization},
    {"LessOrEqual", 12, DowngradeOrEqual},
    {"LogSoftmax", 13, DowngradeSoftmax},
    {"LpPool", 18, DowngradeDilations},
    {"Mish", 18, ExpandMish},
    {"Mod", 28, DowngradeMod},
    {"Pad", 18, DowngradePad},
    {"QuantizeLinear", 13, DowngradeQuantize},
    {"RMSNormalization", 23, ExpandRmsNormalization},
    {"ReduceL1", 18, DowngradeAxes},
    {"ReduceL2", 18, DowngradeAxes},
    {"ReduceLogSum", 18, DowngradeAxes},
    {"ReduceLogSumExp", 18, DowngradeAxes},
    {"ReduceMax", 18, DowngradeAxes},
    {"ReduceMean", 18, DowngradeAxes},
    {"ReduceMin", 18, DowngradeAxes},
    {"ReduceProd", 18, DowngradeAxes},
    {"ReduceSum", 13, DowngradeAxes},
    {"ReduceSumSquare", 18, DowngradeAxes},
    {"Reshape", 14, DowngradeReshape},
    {"Resize", 13, DowngradeResize},
    {"RoiAlign", 16, DowngradeRoiAlign},
    {"Softmax", 13, DowngradeSoftmax},
    {"Split", 18, DowngradeSplit},
    {"Squeeze", 13, DowngradeAxes},
    {"SwiGLU", 28, ExpandSwiGlu},
    {"Swish", 24, ExpandSwish},
    {"Unsqueeze", 13, DowngradeAxes},
};

// "i-1", "f0.5", "slinear" as an attribute's value.
std::optional<AttributeValue> DefaultOf(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const std::string_view rest = text.substr(1);
  if (text[0] == 's') return AttributeValue(std::string(rest));
  if (text[0] == 'i') {
    int64_t value = 0;
    std::from_chars(rest.data(), rest.data() + rest.size(), value);
    return AttributeValue(value);
  }
  float value = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), value);
  return AttributeValue(value);
}

bool IsDefault(const Attribute& attribute, std::string_view text) {
  const std::optional<AttributeValue> value = DefaultOf(text);
  if (!value || value->index() != attribute.value.index()) return false;
  if (const auto* number = std::get_if<int64_t>(&*value)) {
    return *number == std::get<int64_t>(attribute.value);
  }
  if (const auto* number = std::get_if<float>(&*value)) {
    return *number == std::get<float>(attribute.value);
  }
  return std::get<std::string>(*value) == std::get<std::string>(attribute.value);
}

// Says what the older version takes for granted otherwise, and leaves out what goes without saying.
void AlignDefaults(Graph& graph, NodeId id, const Schema& newest, const Schema& old) {
  const std::vector<Attribute> attributes = graph.node(id).attributes;
  for (const Attribute& attribute : attributes) {
    const auto known = newest.attributes.find(attribute.name);
    if (known == newest.attributes.end() || old.attributes.contains(attribute.name)) continue;
    if (IsDefault(attribute, known->second)) graph.RemoveAttribute(id, attribute.name);
  }
  for (const auto& [name, text] : newest.attributes) {
    const auto then = old.attributes.find(name);
    if (then == old.attributes.end() || then->second == text) continue;
    std::optional<AttributeValue> value = DefaultOf(text);
    if (value && graph.node(id).FindAttribute(name) == nullptr) {
      graph.SetAttribute(id, {std::string(name), *std::move(value)});
    }
  }
}

Status ApplyRule(Graph& graph, NodeId id, int opset) {
  const std::string op = graph.node(id).op;
  for (const Rule& rule : kRules) {
    if (op != rule.op || opset >= rule.since) continue;
    Downgraded node(graph, id, opset);
    return rule.apply(node);
  }
  return OkStatus();
}

Status FitSchema(Graph& graph, NodeId id, int opset) {
  const std::string& op = graph.node(id).op;
  const Schema* newest = FindSchema(op, kCanonicalOpset);
  if (newest == nullptr) return UnimplementedError("ai.onnx has no such operator");
  const Schema* old = FindSchema(op, opset);
  if (old == nullptr) return UnimplementedError("the opset has no such operator");
  AlignDefaults(graph, id, *newest, *old);
  return CheckSchema(graph, graph.node(id), *old);
}

// Calls visit(id) for every node of ai.onnx, those that it adds included.
template <typename Visit>
Status VisitNodes(Graph& graph, Visit visit) {
  for (NodeId id{0}; id.index < graph.node_index_bound(); ++id.index) {
    if (!graph.IsLive(id) || !graph.node(id).domain.empty()) continue;
    const std::string name = graph.node(id).Describe();
    KHEYA_RETURN_IF_ERROR(visit(id).WithContext("{}", name));
  }
  return OkStatus();
}

Status DowngradeNodes(Graph& graph, int opset) {
  for (NodeId id : graph.NodeIds()) {
    // The rules take inputs and attributes as the operator has them.
    const Node& node = graph.node(id);
    if (const OpDef* op = FindOp(node.domain, node.op)) {
      KHEYA_RETURN_IF_ERROR(CheckNode(*op, node).WithContext("{}", node.Describe()));
    }
    for (Graph* subgraph : graph.Subgraphs(id)) {
      KHEYA_RETURN_IF_ERROR(
          DowngradeNodes(*subgraph, opset).WithContext("{}", graph.node(id).Describe()));
    }
  }
  KHEYA_RETURN_IF_ERROR(VisitNodes(graph, [&](NodeId id) { return ApplyRule(graph, id, opset); }));
  return VisitNodes(graph, [&](NodeId id) { return FitSchema(graph, id, opset); });
}

}  // namespace

Result<Graph> Downgrade(const Graph& graph, int opset) {
  Graph older = graph.Clone();
  KHEYA_RETURN_IF_ERROR(DowngradeNodes(older, opset).WithContext("opset {}", opset));
  return older;
}

}  // namespace kheya::onnx
