// Ensembles of decision trees.
#ifndef KHEYA_KERNELS_REFERENCE_TREES_H_
#define KHEYA_KERNELS_REFERENCE_TREES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "kernels/reference/scores.h"

namespace kheya::kernels {

enum class TreeTest : uint8_t { kLeq, kLt, kGte, kGt, kEq, kNeq, kMember };

// Which way a node sends a row: to `if_true` when feature `test` split. A child that is 0 or more
// is a node, otherwise ~child is a leaf.
struct TreeNode {
  TreeTest test = TreeTest::kLeq;
  bool missing_is_true = false;  // where NaN goes
  int64_t feature = 0;
  double split = 0;
  int64_t first_member = 0;  // of TreeEnsemble::members, for kMember
  int64_t num_members = 0;
  int64_t if_true = 0;
  int64_t if_false = 0;
};

// What a leaf adds to a target.
struct TreeWeight {
  int64_t target = 0;
  double weight = 0;
};

struct TreeLeaf {
  int64_t first_weight = 0;
  int64_t num_weights = 0;
};

enum class TreeAggregate : uint8_t { kAverage, kSum, kMin, kMax };

struct TreeEnsemble {
  std::vector<TreeNode> nodes;
  std::vector<TreeLeaf> leaves;
  std::vector<TreeWeight> weights;
  std::vector<double> members;
  std::vector<int64_t> roots;  // as children
  int64_t num_targets = 1;
  TreeAggregate aggregate = TreeAggregate::kSum;
};

// InvalidArgument unless every child, feature below `num_features`, weight and target is there and
// every node has one parent or is one root: then no walk is longer than the number of nodes.
Status CheckTrees(const TreeEnsemble& ensemble, int64_t num_features);

// The targets of one row, of an ensemble that was checked; `reached` (empty or num_targets
// elements) tells which targets any leaf added to. Sums are kept in double.
void EvaluateTrees(const TreeEnsemble& ensemble, std::span<const double> row,
                   std::span<double> targets, std::vector<bool>& reached);

// What becomes of the targets of a row.
struct TreeScoring {
  std::vector<double> base = {};  // added before anything else; empty: zeros
  PostTransform transform = PostTransform::kNone;
  bool classifies = false;
  // Two classes of which the trees score one: what is over the middle is the second.
  bool one_scored = false;
  int64_t scored = 0;   // the target that has the score
  bool shares = false;  // no weight is negative: the score is a share, with 0.5 in the middle
};

// The scoring of a classifier with `classes` targets.
TreeScoring ClassifierScoring(const TreeEnsemble& ensemble, size_t classes);

// Makes the targets of one row what is given out; returns the class where there are classes.
size_t Score(const TreeScoring& scoring, std::span<double> targets);

struct TreeModel {
  TreeEnsemble ensemble;
  TreeScoring scoring;
};

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_TREES_H_
