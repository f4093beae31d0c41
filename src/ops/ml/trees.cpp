// TreeEnsemble, TreeEnsembleClassifier and TreeEnsembleRegressor.
#include "kernels/reference/trees.h"

#include <vector>

#include "kernels/reference/cast.h"
#include "ops/ml/ml_util.h"
#include "ops/ml/tree_attributes.h"

namespace kheya {
namespace {

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

Status InferClassifier(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const ml::ClassLabels labels,
                         ml::LabelsOf(context.attributes(), "classlabels_int64s"));
  return ml::InferClassifier(context, labels, static_cast<int64_t>(labels.size()));
}

Status InferRegressor(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const int64_t targets, ml::NumTargets(context.attributes()));
  return context.SetOutput(0, DType::kFloat32, SymbolicShape{ml::InferRowCount(context), targets});
}

Status InferEnsemble(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const int64_t targets, ml::NumTargets(context.attributes()));
  return context.SetOutput(0, context.input_dtype(0),
                           SymbolicShape{ml::InferRowCount(context), targets});
}

Status EvaluateClassifier(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const ml::ClassLabels labels,
                         ml::LabelsOf(context.attributes(), "classlabels_int64s"));
  KHEYA_ASSIGN_OR_RETURN(const ml::Rows rows, ml::RowsInput(context, 0));
  KHEYA_ASSIGN_OR_RETURN(const kernels::TreeModel model,
                         ml::ReadTreeModel(context.node(), rows.width));
  const size_t classes = labels.size();
  KHEYA_ASSIGN_OR_RETURN(
      ml::ClassifierOutput output,
      ml::ClassifierOutput::Create(context, labels, rows.count, static_cast<int64_t>(classes)));
  std::vector<double> scores(classes);
  std::vector<bool> reached;
  for (int64_t row = 0; row < rows.count; ++row) {
    kernels::EvaluateTrees(model.ensemble, rows.Row(row), scores, reached);
    const size_t label = kernels::Score(model.scoring, scores);
    output.Set(row, label, scores);
  }
  return OkStatus();
}

// The targets of every row, one after the other.
std::vector<double> AllTargets(const kernels::TreeModel& model, const ml::Rows& rows) {
  std::vector<double> all;
  std::vector<double> targets(static_cast<size_t>(model.ensemble.num_targets));
  std::vector<bool> reached;
  for (int64_t row = 0; row < rows.count; ++row) {
    kernels::EvaluateTrees(model.ensemble, rows.Row(row), targets, reached);
    kernels::Score(model.scoring, targets);
    all.insert(all.end(), targets.begin(), targets.end());
  }
  return all;
}

Status EvaluateRegressor(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const ml::Rows rows, ml::RowsInput(context, 0));
  KHEYA_ASSIGN_OR_RETURN(const kernels::TreeModel model,
                         ml::ReadTreeModel(context.node(), rows.width));
  return ml::GiveFloats(context, 0, rows.count, model.ensemble.num_targets,
                        AllTargets(model, rows));
}

Status EvaluateEnsemble(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const ml::Rows rows, ml::RowsInput(context, 0));
  KHEYA_ASSIGN_OR_RETURN(const kernels::TreeModel model,
                         ml::ReadTreeModel(context.node(), rows.width));
  const std::vector<double> all = AllTargets(model, rows);
  KHEYA_ASSIGN_OR_RETURN(const Shape shape,
                         Shape::Create(std::vector{rows.count, model.ensemble.num_targets}));
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
