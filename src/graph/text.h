// Graphs as text that people read and tests write, and as Graphviz.
//
//   graph mlp(x: float32[batch,3]) -> (y) {
//     w: float32[3,2] = [1, 2, 3, 4, 5, 6]
//     t: float32[batch,2] = MatMul(x, w)
//     y = Relu(t) {name: "act"}
//   }
#ifndef KHEYA_GRAPH_TEXT_H_
#define KHEYA_GRAPH_TEXT_H_

#include <string>
#include <string_view>

#include "base/status.h"
#include "graph/graph.h"

namespace kheya {

struct PrintOptions {
  // Constants with more elements print as `type = ... #hash`, which does not parse back.
  int64_t max_constant_elements = 32;
  bool types = true;
};

// Parse(Print(graph)) is the same graph when all constants are printed in full: same order, names,
// types, attributes (floats to the last bit), subgraphs, metadata. Graph::notes are not printed.
std::string PrintGraph(const Graph& graph, const PrintOptions& options = PrintOptions());
// InvalidArgument with line and column. Limits depth and sizes.
Result<Graph> ParseGraph(std::string_view text);

// Graphviz "digraph": nodes with operator and name, edges with types, subgraphs as clusters.
std::string PrintDot(const Graph& graph);

}  // namespace kheya

#endif  // KHEYA_GRAPH_TEXT_H_
