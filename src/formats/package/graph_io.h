// Graphs as bytes, compact and quick to read: their constants lie in a table of the package.
#ifndef KHEYA_FORMATS_PACKAGE_GRAPH_IO_H_
#define KHEYA_FORMATS_PACKAGE_GRAPH_IO_H_

#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "formats/package/constants.h"
#include "graph/graph.h"

namespace kheya {

// Everything but Graph::notes and propagated elements. Adds the constants to `constants`.
Result<std::string> WriteGraph(const Graph& graph, ConstantWriter* constants);

// The same graph, ids in topological order; verified, its types as written: hints for InferTypes.
// InvalidArgument for damaged bytes, which take no more memory than their size justifies.
Result<Graph> ReadGraph(std::span<const std::byte> bytes,
                        std::span<const PackageConstant> constants);

}  // namespace kheya

#endif  // KHEYA_FORMATS_PACKAGE_GRAPH_IO_H_
