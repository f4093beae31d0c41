// TreeEnsemble, TreeEnsembleClassifier and TreeEnsembleRegressor.
#include "kernels/reference/trees.h"

#include <algorithm>
#include <vector>

#include "kernels/reference/cast.h"
#include "ops/ml/ml_util.h"
#include "ops/ml/tree_attributes.h"

namespace kheya {
namespace {

using kernels::TreeAggregate;
using kernels::TreeEnsemble;

constexpr ParamDef kX[] = {{"X", ml::kNumbers}};
constexpr ParamDef kClassified[] = {{"Y", ml::kLabelTypes}, {"Z", ml::kFloat32}};
constexpr ParamDef kRegressed[] = {{"Y", ml::kFloat32}};
constexpr TypeMask kFloats = MaskOf({DType::kFloat32, DType::kFloat64, DType::kFloat16});
constexpr ParamDef kFloatX[] = {{"X", kFloats, 'T'}};
constexpr ParamDef kFloatY[] = {{"Y", kFloats, 'T'}};

constexpr AttributeDef kClassifier[] = {{"base_values", AttributeKind::kFloats},
                                        {"base_values_as_tensor", AttributeKind::kTensor},
                                        {"class_ids", AttributeKind::kInts},
                                        {"class_nodeids", AttributeKind::kInts},
                                        {"class_treeids", AttributeKind::kInts},
                                        {"class_weights", AttributeKind::kFloats},
                                        {"class_weights_as_tensor", AttributeKind::kTensor},
                                        {"classlabels_int64s", AttributeKind::kInts},
                                        {"classlabels_strings", AttributeKind::kStrings},
                                        {"nodes_falsenodeids", AttributeKind::kInts},
                                        {"nodes_featureids", AttributeKind::kInts},
                                        {"nodes_hitrates", AttributeKind::kFloats},
                                        {"nodes_hitrates_as_tensor", AttributeKind::kTensor},
                                        {"nodes_missing_value_tracks_true", AttributeKind::kInts},
                                        {"nodes_modes", AttributeKind::kStrings},
                                        {"nodes_nodeids", AttributeKind::kInts},
                                        {"nodes_treeids", AttributeKind::kInts},
                                        {"nodes_truenodeids", AttributeKind::kInts},
                                        {"nodes_values", AttributeKind::kFloats},
                                        {"nodes_values_as_tensor", AttributeKind::kTensor},
                                        {"post_transform", AttributeKind::kString}};
constexpr AttributeDef kRegressor[] = {{"aggregate_function", AttributeKind::kString},
                                       {"base_values", AttributeKind::kFloats},
                                       {"base_values_as_tensor", AttributeKind::kTensor},
                                       {"n_targets", AttributeKind::kInt},
                                       {"nodes_falsenodeids", AttributeKind::kInts},
                                       {"nodes_featureids", AttributeKind::kInts},
                                       {"nodes_hitrates", AttributeKind::kFloats},
                                       {"nodes_hitrates_as_tensor", AttributeKind::kTensor},
                                       {"nodes_missing_value_tracks_true", AttributeKind::kInts},
                                       {"nodes_modes", AttributeKind::kStrings},
                                       {"nodes_nodeids", AttributeKind::kInts},
                                       {"nodes_treeids", AttributeKind::kInts},
                                       {"nodes_truenodeids", AttributeKind::kInts},
                                       {"nodes_values", AttributeKind::kFloats},
                                       {"nodes_values_as_tensor", AttributeKind::kTensor},
                                       {"post_transform", AttributeKind::kString},
                                       {"target_ids", AttributeKind::kInts},
                                       {"target_nodeids", AttributeKind::kInts},
                                       {"target_treeids", AttributeKind::kInts},
                                       {"target_weights", AttributeKind::kFloats},
                                       {"target_weights_as_tensor", AttributeKind::kTensor}};
constexpr AttributeDef kEnsemble[] = {{"aggregate_function", AttributeKind::kInt},
                                      {"leaf_targetids", AttributeKind::kInts, true},
                                      {"leaf_weights", AttributeKind::kTensor, true},
                                      {"membership_values", AttributeKind::kTensor},
                                      {"n_targets", AttributeKind::kInt},
                                      {"nodes_falseleafs", AttributeKind::kInts, true},
                                      {"nodes_falsenodeids", AttributeKind::kInts, true},
                                      {"nodes_featureids", AttributeKind::kInts, true},
                                      {"nodes_hitrates", AttributeKind::kTensor},
                                      {"nodes_missing_value_tracks_true", AttributeKind::kInts},
                                      {"nodes_modes", AttributeKind::kTensor, true},
                                      {"nodes_splits", AttributeKind::kTensor, true},
                                      {"nodes_trueleafs", AttributeKind::kInts, true},
                                      {"nodes_truenodeids", AttributeKind::kInts, true},
                                      {"post_transform", AttributeKind::kInt},
                                      {"tree_roots", AttributeKind::kInts, true}};

Result<int64_t> NumTargets(const AttributeReader& attributes) {
  const int64_t targets = attributes.Int("n_targets", 1);
  constexpr int64_t kMostTargets = 1 << 20;
  if (targets >= 1 && targets <= kMostTargets) return targets;
  return InvalidArgumentError("found n_targets {}, expected 1 to {}", targets, kMostTargets);
}

Status InferClassifier(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const ml::ClassLabels labels,
                         ml::LabelsOf(context.attributes(), "classlabels_int64s"));
  return ml::InferClassifier(context, labels, static_cast<int64_t>(labels.size()));
}

Status InferRegressor(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const int64_t targets, NumTargets(context.attributes()));
  return context.SetOutput(0, DType::kFloat32, SymbolicShape{ml::InferRowCount(context), targets});
}

Status InferEnsemble(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const int64_t targets, NumTargets(context.attributes()));
  return context.SetOutput(0, context.input_dtype(0),
                           SymbolicShape{ml::InferRowCount(context), targets});
}

// Two classes of which the trees score one: what is over the middle is the second.
struct BinaryScore {
  bool one_scored = false;
  bool shares = false;  // no weight is negative: the score is a share, with 0.5 in the middle
};

BinaryScore BinaryOf(const TreeEnsemble& ensemble, size_t classes) {
  const auto& weights = ensemble.weights;
  BinaryScore binary;
  binary.one_scored = classes == 2 && !weights.empty() &&
                      std::ranges::all_of(weights, [&](const kernels::TreeWeight& weight) {
                        return weight.target == weights[0].target;
                      });
  binary.shares = std::ranges::all_of(
      weights, [](const kernels::TreeWeight& weight) { return weight.weight >= 0; });
  return binary;
}

Status EvaluateClassifier(EvalContext& context) {
  const AttributeReader attributes = context.attributes();
  KHEYA_ASSIGN_OR_RETURN(const ml::ClassLabels labels,
                         ml::LabelsOf(attributes, "classlabels_int64s"));
  KHEYA_ASSIGN_OR_RETURN(const ml::PostTransform transform, ml::PostTransformOf(attributes));
  KHEYA_ASSIGN_OR_RETURN(const ml::Rows rows, ml::RowsInput(context, 0));
  KHEYA_ASSIGN_OR_RETURN(TreeEnsemble ensemble, ml::ReadTrees(attributes, "class"));
  const size_t classes = labels.size();
  ensemble.num_targets = static_cast<int64_t>(classes);
  KHEYA_RETURN_IF_ERROR(CheckTrees(ensemble, rows.width));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<double> base,
                         ml::NumbersAttribute(attributes, "base_values"));
  const BinaryScore binary = BinaryOf(ensemble, classes);
  if (!base.empty() && base.size() != classes && !(binary.one_scored && base.size() == 1)) {
    return InvalidArgumentError("found {} base values for {} classes", base.size(), classes);
  }
  KHEYA_ASSIGN_OR_RETURN(
      ml::ClassifierOutput output,
      ml::ClassifierOutput::Create(context, labels, rows.count, static_cast<int64_t>(classes)));
  std::vector<double> scores(classes);
  std::vector<bool> reached;
  for (int64_t row = 0; row < rows.count; ++row) {
    kernels::EvaluateTrees(ensemble, rows.Row(row), scores, reached);
    if (binary.one_scored) {
      double score = scores[ensemble.weights[0].target];
      if (!base.empty()) score += base.back();
      const bool positive = score > (binary.shares ? 0.5 : 0.0);
      output.Set(row, positive ? 1 : 0, ml::BothScores(transform, binary.shares, score));
      continue;
    }
    for (size_t i = 0; i < base.size(); ++i) scores[i] += base[i];
    const size_t label = ml::IndexOfLargest(scores);
    ml::Transform(transform, scores);
    output.Set(row, label, scores);
  }
  return OkStatus();
}

Result<TreeAggregate> AggregateOf(const AttributeReader& attributes) {
  const std::string name = attributes.String("aggregate_function", "SUM");
  if (name == "SUM") return TreeAggregate::kSum;
  if (name == "AVERAGE") return TreeAggregate::kAverage;
  if (name == "MIN") return TreeAggregate::kMin;
  if (name == "MAX") return TreeAggregate::kMax;
  return InvalidArgumentError("found aggregate_function '{}', expected SUM, AVERAGE, MIN or MAX",
                              name);
}

// The targets of every row, one after the other.
std::vector<double> AllTargets(const TreeEnsemble& ensemble, const ml::Rows& rows,
                               std::span<const double> base, ml::PostTransform transform) {
  std::vector<double> all;
  std::vector<double> targets(static_cast<size_t>(ensemble.num_targets));
  std::vector<bool> reached;
  for (int64_t row = 0; row < rows.count; ++row) {
    kernels::EvaluateTrees(ensemble, rows.Row(row), targets, reached);
    for (size_t i = 0; i < base.size(); ++i) targets[i] += base[i];
    ml::Transform(transform, targets);
    all.insert(all.end(), targets.begin(), targets.end());
  }
  return all;
}

Status EvaluateRegressor(EvalContext& context) {
  const AttributeReader attributes = context.attributes();
  KHEYA_ASSIGN_OR_RETURN(const ml::PostTransform transform, ml::PostTransformOf(attributes));
  KHEYA_ASSIGN_OR_RETURN(const ml::Rows rows, ml::RowsInput(context, 0));
  KHEYA_ASSIGN_OR_RETURN(TreeEnsemble ensemble, ml::ReadTrees(attributes, "target"));
  KHEYA_ASSIGN_OR_RETURN(ensemble.num_targets, NumTargets(attributes));
  KHEYA_ASSIGN_OR_RETURN(ensemble.aggregate, AggregateOf(attributes));
  KHEYA_RETURN_IF_ERROR(CheckTrees(ensemble, rows.width));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<double> base,
                         ml::NumbersAttribute(attributes, "base_values"));
  if (!base.empty() && static_cast<int64_t>(base.size()) != ensemble.num_targets) {
    return InvalidArgumentError("found {} base values for {} targets", base.size(),
                                ensemble.num_targets);
  }
  return ml::GiveFloats(context, 0, rows.count, ensemble.num_targets,
                        AllTargets(ensemble, rows, base, transform));
}

Status EvaluateEnsemble(EvalContext& context) {
  const AttributeReader attributes = context.attributes();
  KHEYA_ASSIGN_OR_RETURN(const ml::PostTransform transform,
                         ml::PostTransformOf(attributes.Int("post_transform", 0)));
  KHEYA_ASSIGN_OR_RETURN(const ml::Rows rows, ml::RowsInput(context, 0));
  KHEYA_ASSIGN_OR_RETURN(TreeEnsemble ensemble, ml::ReadIndexedTrees(attributes));
  KHEYA_ASSIGN_OR_RETURN(ensemble.num_targets, NumTargets(attributes));
  const int64_t aggregate = attributes.Int("aggregate_function", 1);
  if (aggregate < 0 || aggregate > 3) {
    return InvalidArgumentError("found aggregate_function {}, expected 0 to 3", aggregate);
  }
  ensemble.aggregate = static_cast<TreeAggregate>(aggregate);
  KHEYA_RETURN_IF_ERROR(CheckTrees(ensemble, rows.width));
  const std::vector<double> all = AllTargets(ensemble, rows, {}, transform);
  KHEYA_ASSIGN_OR_RETURN(const Shape shape,
                         Shape::Create(std::vector{rows.count, ensemble.num_targets}));
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView y,
                         context.Output(0, context.input(0).dtype(), shape));
  return kernels::Cast({DType::kFloat64, shape, all.data()}, y);
}

}  // namespace

extern const OpDef kTreeEnsembleOp;
const OpDef kTreeEnsembleOp =
    ml::Op("TreeEnsemble", kFloatX, kFloatY, kEnsemble, InferEnsemble, EvaluateEnsemble);
extern const OpDef kTreeEnsembleClassifierOp;
const OpDef kTreeEnsembleClassifierOp = ml::Op("TreeEnsembleClassifier", kX, kClassified,
                                               kClassifier, InferClassifier, EvaluateClassifier);
extern const OpDef kTreeEnsembleRegressorOp;
const OpDef kTreeEnsembleRegressorOp =
    ml::Op("TreeEnsembleRegressor", kX, kRegressed, kRegressor, InferRegressor, EvaluateRegressor);

}  // namespace kheya
