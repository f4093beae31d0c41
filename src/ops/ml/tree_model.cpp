// The whole of a tree operator: ensemble, base values, what becomes of the targets.
#include <utility>
#include <vector>

#include "ops/ml/ml_util.h"
#include "ops/ml/tree_attributes.h"

namespace kheya::ml {
namespace {

using kernels::TreeAggregate;
using kernels::TreeModel;

Result<TreeAggregate> AggregateOf(const AttributeReader& attributes) {
  const std::string name = attributes.String("aggregate_function", "SUM");
  if (name == "SUM") return TreeAggregate::kSum;
  if (name == "AVERAGE") return TreeAggregate::kAverage;
  if (name == "MIN") return TreeAggregate::kMin;
  if (name == "MAX") return TreeAggregate::kMax;
  return InvalidArgumentError("found aggregate_function '{}', expected SUM, AVERAGE, MIN or MAX",
                              name);
}

Result<TreeModel> ReadClassifier(const AttributeReader& attributes, int64_t width) {
  TreeModel model;
  KHEYA_ASSIGN_OR_RETURN(const ClassLabels labels, LabelsOf(attributes, "classlabels_int64s"));
  KHEYA_ASSIGN_OR_RETURN(const PostTransform transform, PostTransformOf(attributes));
  KHEYA_ASSIGN_OR_RETURN(model.ensemble, ReadTrees(attributes, "class"));
  const size_t classes = labels.size();
  model.ensemble.num_targets = static_cast<int64_t>(classes);
  KHEYA_RETURN_IF_ERROR(CheckTrees(model.ensemble, width));
  model.scoring = kernels::ClassifierScoring(model.ensemble, classes);
  model.scoring.transform = transform;
  KHEYA_ASSIGN_OR_RETURN(model.scoring.base, NumbersAttribute(attributes, "base_values"));
  const size_t base = model.scoring.base.size();
  if (base != 0 && base != classes && !(model.scoring.one_scored && base == 1)) {
    return InvalidArgumentError("found {} base values for {} classes", base, classes);
  }
  return model;
}

Result<TreeModel> ReadRegressor(const AttributeReader& attributes, int64_t width) {
  TreeModel model;
  KHEYA_ASSIGN_OR_RETURN(model.scoring.transform, PostTransformOf(attributes));
  KHEYA_ASSIGN_OR_RETURN(model.ensemble, ReadTrees(attributes, "target"));
  KHEYA_ASSIGN_OR_RETURN(model.ensemble.num_targets, NumTargets(attributes));
  KHEYA_ASSIGN_OR_RETURN(model.ensemble.aggregate, AggregateOf(attributes));
  KHEYA_RETURN_IF_ERROR(CheckTrees(model.ensemble, width));
  KHEYA_ASSIGN_OR_RETURN(model.scoring.base, NumbersAttribute(attributes, "base_values"));
  const size_t base = model.scoring.base.size();
  if (base != 0 && static_cast<int64_t>(base) != model.ensemble.num_targets) {
    return InvalidArgumentError("found {} base values for {} targets", base,
                                model.ensemble.num_targets);
  }
  return model;
}

Result<TreeModel> ReadEnsemble(const AttributeReader& attributes, int64_t width) {
  TreeModel model;
  KHEYA_ASSIGN_OR_RETURN(model.scoring.transform,
                         PostTransformOf(attributes.Int("post_transform", 0)));
  KHEYA_ASSIGN_OR_RETURN(model.ensemble, ReadIndexedTrees(attributes));
  KHEYA_ASSIGN_OR_RETURN(model.ensemble.num_targets, NumTargets(attributes));
  const int64_t aggregate = attributes.Int("aggregate_function", 1);
  if (aggregate < 0 || aggregate > 3) {
    return InvalidArgumentError("found aggregate_function {}, expected 0 to 3", aggregate);
  }
  model.ensemble.aggregate = static_cast<TreeAggregate>(aggregate);
  KHEYA_RETURN_IF_ERROR(CheckTrees(model.ensemble, width));
  return model;
}

}  // namespace

Result<int64_t> NumTargets(const AttributeReader& attributes) {
  const int64_t targets = attributes.Int("n_targets", 1);
  constexpr int64_t kMostTargets = 1 << 20;
  if (targets >= 1 && targets <= kMostTargets) return targets;
  return InvalidArgumentError("found n_targets {}, expected 1 to {}", targets, kMostTargets);
}

Result<TreeModel> ReadTreeModel(const Node& node, int64_t width) {
  const AttributeReader attributes(node);
  if (node.op == "TreeEnsembleClassifier") return ReadClassifier(attributes, width);
  if (node.op == "TreeEnsembleRegressor") return ReadRegressor(attributes, width);
  return ReadEnsemble(attributes, width);
}

}  // namespace kheya::ml
