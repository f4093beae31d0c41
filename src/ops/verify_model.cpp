#include "ops/verify_model.h"

#include <vector>

#include "graph/verify.h"
#include "ops/check_inputs.h"
#include "ops/op.h"

namespace kheya {
namespace {

std::string FullName(const Node& node) {
  return node.domain.empty() ? node.op : node.domain + "." + node.op;
}

Status Unsupported(const Node& node) {
  return UnimplementedError("operator '{}' is not supported", FullName(node));
}

Status CheckOneNode(const Graph& graph, const Node& node) {
  const OpDef* op = FindOp(node.domain, node.op);
  if (op == nullptr) return Unsupported(node);
  KHEYA_RETURN_IF_ERROR(CheckNode(*op, node));
  std::vector<DType> dtypes;
  for (ValueId id : node.inputs) {
    const bool tensor = id.valid() && graph.value(id).type.is_tensor();
    dtypes.push_back(tensor ? graph.value(id).type.dtype : DType::kUndefined);
  }
  return CheckInputTypes(*op, dtypes);
}

Status CheckNodes(const Graph& graph) {
  for (NodeId id : graph.NodeIds()) {
    const Node& node = graph.node(id);
    KHEYA_RETURN_IF_ERROR(CheckOneNode(graph, node).WithContext("{}", node.Describe()));
    for (const Graph* subgraph : graph.Subgraphs(id)) {
      KHEYA_RETURN_IF_ERROR(CheckNodes(*subgraph).WithContext("{}", node.Describe()));
    }
  }
  return OkStatus();
}

// Unsupported operators and element types; malformed nodes are not a matter of support.
void Collect(const Graph& graph, std::vector<UnsupportedNode>& found) {
  for (NodeId id : graph.NodeIds()) {
    const Node& node = graph.node(id);
    const Status status = CheckOneNode(graph, node);
    if (status.code() == StatusCode::kUnimplemented) {
      found.push_back({node.Describe(), status.message()});
    }
    for (const Graph* subgraph : graph.Subgraphs(id)) Collect(*subgraph, found);
  }
}

}  // namespace

Status VerifyModel(const Graph& graph) {
  KHEYA_RETURN_IF_ERROR(Verify(graph));
  return CheckNodes(graph);
}

std::vector<UnsupportedNode> FindUnsupported(const Graph& graph) {
  std::vector<UnsupportedNode> found;
  Collect(graph, found);
  return found;
}

}  // namespace kheya
