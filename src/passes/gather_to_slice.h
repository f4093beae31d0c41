// gather_to_slice: a Gather of constant places that follow each other evenly becomes a Slice (and,
// for one place given as a scalar, a Squeeze); Gathers of every place of an axis become one Split.
// Arithmetic on shapes (integers of rank 1) stays as it is.
#ifndef KHEYA_PASSES_GATHER_TO_SLICE_H_
#define KHEYA_PASSES_GATHER_TO_SLICE_H_

#include "passes/pass.h"

namespace kheya {

Status GatherToSlice(Graph& graph, PassContext& context);

}  // namespace kheya

#endif  // KHEYA_PASSES_GATHER_TO_SLICE_H_
