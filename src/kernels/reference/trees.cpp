#include "kernels/reference/trees.h"

#include <algorithm>
#include <cmath>

namespace kheya::kernels {
namespace {

bool Passes(const TreeEnsemble& ensemble, const TreeNode& node, double value) {
  if (std::isnan(value)) return node.missing_is_true || node.test == TreeTest::kNeq;
  switch (node.test) {
    case TreeTest::kLeq:
      return value <= node.split;
    case TreeTest::kLt:
      return value < node.split;
    case TreeTest::kGte:
      return value >= node.split;
    case TreeTest::kGt:
      return value > node.split;
    case TreeTest::kEq:
      return value == node.split;
    case TreeTest::kNeq:
      return value != node.split;
    case TreeTest::kMember: {
      const auto members = std::span(ensemble.members).subspan(node.first_member, node.num_members);
      return std::ranges::find(members, value) != members.end();
    }
  }
  return false;
}

// Counts a use of a child; a node is used once.
Status CheckChild(const TreeEnsemble& ensemble, int64_t child, std::vector<bool>& used) {
  if (child < 0) {
    if (~child < static_cast<int64_t>(ensemble.leaves.size())) return OkStatus();
    return InvalidArgumentError("found leaf {} of a tree, expected one of {}", ~child,
                                ensemble.leaves.size());
  }
  if (child >= static_cast<int64_t>(ensemble.nodes.size())) {
    return InvalidArgumentError("found node {} of a tree, expected one of {}", child,
                                ensemble.nodes.size());
  }
  if (used[child]) return InvalidArgumentError("found two ways to node {} of a tree", child);
  used[child] = true;
  return OkStatus();
}

// A node that no root leads to is in a circle, or somebody forgot its parent.
Status CheckReached(const TreeEnsemble& ensemble) {
  std::vector<int64_t> open = ensemble.roots;
  size_t reached = 0;
  while (!open.empty()) {
    const int64_t at = open.back();
    open.pop_back();
    if (at < 0) continue;
    ++reached;
    open.push_back(ensemble.nodes[at].if_true);
    open.push_back(ensemble.nodes[at].if_false);
  }
  if (reached == ensemble.nodes.size()) return OkStatus();
  return InvalidArgumentError("found {} nodes of trees that no root leads to",
                              ensemble.nodes.size() - reached);
}

void Add(TreeAggregate aggregate, bool first, double weight, double& target) {
  if (first) {
    target = weight;
  } else if (aggregate == TreeAggregate::kMin) {
    target = std::min(target, weight);
  } else if (aggregate == TreeAggregate::kMax) {
    target = std::max(target, weight);
  } else {
    target += weight;
  }
}

}  // namespace

Status CheckTrees(const TreeEnsemble& ensemble, int64_t num_features) {
  std::vector<bool> used(ensemble.nodes.size(), false);
  for (int64_t root : ensemble.roots) {
    KHEYA_RETURN_IF_ERROR(CheckChild(ensemble, root, used));
  }
  for (const TreeNode& node : ensemble.nodes) {
    KHEYA_RETURN_IF_ERROR(CheckChild(ensemble, node.if_true, used));
    KHEYA_RETURN_IF_ERROR(CheckChild(ensemble, node.if_false, used));
    if (node.feature < 0 || node.feature >= num_features) {
      return InvalidArgumentError("found feature {} in a tree, expected one of {}", node.feature,
                                  num_features);
    }
  }
  for (const TreeWeight& weight : ensemble.weights) {
    if (weight.target >= 0 && weight.target < ensemble.num_targets) continue;
    return InvalidArgumentError("found target {} of a leaf, expected one of {}", weight.target,
                                ensemble.num_targets);
  }
  return CheckReached(ensemble);
}

void EvaluateTrees(const TreeEnsemble& ensemble, std::span<const double> row,
                   std::span<double> targets, std::vector<bool>& reached) {
  std::ranges::fill(targets, 0.0);
  reached.assign(targets.size(), false);
  for (int64_t at : ensemble.roots) {
    while (at >= 0) {
      const TreeNode& node = ensemble.nodes[at];
      at = Passes(ensemble, node, row[node.feature]) ? node.if_true : node.if_false;
    }
    const TreeLeaf& leaf = ensemble.leaves[~at];
    for (int64_t i = 0; i < leaf.num_weights; ++i) {
      const TreeWeight& weight = ensemble.weights[leaf.first_weight + i];
      Add(ensemble.aggregate, !reached[weight.target], weight.weight, targets[weight.target]);
      reached[weight.target] = true;
    }
  }
  if (ensemble.aggregate != TreeAggregate::kAverage || ensemble.roots.empty()) return;
  for (double& target : targets) target /= static_cast<double>(ensemble.roots.size());
}

TreeScoring ClassifierScoring(const TreeEnsemble& ensemble, size_t classes) {
  const auto& weights = ensemble.weights;
  TreeScoring scoring;
  scoring.classifies = true;
  scoring.one_scored =
      classes == 2 && !weights.empty() && std::ranges::all_of(weights, [&](const TreeWeight& each) {
        return each.target == weights[0].target;
      });
  if (scoring.one_scored) scoring.scored = weights[0].target;
  scoring.shares =
      std::ranges::all_of(weights, [](const TreeWeight& each) { return each.weight >= 0; });
  return scoring;
}

size_t Score(const TreeScoring& scoring, std::span<double> targets) {
  if (scoring.one_scored) {
    double score = targets[static_cast<size_t>(scoring.scored)];
    if (!scoring.base.empty()) score += scoring.base.back();
    std::ranges::copy(BothScores(scoring.transform, scoring.shares, score), targets.begin());
    return score > (scoring.shares ? 0.5 : 0.0) ? 1 : 0;
  }
  for (size_t i = 0; i < scoring.base.size(); ++i) targets[i] += scoring.base[i];
  const size_t label = scoring.classifies ? IndexOfLargest(targets) : 0;
  Transform(scoring.transform, targets);
  return label;
}

}  // namespace kheya::kernels
