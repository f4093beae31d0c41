// Downgrade: a graph of the canonical operator set in the forms of an older opset of ai.onnx.
#ifndef KHEYA_FORMATS_ONNX_DOWNGRADE_H_
#define KHEYA_FORMATS_ONNX_DOWNGRADE_H_

#include "base/status.h"
#include "graph/graph.h"

namespace kheya::onnx {

// A clone, subgraphs included, in which every node of ai.onnx is as `opset` writes it and means
// what it meant. Types must be inferred: some forms are told by type and rank. Unimplemented,
// naming the node and what does not fit.
Result<Graph> Downgrade(const Graph& graph, int opset);

}  // namespace kheya::onnx

#endif  // KHEYA_FORMATS_ONNX_DOWNGRADE_H_
