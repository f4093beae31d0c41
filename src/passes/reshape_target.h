// The constant target of a Reshape between two shapes.
#ifndef KHEYA_PASSES_RESHAPE_TARGET_H_
#define KHEYA_PASSES_RESHAPE_TARGET_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace kheya {

// The second input of Reshape (allowzero 0) that turns `from` (null: rank unknown) into `to`:
// known dimensions as they are, 0 for a dimension that stays in its place, one -1 at most for one
// that is left to be found. nullopt when there is none. A -1 beside a 0 would fail where the kept
// dimension is empty at run time, so the two are not mixed.
std::optional<std::vector<int64_t>> ReshapeTarget(const SymbolicShape* from,
                                                  const SymbolicShape& to);

}  // namespace kheya

#endif  // KHEYA_PASSES_RESHAPE_TARGET_H_
