// merge_transposes: of two Transposes in a row, the second takes the input of the first, with both
// permutations in one.
#ifndef KHEYA_PASSES_MERGE_TRANSPOSES_H_
#define KHEYA_PASSES_MERGE_TRANSPOSES_H_

#include "passes/pass.h"

namespace kheya {

Status MergeTransposes(Graph& graph, PassContext& context);

}  // namespace kheya

#endif  // KHEYA_PASSES_MERGE_TRANSPOSES_H_
