// Which outputs of a model hold random numbers.
#ifndef KHEYA_FORMATS_CONFORMANCE_RANDOMNESS_H_
#define KHEYA_FORMATS_CONFORMANCE_RANDOMNESS_H_

#include <vector>

#include "base/status.h"
#include "graph/graph.h"

namespace kheya::conformance {

// Whether random numbers are drawn, and whether all of them by seeds of their own. The standard
// leaves open which numbers a seed gives.
enum class Randomness : uint8_t { kNone, kSeeded, kUnseeded };

// For each output of `graph`, the most random of the nodes that it depends on. Every output of a
// node with subgraphs depends on all that they hold. InvalidArgument for a graph with a cycle.
Result<std::vector<Randomness>> RandomnessOfOutputs(const Graph& graph);

}  // namespace kheya::conformance

#endif  // KHEYA_FORMATS_CONFORMANCE_RANDOMNESS_H_
