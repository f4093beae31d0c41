// GraphTestPeer: breaks graphs on purpose, for tests of Verify.
#ifndef KHEYA_GRAPH_GRAPH_TEST_PEER_H_
#define KHEYA_GRAPH_GRAPH_TEST_PEER_H_

#include <vector>

#include "graph/graph.h"

namespace kheya {

class GraphTestPeer {
 public:
  static Node& MutableNode(Graph& graph, NodeId id) { return graph.mutable_node(id); }
  static GraphValue& MutableValue(Graph& graph, ValueId id) { return graph.mutable_value(id); }
  static std::vector<ValueId>& Inputs(Graph& graph) { return graph.inputs_; }
  static std::vector<GraphOutput>& Outputs(Graph& graph) { return graph.outputs_; }
};

}  // namespace kheya

#endif  // KHEYA_GRAPH_GRAPH_TEST_PEER_H_
