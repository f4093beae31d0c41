#include "ops/ml/ml_util.h"

#include <algorithm>
#include <cmath>

#include "kernels/reference/quantize.h"

namespace kheya::ml {
namespace {

// Winitzki's approximation of the inverse error function, which the standard's users compute.
double InverseErf(double x) {
  const double sign = x < 0 ? -1 : 1;
  const double log = std::log((1 - x) * (1 + x));
  constexpr double kPi = 3.14159f;
  const double v = 2 / (kPi * 0.147) + 0.5 * log;
  return sign * std::sqrt(-v + std::sqrt(v * v - 1 / 0.147 * log));
}

double Probit(double score) { return 1.41421356f * InverseErf(2 * score - 1); }

void Softmax(std::span<double> scores, bool skip_zeros) {
  double largest = -std::numeric_limits<double>::infinity();
  for (double score : scores) largest = std::max(largest, score);
  double sum = 0;
  for (double& score : scores) {
    const bool skipped = skip_zeros && std::abs(score) <= 1e-7;
    score = skipped ? 0 : std::exp(score - largest);
    sum += score;
  }
  for (double& score : scores) score /= sum;
}

constexpr const char* kTransforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};

}  // namespace

Result<Rows> RowsInput(const EvalContext& context, int index) {
  const Tensor& input = context.input(index);
  const Shape& shape = input.shape();
  if (shape.rank() < 1 || shape.rank() > 2) {
    return InvalidArgumentError("found {}, expected rows [N,C]", input.TypeString());
  }
  Rows rows;
  rows.count = shape.rank() == 2 ? shape[0] : 1;
  rows.width = shape[shape.rank() - 1];
  KHEYA_ASSIGN_OR_RETURN(rows.numbers, kernels::NumbersOf(input.view()));
  return rows;
}

Dim InferRowCount(const InferContext& context) {
  const SymbolicShape* shape = context.input_shape(0);
  if (shape == nullptr) return Dim();
  return shape->size() == 2 ? shape->front() : shape->size() == 1 ? Dim(1) : Dim();
}

Result<PostTransform> PostTransformOf(const AttributeReader& attributes) {
  const std::string name = attributes.String("post_transform", "NONE");
  for (int i = 0; i < 5; ++i) {
    if (name == kTransforms[i]) return static_cast<PostTransform>(i);
  }
  return InvalidArgumentError(
      "found post_transform '{}', expected NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT", name);
}

Result<PostTransform> PostTransformOf(int64_t number) {
  if (number >= 0 && number < 5) return static_cast<PostTransform>(number);
  return InvalidArgumentError("found post_transform {}, expected 0 to 4", number);
}

double Logistic(double score) { return 1 / (1 + std::exp(-score)); }

void Transform(PostTransform transform, std::span<double> scores) {
  switch (transform) {
    case PostTransform::kNone:
      return;
    case PostTransform::kSoftmax:
    case PostTransform::kSoftmaxZero:
      return Softmax(scores, transform == PostTransform::kSoftmaxZero);
    case PostTransform::kLogistic:
      for (double& score : scores) score = Logistic(score);
      return;
    case PostTransform::kProbit:
      for (double& score : scores) score = Probit(score);
  }
}

Result<ClassLabels> LabelsOf(const AttributeReader& attributes, const char* ints) {
  ClassLabels labels = {attributes.Ints(ints), attributes.Strings("classlabels_strings")};
  if (labels.numbers.empty() != labels.strings.empty()) return labels;
  return InvalidArgumentError("found {} integer and {} string labels of classes, expected one kind",
                              labels.numbers.size(), labels.strings.size());
}

Status InferClassifier(InferContext& context, const ClassLabels& labels, const Dim& columns) {
  const Dim rows = InferRowCount(context);
  KHEYA_RETURN_IF_ERROR(context.SetOutput(0, labels.dtype(), SymbolicShape{rows}));
  return context.SetOutput(1, DType::kFloat32, SymbolicShape{rows, columns});
}

Result<ClassifierOutput> ClassifierOutput::Create(EvalContext& context, const ClassLabels& labels,
                                                  int64_t rows, int64_t columns) {
  ClassifierOutput output;
  output.labels_ = &labels;
  output.columns_ = columns;
  KHEYA_ASSIGN_OR_RETURN(output.label_, context.Output(0, labels.dtype(), Shape{rows}));
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(std::vector{rows, columns}));
  KHEYA_ASSIGN_OR_RETURN(output.scores_, context.Output(1, DType::kFloat32, shape));
  return output;
}

void ClassifierOutput::Set(int64_t row, size_t label, std::span<const double> scores) {
  if (labels_->use_strings()) {
    label_.as<std::string>()[row] = labels_->strings[label];
  } else {
    label_.as<int64_t>()[row] = labels_->numbers[label];
  }
  float* out = scores_.as<float>().data() + row * columns_;
  for (int64_t i = 0; i < columns_; ++i) {
    out[i] = i < static_cast<int64_t>(scores.size()) ? static_cast<float>(scores[i]) : 0.0f;
  }
}

Status GiveFloats(EvalContext& context, int output, int64_t rows, int64_t columns,
                  std::span<const double> numbers) {
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(std::vector{rows, columns}));
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView out,
                         context.Output(output, DType::kFloat32, shape));
  std::ranges::transform(numbers, out.as<float>().begin(),
                         [](double number) { return static_cast<float>(number); });
  return OkStatus();
}

std::vector<double> BothScores(PostTransform transform, bool shares, double score) {
  if (transform == PostTransform::kProbit) return {score, Probit(score)};
  if (shares) return {1 - score, score};
  if (transform == PostTransform::kLogistic) return {Logistic(-score), Logistic(score)};
  return {-score, score};
}

size_t IndexOfLargest(std::span<const double> scores) {
  return static_cast<size_t>(std::ranges::max_element(scores) - scores.begin());
}

}  // namespace kheya::ml
