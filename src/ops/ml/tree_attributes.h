// Tree ensembles from the attributes of their operators.
#ifndef KHEYA_OPS_ML_TREE_ATTRIBUTES_H_
#define KHEYA_OPS_ML_TREE_ATTRIBUTES_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "kernels/reference/trees.h"
#include "ops/contexts.h"

namespace kheya::ml {

// Of TreeEnsembleClassifier (`prefix` "class") and TreeEnsembleRegressor ("target"), whose nodes
// name their tree and each other by numbers. InvalidArgument when lists differ in length, a node is
// there twice or a child is not there, naming tree and node.
Result<kernels::TreeEnsemble> ReadTrees(const AttributeReader& attributes,
                                        const std::string& prefix);
// Of TreeEnsemble, whose nodes and leaves are named by their places.
Result<kernels::TreeEnsemble> ReadIndexedTrees(const AttributeReader& attributes);

// How many targets a regressor or TreeEnsemble has.
Result<int64_t> NumTargets(const AttributeReader& attributes);

// All that a node of TreeEnsemble, TreeEnsembleClassifier or TreeEnsembleRegressor says, checked
// for rows of `width` features.
Result<kernels::TreeModel> ReadTreeModel(const Node& node, int64_t width);

// A list attribute of floats, or NAME_as_tensor, as doubles; empty when neither is there.
Result<std::vector<double>> NumbersAttribute(const AttributeReader& attributes,
                                             const std::string& name);

}  // namespace kheya::ml

#endif  // KHEYA_OPS_ML_TREE_ATTRIBUTES_H_
