// remove_dead_nodes: nodes, constants and captures from which no graph output can be reached go.
#ifndef KHEYA_PASSES_REMOVE_DEAD_NODES_H_
#define KHEYA_PASSES_REMOVE_DEAD_NODES_H_

#include "passes/pass.h"

namespace kheya {

Status RemoveDeadNodes(Graph& graph, PassContext& context);

}  // namespace kheya

#endif  // KHEYA_PASSES_REMOVE_DEAD_NODES_H_
