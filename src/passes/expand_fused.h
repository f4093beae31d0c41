// ExpandFused: the operators of kInternalDomain written out as the standard operators that they
// stand for, so that both forms can be compared and timed.
#ifndef KHEYA_PASSES_EXPAND_FUSED_H_
#define KHEYA_PASSES_EXPAND_FUSED_H_

#include "base/status.h"
#include "graph/graph.h"

namespace kheya {

// Replaces every FusedConv, FusedMatMul, FusedAttention and FusedBatchNorm, subgraphs included, and
// infers types. InvalidArgument for one whose attributes make no sense, Unimplemented for one that
// transposes an operand of unknown rank.
Status ExpandFused(Graph& graph);

}  // namespace kheya

#endif  // KHEYA_PASSES_EXPAND_FUSED_H_
