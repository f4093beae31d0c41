// Ensembles of trees. Several walks go on at once, so that each waits for its memory while the
// others step: of one tree down several rows, or of several trees down one row. Sums are kept in
// double in the order of the trees, as the reference keeps them: the answers are the same.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "kernels/portable/rows.h"
#include "kernels/portable/tree_layout.h"

namespace kheya {
namespace {

constexpr int kWalks = 8;
constexpr int64_t kMostTargets = 4096;
constexpr int64_t kMostColumns = 1 << 16;

// A node in 8 bytes, where columns and steps are few. `column` is a place in a group of columns.
struct SmallNode {
  uint32_t split;
  uint16_t column;
  uint16_t next;
};

struct LargeNode {
  uint32_t split;
  uint32_t column;
  uint32_t next;
  uint32_t unused;
};

bool FitsSmall(const TreeLayout& layout) {
  constexpr uint32_t kMost = std::numeric_limits<uint16_t>::max();
  return layout.columns.size() < kMost / kWalks &&
         std::ranges::all_of(layout.nodes, [](const WalkNode& node) { return node.next <= kMost; });
}

void PackNode(const WalkNode& node, SmallNode* to) {
  *to = {node.split, static_cast<uint16_t>(node.column * kWalks), static_cast<uint16_t>(node.next)};
}
void PackNode(const WalkNode& node, LargeNode* to) {
  *to = {node.split, node.column * kWalks, node.next, 0};
}

using Walks = std::array<uint32_t, kWalks>;  // places in trees

// Kept apart: its places and pointers need all registers. Walk i goes by keys[column * kWalks + i],
// or by keys[column * kWalks] where all have one row.
template <bool kOneRow, typename Node>
[[gnu::noinline]] void Steps(const Node* nodes, const uint32_t* keys, uint32_t count,
                             Walks* walks) {
  Walks at = *walks;
  for (uint32_t step = 0; step < count; ++step) {
    for (int i = 0; i < kWalks; ++i) {
      const Node& node = nodes[at[i]];
      const uint32_t next = at[i] + node.next;
      at[i] = next + (node.split < keys[node.column + (kOneRow ? 0 : i)] ? 1 : 0);
    }
  }
  *walks = at;
}

// To the leaves, at most `depth` steps away.
template <bool kOneRow, typename Node>
inline void Descend(const Node* nodes, const uint32_t* keys, uint32_t depth, Walks* walks) {
  constexpr uint32_t kEven = 8;  // trees up to this depth are walked without looking for leaves
  constexpr uint32_t kSome = 4;
  Steps<kOneRow>(nodes, keys, std::min(depth, kEven), walks);
  for (uint32_t done = kEven; done < depth; done += kSome) {
    uint32_t open = 0;
    for (const uint32_t at : *walks) open |= nodes[at].next;
    if (open == 0) return;
    Steps<kOneRow>(nodes, keys, kSome, walks);
  }
}

// What is left of the model beside the nodes.
struct TreesState {
  std::vector<WalkTree> trees;
  std::vector<TreeColumn> columns;
  kernels::TreeScoring scoring;
  std::vector<kernels::TreeLeaf> leaves;     // where some tree's leaves have weights of their own
  std::vector<kernels::TreeWeight> weights;  // of those leaves
  std::vector<int64_t> labels;
  int64_t num_targets = 1;
  bool average = false;
};

template <typename Node>
class TreesKernel : public PreparedKernel {
 public:
  TreesKernel(const KernelCall& call, TreesState state, std::shared_ptr<const Buffer> nodes)
      : state_(std::move(state)),
        packed_(std::move(nodes)),
        nodes_(reinterpret_cast<const Node*>(packed_->data())),
        gives_labels_(state_.scoring.classifies && call.outputs[0].present()) {
    const Shape& x = call.inputs[0].shape;
    rows_ = x.rank() == 2 ? x[0] : 1;
    features_ = x[x.rank() - 1];
    pitch_ = static_cast<int64_t>(state_.columns.size()) + 1;
    constexpr int64_t kBlockBytes = 16 * 1024;
    const int64_t group_bytes = kWalks * (pitch_ * 4 + state_.num_targets * 8);
    const int64_t groups = (rows_ + kWalks - 1) / kWalks;
    block_ = std::clamp<int64_t>(kBlockBytes / group_bytes, 1, std::max<int64_t>(groups, 1));
    double steps = 1;
    for (const WalkTree& tree : state_.trees) steps += tree.depth + 1;
    constexpr double kLeastSteps = 100e3;
    slices_ = SlicesFor(steps * static_cast<double>(rows_), kLeastSteps, groups);
  }

  int64_t slices() const override { return slices_; }
  size_t workspace_bytes() const override { return static_cast<size_t>(slices_) * SliceBytes(); }

  Status Run(const KernelArgs& args) const override {
    std::byte* own = args.workspace + static_cast<size_t>(args.slice) * SliceBytes();
    auto* sums = reinterpret_cast<double*>(own);
    auto* keys = reinterpret_cast<uint32_t*>(sums + block_ * kWalks * state_.num_targets);
    const SliceRange range = RangeOf(args.slice, slices_, (rows_ + kWalks - 1) / kWalks);
    for (int64_t group = range.begin; group < range.end; group += block_) {
      const int64_t first = group * kWalks;
      const int64_t end = std::min(rows_, std::min(group + block_, range.end) * kWalks);
      FillKeys(InputF32(args, 0) + first * features_, end - first, keys);
      std::fill_n(sums, (end - first) * state_.num_targets, 0.0);
      const int64_t whole = (end - first) / kWalks;
      if (whole > 0) WalkRows(keys, whole, sums);
      for (int64_t row = whole * kWalks; row < end - first; ++row) {
        const uint32_t* own_keys = keys + whole * kWalks * pitch_ + row % kWalks;
        WalkTrees(own_keys, sums + row * state_.num_targets);
      }
      GiveScores(args, first, end - first, sums);
    }
    return OkStatus();
  }

 private:
  size_t SliceBytes() const {
    const auto bytes = static_cast<size_t>(block_ * kWalks * (state_.num_targets * 8 + pitch_ * 4));
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  // Groups of kWalks rows, column by column.
  void FillKeys(const float* x, int64_t count, uint32_t* keys) const {
    for (int64_t row = 0; row < count; ++row, x += features_) {
      uint32_t* own = keys + row / kWalks * kWalks * pitch_ + row % kWalks;
      for (const TreeColumn& column : state_.columns) {
        const float value = x[column.feature];
        *own = std::isnan(value) ? column.missing : TreeKey(value);
        own += kWalks;
      }
      *own = kLowestKey;
    }
  }

  void AddLeaf(const WalkTree& tree, uint32_t at, double* sums) const {
    const uint32_t number = nodes_[at].split;
    if (tree.target >= 0) {
      sums[tree.target] += double{std::bit_cast<float>(number)};
      return;
    }
    const kernels::TreeLeaf& leaf = state_.leaves[number];
    for (int64_t i = 0; i < leaf.num_weights; ++i) {
      const kernels::TreeWeight& weight = state_.weights[leaf.first_weight + i];
      sums[weight.target] += weight.weight;
    }
  }

  // Each tree down kWalks rows at a time.
  void WalkRows(const uint32_t* keys, int64_t groups, double* sums) const {
    for (const WalkTree& tree : state_.trees) {
      for (int64_t group = 0; group < groups; ++group) {
        Walks walks;
        walks.fill(tree.root);
        Descend<false>(nodes_, keys + group * kWalks * pitch_, tree.depth, &walks);
        double* own = sums + group * kWalks * state_.num_targets;
        for (int i = 0; i < kWalks; ++i) AddLeaf(tree, walks[i], own + i * state_.num_targets);
      }
    }
  }

  // kWalks trees at a time down one row.
  void WalkTrees(const uint32_t* keys, double* sums) const {
    const std::vector<WalkTree>& trees = state_.trees;
    for (size_t first = 0; first < trees.size(); first += kWalks) {
      const size_t count = std::min<size_t>(kWalks, trees.size() - first);
      Walks walks;
      uint32_t depth = 0;
      for (size_t i = 0; i < kWalks; ++i) {
        const WalkTree& tree = trees[first + (i < count ? i : 0)];
        walks[i] = tree.root;
        depth = std::max(depth, tree.depth);
      }
      Descend<true>(nodes_, keys, depth, &walks);
      for (size_t i = 0; i < count; ++i) AddLeaf(trees[first + i], walks[i], sums);
    }
  }

  void GiveScores(const KernelArgs& args, int64_t first, int64_t count, double* sums) const {
    const int64_t targets = state_.num_targets;
    const size_t scores_at = state_.scoring.classifies ? 1 : 0;
    auto* scores = args.outputs.size() > scores_at
                       ? reinterpret_cast<float*>(args.outputs[scores_at])
                       : nullptr;
    auto* labels = gives_labels_ ? reinterpret_cast<int64_t*>(args.outputs[0]) : nullptr;
    const auto trees = static_cast<double>(std::max<size_t>(state_.trees.size(), 1));
    for (int64_t row = 0; row < count; ++row) {
      const std::span<double> own(sums + row * targets, static_cast<size_t>(targets));
      if (state_.average) {
        for (double& sum : own) sum /= trees;
      }
      const size_t label = kernels::Score(state_.scoring, own);
      if (labels != nullptr) labels[first + row] = state_.labels[label];
      if (scores == nullptr) continue;
      float* out = scores + (first + row) * targets;
      for (int64_t i = 0; i < targets; ++i) out[i] = static_cast<float>(own[i]);
    }
  }

  const TreesState state_;
  const std::shared_ptr<const Buffer> packed_;
  const Node* const nodes_;
  const bool gives_labels_;
  int64_t rows_ = 0;
  int64_t features_ = 0;
  int64_t pitch_ = 0;  // columns of a row
  int64_t block_ = 1;  // groups of kWalks rows whose keys and sums are at hand
  int64_t slices_ = 1;
};

// The nodes in memory, shared by all calls of the same ensemble.
template <typename Node>
Result<std::shared_ptr<const Buffer>> PackNodes(const TreeLayout& layout, PackCache* cache) {
  const auto budget = cache != nullptr ? cache->budget() : nullptr;
  const Shape shape{static_cast<int64_t>(layout.nodes.size() * sizeof(Node))};
  KHEYA_ASSIGN_OR_RETURN(Tensor packed, Tensor::Allocate(DType::kUint8, shape, budget));
  auto* to = static_cast<Node*>(packed.mutable_view().data);
  for (size_t i = 0; i < layout.nodes.size(); ++i) PackNode(layout.nodes[i], to + i);
  const auto copy = [&]() -> Result<Buffer> {
    KHEYA_ASSIGN_OR_RETURN(Buffer buffer, Buffer::Allocate(packed.num_bytes(), budget));
    if (packed.num_bytes() > 0) {
      std::memcpy(buffer.data(), packed.bytes().data(), packed.num_bytes());
    }
    return buffer;
  };
  if (cache != nullptr) {
    return cache->Share(packed, fmt::format("trees:{}", sizeof(Node)), packed.num_bytes(), copy);
  }
  KHEYA_ASSIGN_OR_RETURN(Buffer buffer, copy());
  return std::make_shared<const Buffer>(std::move(buffer));
}

template <typename Node>
Result<std::shared_ptr<const PreparedKernel>> MakeKernel(const KernelCall& call,
                                                         const TreeLayout& layout, TreesState state,
                                                         const PrepareContext& context) {
  KHEYA_ASSIGN_OR_RETURN(std::shared_ptr<const Buffer> nodes,
                         PackNodes<Node>(layout, context.cache));
  std::shared_ptr<const PreparedKernel> kernel =
      std::make_shared<TreesKernel<Node>>(call, std::move(state), std::move(nodes));
  return kernel;
}

}  // namespace

bool PortableTreesSupports(const KernelCall& call) {
  const auto* params = std::get_if<TreesParams>(&call.params);
  if (params == nullptr || call.inputs[0].dtype != DType::kFloat32) return false;
  const kernels::TreeEnsemble& ensemble = params->model->ensemble;
  const bool sums = ensemble.aggregate == kernels::TreeAggregate::kSum ||
                    ensemble.aggregate == kernels::TreeAggregate::kAverage;
  const size_t scores = params->model->scoring.classifies ? 1 : 0;
  if (scores < call.outputs.size() && call.outputs[scores].present() &&
      call.outputs[scores].dtype != DType::kFloat32) {
    return false;
  }
  return sums && ensemble.num_targets <= kMostTargets &&
         ensemble.nodes.size() < static_cast<size_t>(kMostColumns) * 512;
}

Result<std::shared_ptr<const PreparedKernel>> PreparePortableTrees(const KernelCall& call,
                                                                   const PrepareContext& context) {
  const auto& params = std::get<TreesParams>(call.params);
  const kernels::TreeEnsemble& ensemble = params.model->ensemble;
  KHEYA_ASSIGN_OR_RETURN(TreeLayout layout, LayOutTrees(ensemble));
  if (static_cast<int64_t>(layout.columns.size()) >= kMostColumns) {
    return UnimplementedError("over {} features in tests", kMostColumns);
  }
  TreesState state;
  state.scoring = params.model->scoring;
  state.labels = params.labels;
  state.num_targets = ensemble.num_targets;
  state.average = ensemble.aggregate == kernels::TreeAggregate::kAverage;
  if (std::ranges::any_of(layout.trees, [](const WalkTree& tree) { return tree.target < 0; })) {
    state.leaves = ensemble.leaves;
    state.weights = ensemble.weights;
  }
  const bool small = FitsSmall(layout);
  state.trees = std::move(layout.trees);
  state.columns = std::move(layout.columns);
  if (small) return MakeKernel<SmallNode>(call, layout, std::move(state), context);
  return MakeKernel<LargeNode>(call, layout, std::move(state), context);
}

}  // namespace kheya
