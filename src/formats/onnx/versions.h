// Versions of the ONNX format and of operator sets.
#ifndef KHEYA_FORMATS_ONNX_VERSIONS_H_
#define KHEYA_FORMATS_ONNX_VERSIONS_H_

#include <cstdint>
#include <set>
#include <string>

#include "graph/graph.h"

namespace kheya::onnx {

// The newest opset of ai.onnx that files of an IR version have: for files that do not say.
int64_t NewestOpset(int64_t ir_version);
// The oldest IR version that knows an opset of ai.onnx and these element types.
int64_t IrVersion(int64_t opset, const std::set<DType>& dtypes);
// The version of a domain other than ai.onnx: as the graph's file declared it, else the oldest.
int64_t DomainVersion(const Graph& graph, const std::string& domain);

}  // namespace kheya::onnx

#endif  // KHEYA_FORMATS_ONNX_VERSIONS_H_
