// LinearClassifier and LinearRegressor.
#include <vector>

#include "ops/ml/ml_util.h"

namespace kheya {
namespace {

constexpr ParamDef kX[] = {{"X", ml::kNumbers}};
constexpr ParamDef kClassified[] = {{"Y", ml::kLabelTypes}, {"Z", ml::kFloat32}};
constexpr ParamDef kRegressed[] = {{"Y", ml::kFloat32}};
constexpr AttributeDef kClassifier[] = {{"classlabels_ints", AttributeKind::kInts},
                                        {"classlabels_strings", AttributeKind::kStrings},
                                        {"coefficients", AttributeKind::kFloats, true},
                                        {"intercepts", AttributeKind::kFloats},
                                        {"multi_class", AttributeKind::kInt},
                                        {"post_transform", AttributeKind::kString}};
constexpr AttributeDef kRegressor[] = {{"coefficients", AttributeKind::kFloats},
                                       {"intercepts", AttributeKind::kFloats},
                                       {"post_transform", AttributeKind::kString},
                                       {"targets", AttributeKind::kInt}};

// y = x W^T + b for W [targets, features].
struct LinearModel {
  int64_t targets = 0;
  int64_t features = 0;
  std::vector<float> coefficients;
  std::vector<float> intercepts;

  std::vector<double> Scores(std::span<const double> x) const {
    std::vector<double> scores(static_cast<size_t>(targets));
    for (int64_t t = 0; t < targets; ++t) {
      double sum = intercepts.empty() ? 0 : double{intercepts[t]};
      for (int64_t i = 0; i < features; ++i) sum += x[i] * coefficients[t * features + i];
      scores[t] = sum;
    }
    return scores;
  }
};

Result<LinearModel> ModelOf(const AttributeReader& attributes, int64_t features, int64_t targets) {
  LinearModel model = {targets, features, attributes.Floats("coefficients"),
                       attributes.Floats("intercepts")};
  const auto count = static_cast<int64_t>(model.coefficients.size());
  if (targets == 0 && features > 0) model.targets = count / features;
  const auto intercepts = static_cast<int64_t>(model.intercepts.size());
  const bool fits = model.targets >= 1 && features >= 1 && count % features == 0 &&
                    count / features == model.targets &&
                    (intercepts == 0 || intercepts == model.targets);
  if (fits) return model;
  return InvalidArgumentError("found {} coefficients and {} intercepts for {} features", count,
                              intercepts, features);
}

Status InferClassifier(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const ml::ClassLabels labels,
                         ml::LabelsOf(context.attributes(), "classlabels_ints"));
  return ml::InferClassifier(context, labels, Dim());
}

Status EvaluateClassifier(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const ml::ClassLabels labels,
                         ml::LabelsOf(context.attributes(), "classlabels_ints"));
  KHEYA_ASSIGN_OR_RETURN(const ml::PostTransform transform,
                         ml::PostTransformOf(context.attributes()));
  KHEYA_ASSIGN_OR_RETURN(const ml::Rows rows, ml::RowsInput(context, 0));
  KHEYA_ASSIGN_OR_RETURN(const LinearModel model, ModelOf(context.attributes(), rows.width, 0));
  const bool binary = model.targets == 1 && labels.size() == 2;
  if (!binary && static_cast<int64_t>(labels.size()) != model.targets) {
    return InvalidArgumentError("found {} labels for {} classes", labels.size(), model.targets);
  }
  KHEYA_ASSIGN_OR_RETURN(
      ml::ClassifierOutput output,
      ml::ClassifierOutput::Create(context, labels, rows.count, binary ? 2 : model.targets));
  for (int64_t row = 0; row < rows.count; ++row) {
    std::vector<double> scores = model.Scores(rows.Row(row));
    const size_t label = binary ? (scores[0] > 0 ? 1 : 0) : ml::IndexOfLargest(scores);
    ml::Transform(transform, scores);
    if (binary) scores = {1 - scores[0], scores[0]};
    output.Set(row, label, scores);
  }
  return OkStatus();
}

Result<int64_t> Targets(const AttributeReader& attributes) {
  const int64_t targets = attributes.Int("targets", 1);
  if (targets >= 1) return targets;
  return InvalidArgumentError("found {} targets, expected 1 or more", targets);
}

Status InferRegressor(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const int64_t targets, Targets(context.attributes()));
  return context.SetOutput(0, DType::kFloat32, SymbolicShape{ml::InferRowCount(context), targets});
}

Status EvaluateRegressor(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const ml::PostTransform transform,
                         ml::PostTransformOf(context.attributes()));
  KHEYA_ASSIGN_OR_RETURN(const int64_t targets, Targets(context.attributes()));
  KHEYA_ASSIGN_OR_RETURN(const ml::Rows rows, ml::RowsInput(context, 0));
  KHEYA_ASSIGN_OR_RETURN(const LinearModel model,
                         ModelOf(context.attributes(), rows.width, targets));
  std::vector<double> all;
  for (int64_t row = 0; row < rows.count; ++row) {
    std::vector<double> scores = model.Scores(rows.Row(row));
    ml::Transform(transform, scores);
    all.insert(all.end(), scores.begin(), scores.end());
  }
  return ml::GiveFloats(context, 0, rows.count, targets, all);
}

}  // namespace

extern const OpDef kLinearClassifierOp;
const OpDef kLinearClassifierOp =
    ml::Op("LinearClassifier", kX, kClassified, kClassifier, InferClassifier, EvaluateClassifier);

extern const OpDef kLinearRegressorOp;
const OpDef kLinearRegressorOp =
    ml::Op("LinearRegressor", kX, kRegressed, kRegressor, InferRegressor, EvaluateRegressor);

}  // namespace kheya
