#include "ops/ml/ml_util.h"

#include <algorithm>

#include "kernels/reference/quantize.h"

namespace kheya::ml {
namespace {

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

}  // namespace kheya::ml
