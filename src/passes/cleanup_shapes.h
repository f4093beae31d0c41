// cleanup_shapes: a Reshape whose target is computed (Shape, Gather, Concat...) gets a constant
// target, with 0 where it keeps a dimension and -1 where one is left to be found, if the target's
// elements allow. The computation then is dead.
#ifndef KHEYA_PASSES_CLEANUP_SHAPES_H_
#define KHEYA_PASSES_CLEANUP_SHAPES_H_

#include "passes/pass.h"

namespace kheya {

Status CleanupShapes(Graph& graph, PassContext& context);

}  // namespace kheya

#endif  // KHEYA_PASSES_CLEANUP_SHAPES_H_
