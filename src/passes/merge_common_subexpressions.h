// merge_common_subexpressions: of nodes with the same operator, inputs and attributes, and of
// constants with the same type, shape and bytes, one stays. Random operators and nodes with
// subgraphs are left alone.
#ifndef KHEYA_PASSES_MERGE_COMMON_SUBEXPRESSIONS_H_
#define KHEYA_PASSES_MERGE_COMMON_SUBEXPRESSIONS_H_

#include "passes/pass.h"

namespace kheya {

Status MergeCommonSubexpressions(Graph& graph, PassContext& context);

}  // namespace kheya

#endif  // KHEYA_PASSES_MERGE_COMMON_SUBEXPRESSIONS_H_
