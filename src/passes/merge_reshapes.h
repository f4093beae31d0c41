// merge_reshapes: of two in a row of Reshape, Flatten, Squeeze and Unsqueeze, the second takes the
// input of the first, as a Reshape with a constant target.
#ifndef KHEYA_PASSES_MERGE_RESHAPES_H_
#define KHEYA_PASSES_MERGE_RESHAPES_H_

#include "passes/pass.h"

namespace kheya {

Status MergeReshapes(Graph& graph, PassContext& context);

}  // namespace kheya

#endif  // KHEYA_PASSES_MERGE_RESHAPES_H_
