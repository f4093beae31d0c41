// sink_transposes: Transposes move down through elementwise operators, Concat, Split, Softmax,
// reductions, Pad, Slice and Squeeze where that lets them meet others, or makes them smaller: never
// more Transposes than before, nor of more elements. merge_transposes then cancels those that met.
#ifndef KHEYA_PASSES_SINK_TRANSPOSES_H_
#define KHEYA_PASSES_SINK_TRANSPOSES_H_

#include "passes/pass.h"

namespace kheya {

Status SinkTransposes(Graph& graph, PassContext& context);

}  // namespace kheya

#endif  // KHEYA_PASSES_SINK_TRANSPOSES_H_
