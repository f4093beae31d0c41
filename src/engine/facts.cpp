#include "engine/facts.h"

#include "base/checked_math.h"
#include "ops/check_inputs.h"
#include "ops/infer.h"
#include "ops/op.h"
#include "ops/verify_model.h"

namespace kheya {

std::vector<TensorInfo> InputInfos(const Graph& graph) {
  std::vector<TensorInfo> infos;
  for (ValueId id : graph.inputs()) infos.push_back({graph.value(id).name, graph.value(id).type});
  return infos;
}

std::vector<TensorInfo> OutputInfos(const Graph& graph) {
  std::vector<TensorInfo> infos;
  for (const GraphOutput& output : graph.outputs()) {
    infos.push_back({output.name, graph.value(output.value).type});
  }
  return infos;
}

std::optional<int64_t> CountMacs(const Graph& graph) {
  int64_t total = 0;
  for (NodeId id : graph.NodeIds()) {
    const Node& node = graph.node(id);
    const OpDef* op = FindOp(node.domain, node.op);
    if (op == nullptr || op->macs == nullptr) continue;
    if (!CheckNode(*op, node).ok()) return std::nullopt;
    const std::optional<int64_t> macs = op->macs(graph, node);
    if (!macs || !CheckedAdd(total, *macs, &total)) return std::nullopt;
  }
  return total;
}

std::map<std::string, Shape> SmallestShapes(const Graph& graph) {
  std::map<std::string, Shape> shapes;
  for (ValueId id : graph.inputs()) {
    const GraphValue& value = graph.value(id);
    if (!value.type.is_tensor() || !value.type.shape || value.type.KnownShape()) continue;
    std::vector<int64_t> dims;
    for (const Dim& dim : *value.type.shape) dims.push_back(dim.known() ? dim.value() : 1);
    if (Result<Shape> shape = Shape::Create(dims); shape.ok()) shapes[value.name] = *shape;
  }
  return shapes;
}

std::optional<int64_t> CountMacs(const Graph& graph, const std::map<std::string, Shape>& shapes) {
  std::map<std::string, Shape> all = SmallestShapes(graph);
  for (const auto& [name, shape] : shapes) all.insert_or_assign(name, shape);
  if (all.empty()) return CountMacs(graph);
  Graph known = graph.Clone();
  if (!SpecializeInputs(known, all).ok()) return std::nullopt;
  return CountMacs(known);
}

ModelFacts GatherFacts(const Model& model) {
  ModelFacts facts;
  facts.inputs = InputInfos(model.graph);
  facts.outputs = OutputInfos(model.graph);
  for (ValueId id : model.graph.ValueIds()) {
    const Tensor* constant = model.graph.Constant(id);
    if (constant == nullptr) continue;
    facts.parameters += constant->num_elements();
    facts.parameter_bytes += constant->num_bytes();
  }
  for (NodeId id : model.graph.NodeIds()) {
    const Node& node = model.graph.node(id);
    facts.operators[node.domain.empty() ? node.op : node.domain + "." + node.op] += 1;
  }
  for (UnsupportedNode& node : FindUnsupported(model.graph)) {
    facts.unsupported.emplace_back(std::move(node.node), std::move(node.reason));
  }
  facts.macs = CountMacs(model.graph, {});
  return facts;
}

}  // namespace kheya
