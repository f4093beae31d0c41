// Ensembles of trees for the comparison of kernels.
#include <array>
#include <limits>

#include "runtime/kernel_case.h"

namespace kheya {
namespace {

using Strings = std::vector<std::string>;
using Floats = std::vector<float>;

// Splits on a coarse grid: values of rows meet them often.
float GridNumber(Rng& rng) { return static_cast<float>(Draw(rng, -4, 4)) / 2; }

// The attributes of an ensemble, filled tree by tree.
class RandomTrees {
 public:
  RandomTrees(Rng& rng, int64_t features, int64_t targets, std::string prefix)
      : rng_(rng),
        features_(features),
        targets_(targets),
        prefix_(std::move(prefix)),
        modes_(Draw(rng, 0, 1) ? Strings{"BRANCH_LEQ"}
                               : Strings{"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"}),
        missing_(Draw(rng, 0, 2)) {}

  void AddTree(int64_t depth, int64_t weights_of_leaf, bool signs) {
    const int64_t target = Draw(rng_, 0, targets_ - 1);
    ++tree_;
    next_ = 0;
    AddNode(depth, target, weights_of_leaf, signs);
  }

  std::vector<Attribute> Attributes() const {
    return {{"nodes_treeids", trees_},           {"nodes_nodeids", ids_},
            {"nodes_featureids", of_features_},  {"nodes_modes", of_modes_},
            {"nodes_values", splits_},           {"nodes_truenodeids", if_true_},
            {"nodes_falsenodeids", if_false_},   {"nodes_missing_value_tracks_true", tracks_},
            {prefix_ + "_treeids", leaf_trees_}, {prefix_ + "_nodeids", leaf_ids_},
            {prefix_ + "_ids", leaf_targets_},   {prefix_ + "_weights", weights_}};
  }

 private:
  int64_t AddNode(int64_t depth, int64_t target, int64_t weights_of_leaf, bool signs) {
    const int64_t id = next_++;
    const size_t at = ids_.size();
    const bool leaf = depth == 0 || Draw(rng_, 0, 7) == 0;
    trees_.push_back(tree_);
    ids_.push_back(id);
    of_features_.push_back(leaf ? 0 : Draw(rng_, 0, features_ - 1));
    of_modes_.push_back(leaf ? "LEAF" : modes_[Draw(rng_, 0, std::ssize(modes_) - 1)]);
    splits_.push_back(leaf ? 0 : SplitNumber());
    tracks_.push_back(missing_ == 2 ? Draw(rng_, 0, 1) : missing_);
    if_true_.push_back(0);
    if_false_.push_back(0);
    if (!leaf) {
      if_true_[at] = AddNode(depth - 1, target, weights_of_leaf, signs);
      if_false_[at] = AddNode(depth - 1, target, weights_of_leaf, signs);
      return id;
    }
    for (int64_t i = 0; i < weights_of_leaf; ++i) {
      leaf_trees_.push_back(tree_);
      leaf_ids_.push_back(id);
      leaf_targets_.push_back(weights_of_leaf == 1 ? target : i % targets_);
      const float low = signs ? -1.0f : 0.0f;
      weights_.push_back(std::uniform_real_distribution<float>(low, 1.0f)(rng_));
    }
    return id;
  }

  float SplitNumber() {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const int64_t draw = Draw(rng_, 0, 40);
    return draw == 0 ? kInfinity : draw == 1 ? -kInfinity : GridNumber(rng_);
  }

  using Ints = std::vector<int64_t>;
  Rng& rng_;
  const int64_t features_;
  const int64_t targets_;
  const std::string prefix_;
  const Strings modes_;
  const int64_t missing_;  // tracks true: 0 never, 1 always, 2 now and then
  int64_t tree_ = 6;
  int64_t next_ = 0;
  Ints trees_, ids_, of_features_, if_true_, if_false_, tracks_;
  Ints leaf_trees_, leaf_ids_, leaf_targets_;
  Strings of_modes_;
  Floats splits_, weights_;
};

Tensor RandomRows(Rng& rng, const Shape& shape) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::array<float, 6> odd = {
      std::numeric_limits<float>::quiet_NaN(), kInfinity, -kInfinity, -0.0f, 3e38f, 1e-30f};
  Tensor rows = RandomTensor(rng, shape);
  for (float& value : rows.mutable_data<float>()) {
    const int64_t draw = Draw(rng, 0, 20);
    if (draw < 6) value = odd[draw];
    if (draw > 10) value = GridNumber(rng);
  }
  return rows;
}

const char* RandomTransform(Rng& rng) {
  constexpr std::array<const char*, 4> kNames = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"};
  return kNames[Draw(rng, 0, 3)];
}

}  // namespace

void MakeTrees(Rng& rng, Case& c) {
  const int64_t features = Draw(rng, 1, 9);
  const Shape shape = Draw(rng, 0, 6) == 0 ? Shape{features} : Shape{Draw(rng, 0, 150), features};
  const ValueId x = c.Input(RandomRows(rng, shape));
  const bool classifies = Draw(rng, 0, 1) != 0;
  const int64_t targets = Draw(rng, 1, 4);
  RandomTrees trees(rng, features, targets, classifies ? "class" : "target");
  const int64_t weights = Draw(rng, 0, 2) != 0 ? 1 : Draw(rng, 0, 2 * targets);
  const int64_t count = Draw(rng, 1, 21);
  const bool signs = Draw(rng, 0, 1) != 0;
  for (int64_t i = 0; i < count; ++i) trees.AddTree(Draw(rng, 0, 11), weights, signs);
  std::vector<Attribute> attributes = trees.Attributes();
  attributes.push_back({"post_transform", std::string(RandomTransform(rng))});
  Floats base;
  for (int64_t i = 0; i < targets; ++i) base.push_back(GridNumber(rng));
  if (Draw(rng, 0, 1) != 0) attributes.push_back({"base_values", base});
  if (!classifies) {
    attributes.push_back({"n_targets", targets});
    attributes.push_back({"aggregate_function", std::string(Draw(rng, 0, 1) ? "SUM" : "AVERAGE")});
    c.Output(c.Node("TreeEnsembleRegressor", {x}, std::move(attributes), "ai.onnx.ml"));
    return;
  }
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < targets; ++i) labels.push_back(10 - 3 * i);
  attributes.push_back({"classlabels_int64s", labels});
  const NodeId id = c.graph
                        .AddNode({.op = "TreeEnsembleClassifier",
                                  .domain = "ai.onnx.ml",
                                  .name = "trees",
                                  .inputs = {x},
                                  .outputs = {"label", "scores"},
                                  .attributes = std::move(attributes)})
                        .value();
  for (const ValueId output : c.graph.node(id).outputs) c.Output(output);
}

}  // namespace kheya
