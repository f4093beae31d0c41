// VerifyModel: checks a graph against the operators' schemas.
#ifndef KHEYA_OPS_VERIFY_MODEL_H_
#define KHEYA_OPS_VERIFY_MODEL_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"

namespace kheya {

// Structural Verify, then for every node, subgraphs included: the operator is known
// (Unimplemented naming domain, operator and node), arity, attribute names and kinds, required
// attributes, element types where known.
Status VerifyModel(const Graph& graph);

// What VerifyModel would refuse as unsupported, all of it: for `inspect`.
struct UnsupportedNode {
  std::string node;    // "node 'x' (Op)"
  std::string reason;  // "operator 'com.x.Foo' is not supported"
};
std::vector<UnsupportedNode> FindUnsupported(const Graph& graph);

}  // namespace kheya

#endif  // KHEYA_OPS_VERIFY_MODEL_H_
