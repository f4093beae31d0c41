// Verify: the structural soundness of a graph.
#ifndef KHEYA_GRAPH_VERIFY_H_
#define KHEYA_GRAPH_VERIFY_H_

#include "base/status.h"
#include "graph/graph.h"

namespace kheya {

// Every id is live, producers and uses agree, names are unique and not empty, there is no cycle,
// output names are unique, captures point to live values of the enclosing graph, of the same kind
// and element type where both are known; subgraphs likewise, to a nesting depth of
// kMaxSubgraphDepth. InvalidArgument naming the node or value.
inline constexpr int kMaxSubgraphDepth = 32;
Status Verify(const Graph& graph);

}  // namespace kheya

#endif  // KHEYA_GRAPH_VERIFY_H_
