// Permutations of axes: axis i of what a Transpose gives is axis perm[i] of its input.
#ifndef KHEYA_PASSES_PERMUTATION_H_
#define KHEYA_PASSES_PERMUTATION_H_

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace kheya {

using Perm = std::vector<int64_t>;

// Of a Transpose; empty when it reverses axes of unknown number, and for one that is unsound.
Perm PermOf(const Graph& graph, const Node& transpose);
bool IsInOrder(const Perm& perm);
// Of a Transpose by `outer` behind one by `inner`, both of the same size.
Perm Compose(const Perm& inner, const Perm& outer);

}  // namespace kheya

#endif  // KHEYA_PASSES_PERMUTATION_H_
