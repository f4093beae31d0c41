// PermutedNode: whether a node whose operands are transposed can be said on the operands before
// their Transposes, with one Transpose behind it instead, and how.
#ifndef KHEYA_PASSES_PERMUTED_NODE_H_
#define KHEYA_PASSES_PERMUTED_NODE_H_

#include <functional>
#include <optional>

#include "base/status.h"
#include "graph/graph.h"
#include "graph/patch.h"
#include "passes/permutation.h"

namespace kheya {

struct PermutedNode {
  Perm input;   // that all operands are transposed by which are no constants and no single elements
  Perm output;  // that all outputs are then to be transposed by
};

// The permutation by which a value is transposed; null for one that is not.
using PermFinder = std::function<const Perm*(ValueId)>;

// nullopt for a node without such operands, and for one that cannot be permuted without being
// slower; `reason` is then set where its operands are transposed but differently.
std::optional<PermutedNode> Permute(const Graph& graph, const Node& node, const PermFinder& perms,
                                    std::string* reason);

// The node on other operands: `untransposed` gives the value before its Transpose, or an invalid
// id. Constants are transposed here. Outputs are named after those of the node.
Result<NodeSpec> SpecOfPermuted(const Graph& graph, Patch& patch, const Node& node,
                                const PermutedNode& permuted,
                                const std::function<ValueId(ValueId)>& untransposed);

}  // namespace kheya

#endif  // KHEYA_PASSES_PERMUTED_NODE_H_
