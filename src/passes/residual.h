// The residual connection behind an operator: an Add of another value of the same shape.
#ifndef KHEYA_PASSES_RESIDUAL_H_
#define KHEYA_PASSES_RESIDUAL_H_

#include <optional>
#include <string>

#include "graph/graph.h"

namespace kheya {

struct Residual {
  ValueId addend;
  ValueId sum;  // the output of the Add
};

// The Add that is the only user of `value`, with an addend of the same type and shape. nullopt when
// there is none, with the reason when an Add is there.
std::optional<Residual> ResidualBehind(const Graph& graph, ValueId value, std::string* reason);

}  // namespace kheya

#endif  // KHEYA_PASSES_RESIDUAL_H_
