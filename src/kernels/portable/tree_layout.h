// Trees in the order of memory in which they are walked.
#ifndef KHEYA_KERNELS_PORTABLE_TREE_LAYOUT_H_
#define KHEYA_KERNELS_PORTABLE_TREE_LAYOUT_H_

#include <bit>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "kernels/reference/trees.h"

namespace kheya {

// A row becomes columns of keys: numbers whose order is that of the features, so that a NaN has a
// place too, below or above all others. Where some nodes send NaN to the left and some to the
// right, a feature has two columns. The last column is 0 in every row: no leaf's number is below
// it, so that a walk stays at a leaf.
struct TreeColumn {
  int64_t feature = 0;
  uint32_t missing = 0;  // the key of a NaN: kLowestKey or kHighestKey
};
inline constexpr uint32_t kLowestKey = 0;
inline constexpr uint32_t kHighestKey = 0xffffffff;

// The place of a number that is no NaN in the order of all; both zeros have the same.
inline uint32_t TreeKey(float number) {
  const auto bits = std::bit_cast<uint32_t>(number + 0.0f);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

// A row goes from node i to i + next, and to the node behind that where split < its column.
// Leaves have next 0, and their number as split: the bits of the weight where a leaf has one alone,
// else its index.
struct WalkNode {
  uint32_t split = 0;
  uint32_t column = 0;
  uint32_t next = 0;
};

struct WalkTree {
  uint32_t root = 0;
  uint32_t depth = 0;   // the most steps to a leaf
  int64_t target = -1;  // that all leaves add their number to; -1: leaves have weights of their own
};

// Nodes in blocks of 8, each block the top of a subtree: a step down seldom leaves a line of cache.
struct TreeLayout {
  std::vector<WalkNode> nodes;
  std::vector<WalkTree> trees;
  std::vector<TreeColumn> columns;
};

// Every test becomes split < column on float32 rows, with the same answer for each number that is
// not denormal. Unimplemented for tests of equality, splits that are NaN and sizes beyond 2^31.
Result<TreeLayout> LayOutTrees(const kernels::TreeEnsemble& ensemble);

}  // namespace kheya

#endif  // KHEYA_KERNELS_PORTABLE_TREE_LAYOUT_H_
