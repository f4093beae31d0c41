#include "ops/ml/tree_attributes.h"

#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "kernels/reference/quantize.h"

namespace kheya::ml {
namespace {

using kernels::TreeEnsemble;
using kernels::TreeNode;
using kernels::TreeTest;

Status CheckLength(const char* name, size_t found, size_t expected) {
  if (found == expected) return OkStatus();
  return InvalidArgumentError("{}: found {} elements, expected {}", name, found, expected);
}

constexpr std::pair<const char*, TreeTest> kModes[] = {
    {"BRANCH_LEQ", TreeTest::kLeq}, {"BRANCH_LT", TreeTest::kLt}, {"BRANCH_GTE", TreeTest::kGte},
    {"BRANCH_GT", TreeTest::kGt},   {"BRANCH_EQ", TreeTest::kEq}, {"BRANCH_NEQ", TreeTest::kNeq}};

Result<TreeTest> TestOf(const std::string& mode) {
  for (const auto& [name, test] : kModes) {
    if (mode == name) return test;
  }
  return InvalidArgumentError("found node mode '{}'", mode);
}

// Tree and node.
using NodeKey = std::pair<int64_t, int64_t>;

// Builds an ensemble from nodes that are named by numbers.
class TreeReader {
 public:
  TreeReader(const AttributeReader& attributes, const std::string& prefix)
      : attributes_(attributes), prefix_(prefix) {}

  Result<TreeEnsemble> Read() {
    KHEYA_RETURN_IF_ERROR(ReadLists());
    KHEYA_RETURN_IF_ERROR(IndexNodes());
    KHEYA_RETURN_IF_ERROR(LinkNodes());
    KHEYA_RETURN_IF_ERROR(ReadWeights());
    return std::move(ensemble_);
  }

 private:
  Status ReadLists() {
    trees_ = attributes_.Ints("nodes_treeids");
    ids_ = attributes_.Ints("nodes_nodeids");
    modes_ = attributes_.Strings("nodes_modes");
    features_ = attributes_.Ints("nodes_featureids");
    if_true_ = attributes_.Ints("nodes_truenodeids");
    if_false_ = attributes_.Ints("nodes_falsenodeids");
    missing_ = attributes_.Ints("nodes_missing_value_tracks_true");
    KHEYA_ASSIGN_OR_RETURN(splits_, NumbersAttribute(attributes_, "nodes_values"));
    const size_t count = ids_.size();
    KHEYA_RETURN_IF_ERROR(CheckLength("nodes_treeids", trees_.size(), count));
    KHEYA_RETURN_IF_ERROR(CheckLength("nodes_modes", modes_.size(), count));
    KHEYA_RETURN_IF_ERROR(CheckLength("nodes_featureids", features_.size(), count));
    KHEYA_RETURN_IF_ERROR(CheckLength("nodes_truenodeids", if_true_.size(), count));
    KHEYA_RETURN_IF_ERROR(CheckLength("nodes_falsenodeids", if_false_.size(), count));
    KHEYA_RETURN_IF_ERROR(CheckLength("nodes_values", splits_.size(), count));
    if (missing_.empty()) missing_.assign(count, 0);
    return CheckLength("nodes_missing_value_tracks_true", missing_.size(), count);
  }

  // Gives every node its place: as a child, of the nodes or of the leaves.
  Status IndexNodes() {
    int64_t nodes = 0;
    int64_t leaves = 0;
    for (size_t i = 0; i < ids_.size(); ++i) {
      const int64_t place = modes_[i] == "LEAF" ? ~leaves++ : nodes++;
      if (!places_.emplace(NodeKey(trees_[i], ids_[i]), place).second) {
        return InvalidArgumentError("found node {} of tree {} twice", ids_[i], trees_[i]);
      }
    }
    ensemble_.leaves.resize(static_cast<size_t>(leaves));
    return OkStatus();
  }

  Result<int64_t> Child(size_t i, int64_t id) {
    const auto found = places_.find({trees_[i], id});
    if (found != places_.end()) {
      children_.insert({trees_[i], id});
      return found->second;
    }
    return InvalidArgumentError("found no node {} of tree {}, a child of node {}", id, trees_[i],
                                ids_[i]);
  }

  Status LinkNodes() {
    for (size_t i = 0; i < ids_.size(); ++i) {
      if (modes_[i] == "LEAF") continue;
      TreeNode node;
      KHEYA_ASSIGN_OR_RETURN(node.test, TestOf(modes_[i]));
      node.missing_is_true = missing_[i] != 0;
      node.feature = features_[i];
      node.split = splits_[i];
      KHEYA_ASSIGN_OR_RETURN(node.if_true, Child(i, if_true_[i]));
      KHEYA_ASSIGN_OR_RETURN(node.if_false, Child(i, if_false_[i]));
      ensemble_.nodes.push_back(node);
    }
    // A root is nobody's child.
    std::map<int64_t, int> roots;
    for (size_t i = 0; i < ids_.size(); ++i) {
      const bool root = !children_.contains({trees_[i], ids_[i]});
      if (root) ensemble_.roots.push_back(places_[{trees_[i], ids_[i]}]);
      roots[trees_[i]] += root ? 1 : 0;
    }
    for (const auto& [tree, count] : roots) {
      if (count == 1) continue;
      return InvalidArgumentError("found {} roots of tree {}, expected 1", count, tree);
    }
    return OkStatus();
  }

  // What leaves add, sorted by leaf.
  Status ReadWeights() {
    const std::vector<int64_t> trees = attributes_.Ints(prefix_ + "_treeids");
    const std::vector<int64_t> nodes = attributes_.Ints(prefix_ + "_nodeids");
    const std::vector<int64_t> targets = attributes_.Ints(prefix_ + "_ids");
    KHEYA_ASSIGN_OR_RETURN(const std::vector<double> weights,
                           NumbersAttribute(attributes_, prefix_ + "_weights"));
    KHEYA_RETURN_IF_ERROR(CheckLength("nodeids of weights", nodes.size(), trees.size()));
    KHEYA_RETURN_IF_ERROR(CheckLength("ids of weights", targets.size(), trees.size()));
    KHEYA_RETURN_IF_ERROR(CheckLength("weights", weights.size(), trees.size()));
    std::multimap<int64_t, kernels::TreeWeight> by_leaf;
    for (size_t i = 0; i < trees.size(); ++i) {
      const auto found = places_.find({trees[i], nodes[i]});
      if (found == places_.end()) {
        return InvalidArgumentError("found a weight of node {} of tree {}, which is not there",
                                    nodes[i], trees[i]);
      }
      // Some converters give inner nodes weights too, which no row reaches.
      if (found->second < 0) by_leaf.insert({~found->second, {targets[i], weights[i]}});
    }
    for (const auto& [leaf, weight] : by_leaf) {
      kernels::TreeLeaf& entry = ensemble_.leaves[leaf];
      if (entry.num_weights++ == 0) {
        entry.first_weight = static_cast<int64_t>(ensemble_.weights.size());
      }
      ensemble_.weights.push_back(weight);
    }
    return OkStatus();
  }

  const AttributeReader& attributes_;
  const std::string prefix_;
  std::vector<int64_t> trees_, ids_, features_, if_true_, if_false_, missing_;
  std::vector<std::string> modes_;
  std::vector<double> splits_;
  std::map<NodeKey, int64_t> places_;
  std::set<NodeKey> children_;
  TreeEnsemble ensemble_;
};

Result<std::vector<double>> TensorNumbers(const AttributeReader& attributes, const char* name) {
  const Tensor* tensor = attributes.TensorOrNull(name);
  if (tensor == nullptr) return std::vector<double>();
  KHEYA_ASSIGN_OR_RETURN(const Tensor aligned, tensor->Aligned());
  return kernels::NumbersOf(aligned.view());
}

// Members are sets one after the other, each ended by a NaN.
Status TakeMembers(const std::vector<double>& members, size_t& next, TreeNode& node) {
  node.first_member = static_cast<int64_t>(next);
  while (next < members.size() && !std::isnan(members[next])) ++next;
  node.num_members = static_cast<int64_t>(next) - node.first_member;
  if (node.first_member >= static_cast<int64_t>(members.size())) {
    return InvalidArgumentError("found no members in membership_values for a node");
  }
  ++next;
  return OkStatus();
}

}  // namespace

Result<std::vector<double>> NumbersAttribute(const AttributeReader& attributes,
                                             const std::string& name) {
  KHEYA_ASSIGN_OR_RETURN(std::vector<double> numbers,
                         TensorNumbers(attributes, (name + "_as_tensor").c_str()));
  const std::vector<float> floats = attributes.Floats(name);
  if (!numbers.empty() && !floats.empty()) {
    return InvalidArgumentError("found {} and {}_as_tensor, expected one", name, name);
  }
  if (numbers.empty()) numbers.assign(floats.begin(), floats.end());
  return numbers;
}

Result<TreeEnsemble> ReadTrees(const AttributeReader& attributes, const std::string& prefix) {
  return TreeReader(attributes, prefix).Read();
}

Result<TreeEnsemble> ReadIndexedTrees(const AttributeReader& attributes) {
  TreeEnsemble ensemble;
  const std::vector<int64_t> features = attributes.Ints("nodes_featureids");
  const size_t count = features.size();
  KHEYA_ASSIGN_OR_RETURN(const std::vector<double> modes, TensorNumbers(attributes, "nodes_modes"));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<double> splits,
                         TensorNumbers(attributes, "nodes_splits"));
  KHEYA_ASSIGN_OR_RETURN(ensemble.members, TensorNumbers(attributes, "membership_values"));
  const std::vector<int64_t> if_true = attributes.Ints("nodes_truenodeids");
  const std::vector<int64_t> if_false = attributes.Ints("nodes_falsenodeids");
  const std::vector<int64_t> true_leafs = attributes.Ints("nodes_trueleafs");
  const std::vector<int64_t> false_leafs = attributes.Ints("nodes_falseleafs");
  std::vector<int64_t> missing = attributes.Ints("nodes_missing_value_tracks_true");
  if (missing.empty()) missing.assign(count, 0);
  KHEYA_RETURN_IF_ERROR(CheckLength("nodes_modes", modes.size(), count));
  KHEYA_RETURN_IF_ERROR(CheckLength("nodes_splits", splits.size(), count));
  KHEYA_RETURN_IF_ERROR(CheckLength("nodes_truenodeids", if_true.size(), count));
  KHEYA_RETURN_IF_ERROR(CheckLength("nodes_falsenodeids", if_false.size(), count));
  KHEYA_RETURN_IF_ERROR(CheckLength("nodes_trueleafs", true_leafs.size(), count));
  KHEYA_RETURN_IF_ERROR(CheckLength("nodes_falseleafs", false_leafs.size(), count));
  KHEYA_RETURN_IF_ERROR(CheckLength("nodes_missing_value_tracks_true", missing.size(), count));
  size_t next_member = 0;
  for (size_t i = 0; i < count; ++i) {
    constexpr double kLastMode = 6;
    if (!(modes[i] >= 0 && modes[i] <= kLastMode)) {
      return InvalidArgumentError("found node mode {}, expected 0 to 6", modes[i]);
    }
    TreeNode node;
    node.test = static_cast<TreeTest>(static_cast<int>(modes[i]));
    node.missing_is_true = missing[i] != 0;
    node.feature = features[i];
    node.split = splits[i];
    node.if_true = true_leafs[i] != 0 ? ~if_true[i] : if_true[i];
    node.if_false = false_leafs[i] != 0 ? ~if_false[i] : if_false[i];
    if (if_true[i] < 0 || if_false[i] < 0) {
      return InvalidArgumentError("found a negative child of node {}", i);
    }
    if (node.test == TreeTest::kMember) {
      KHEYA_RETURN_IF_ERROR(TakeMembers(ensemble.members, next_member, node));
    }
    ensemble.nodes.push_back(node);
  }
  const std::vector<int64_t> targets = attributes.Ints("leaf_targetids");
  KHEYA_ASSIGN_OR_RETURN(const std::vector<double> weights,
                         TensorNumbers(attributes, "leaf_weights"));
  KHEYA_RETURN_IF_ERROR(CheckLength("leaf_weights", weights.size(), targets.size()));
  for (size_t i = 0; i < targets.size(); ++i) {
    ensemble.leaves.push_back({static_cast<int64_t>(i), 1});
    ensemble.weights.push_back({targets[i], weights[i]});
  }
  ensemble.roots = attributes.Ints("tree_roots");
  for (int64_t root : ensemble.roots) {
    if (root < 0) return InvalidArgumentError("found root {} of a tree", root);
  }
  return ensemble;
}

}  // namespace kheya::ml
