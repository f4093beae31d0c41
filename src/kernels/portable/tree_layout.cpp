#include "kernels/portable/tree_layout.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <utility>

namespace kheya {
namespace {

using kernels::TreeEnsemble;
using kernels::TreeNode;
using kernels::TreeTest;

constexpr uint32_t kBlock = 8;  // nodes
constexpr size_t kMostNodes = size_t{1} << 30;

// The key of the largest float32 that is at most `split`. Denormal numbers count as zero, as they
// do in every run.
uint32_t KeyUpTo(double split) {
  if (std::abs(split) < std::numeric_limits<float>::min()) split = 0;
  auto number = static_cast<float>(split);
  if (number > split) number = std::nextafter(number, -std::numeric_limits<float>::infinity());
  return TreeKey(number);
}

// True where x below `split` alone is meant, not at it.
bool IsStrict(TreeTest test) { return test == TreeTest::kLt || test == TreeTest::kGte; }
// True where the test is the opposite of the one that x <= split stands for.
bool IsOpposite(TreeTest test) { return test == TreeTest::kGt || test == TreeTest::kGte; }

// What a column is above where x is not below `node.split` (or at it).
Result<uint32_t> SplitOf(const TreeNode& node) {
  if (std::isnan(node.split)) return UnimplementedError("a split that is NaN");
  if (node.test != TreeTest::kLeq && !IsStrict(node.test) && !IsOpposite(node.test)) {
    return UnimplementedError("a test of equality");
  }
  const uint32_t key = KeyUpTo(node.split);
  // Between two float32 nothing is at the split itself.
  const bool there = std::isinf(node.split) || double{static_cast<float>(node.split)} == node.split;
  return IsStrict(node.test) && there ? key - 1 : key;
}

class Builder {
 public:
  explicit Builder(const TreeEnsemble& ensemble) : ensemble_(ensemble) {}

  Result<TreeLayout> Build() {
    if (ensemble_.nodes.size() > kMostNodes / kBlock ||
        ensemble_.roots.size() > kMostNodes / kBlock) {
      return UnimplementedError("over {} nodes", kMostNodes / kBlock);
    }
    FindColumns();
    for (int64_t root : ensemble_.roots) KHEYA_RETURN_IF_ERROR(AddTree(root));
    return std::move(layout_);
  }

 private:
  // Two children that lie side by side, of the node at `parent`.
  struct Pair {
    uint32_t parent;
    std::array<int64_t, 2> children;
  };

  static uint32_t MissingKey(const TreeNode& node) {
    return node.missing_is_true != IsOpposite(node.test) ? kLowestKey : kHighestKey;
  }

  void FindColumns() {
    for (const TreeNode& node : ensemble_.nodes) {
      columns_.try_emplace({node.feature, MissingKey(node)}, 0);
    }
    for (auto& [key, place] : columns_) {
      place = static_cast<uint32_t>(layout_.columns.size());
      layout_.columns.push_back({key.first, key.second});
    }
  }

  Status AddTree(int64_t root) {
    WalkTree tree;
    KHEYA_RETURN_IF_ERROR(Inspect(root, &tree));
    by_leaf_ = tree.target < 0;
    uint32_t end = 0;
    tree.root = NewBlock(&end);
    uint32_t place = tree.root + 2;  // the root has a pair to itself
    std::deque<Pair> near;
    KHEYA_RETURN_IF_ERROR(Put(tree.root, root, &near));
    std::vector<Pair> far;
    while (true) {
      KHEYA_RETURN_IF_ERROR(FillBlock(place, end, near));
      far.insert(far.end(), near.rbegin(), near.rend());
      near.clear();
      if (far.empty()) break;
      near.push_back(far.back());
      far.pop_back();
      // Leaves share a block with the next ones.
      while (near.size() < kBlock / 2 && !far.empty() && IsLeaves(near.back()) &&
             IsLeaves(far.back())) {
        near.push_back(far.back());
        far.pop_back();
      }
      place = NewBlock(&end);
    }
    layout_.trees.push_back(tree);
    return OkStatus();
  }

  // Depth, and the target where all leaves have one weight, of the same target.
  Status Inspect(int64_t root, WalkTree* tree) {
    std::vector<std::pair<int64_t, uint32_t>> open = {{root, 0}};
    bool alike = true;
    while (!open.empty()) {
      const auto [at, depth] = open.back();
      open.pop_back();
      tree->depth = std::max(tree->depth, depth);
      if (at >= 0) {
        open.emplace_back(ensemble_.nodes[at].if_true, depth + 1);
        open.emplace_back(ensemble_.nodes[at].if_false, depth + 1);
        continue;
      }
      const kernels::TreeLeaf& leaf = ensemble_.leaves[~at];
      if (leaf.num_weights != 1) {
        alike = false;
        continue;
      }
      const kernels::TreeWeight& weight = ensemble_.weights[leaf.first_weight];
      const bool exact = double{static_cast<float>(weight.weight)} == weight.weight;
      if (tree->target < 0) tree->target = weight.target;
      alike = alike && exact && weight.target == tree->target;
    }
    if (!alike) tree->target = -1;
    return OkStatus();
  }

  uint32_t NewBlock(uint32_t* end) {
    const auto begin = static_cast<uint32_t>(layout_.nodes.size());
    // Nodes that are not reached are leaves.
    const WalkNode unused{0, static_cast<uint32_t>(layout_.columns.size()), 0};
    layout_.nodes.resize(begin + kBlock, unused);
    *end = begin + kBlock;
    return begin;
  }

  bool IsLeaves(const Pair& pair) const { return pair.children[0] < 0 && pair.children[1] < 0; }

  // Places pairs, nearest to the root first. The last place of a block is for leaves, or for a
  // subtree of which nothing would be left outside.
  Status FillBlock(uint32_t place, uint32_t end, std::deque<Pair>& near) {
    while (place < end && !near.empty()) {
      auto next = near.begin();
      if (place + 2 == end && near.size() > 1) {
        next =
            std::find_if(near.begin(), near.end(), [this](const Pair& p) { return IsLeaves(p); });
        if (next == near.end()) return OkStatus();
      }
      const Pair pair = *next;
      near.erase(next);
      layout_.nodes[pair.parent].next = place - pair.parent;
      KHEYA_RETURN_IF_ERROR(Put(place, pair.children[0], &near));
      KHEYA_RETURN_IF_ERROR(Put(place + 1, pair.children[1], &near));
      place += 2;
    }
    return OkStatus();
  }

  Status Put(uint32_t place, int64_t child, std::deque<Pair>* near) {
    WalkNode& target = layout_.nodes[place];
    if (child < 0) {
      const kernels::TreeLeaf& leaf = ensemble_.leaves[~child];
      target.split = by_leaf_ ? static_cast<uint32_t>(~child)
                              : std::bit_cast<uint32_t>(static_cast<float>(
                                    ensemble_.weights[leaf.first_weight].weight));
      return OkStatus();
    }
    const TreeNode& node = ensemble_.nodes[child];
    KHEYA_ASSIGN_OR_RETURN(target.split, SplitOf(node));
    target.column = columns_.at({node.feature, MissingKey(node)});
    std::array<int64_t, 2> children = {node.if_true, node.if_false};
    if (IsOpposite(node.test)) std::swap(children[0], children[1]);
    near->push_back({place, children});
    return OkStatus();
  }

  const TreeEnsemble& ensemble_;
  TreeLayout layout_;
  std::map<std::pair<int64_t, uint32_t>, uint32_t> columns_;
  bool by_leaf_ = false;
};

}  // namespace

Result<TreeLayout> LayOutTrees(const TreeEnsemble& ensemble) { return Builder(ensemble).Build(); }

}  // namespace kheya
