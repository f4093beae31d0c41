// ExpandAttention: a kheya.FusedAttention written out, for ExpandFused.
#ifndef KHEYA_PASSES_EXPAND_ATTENTION_H_
#define KHEYA_PASSES_EXPAND_ATTENTION_H_

#include "base/status.h"
#include "graph/graph.h"

namespace kheya {

// Unimplemented where the rank of an operand is not known.
Status ExpandAttention(Graph& graph, const Node& node);

}  // namespace kheya

#endif  // KHEYA_PASSES_EXPAND_ATTENTION_H_
