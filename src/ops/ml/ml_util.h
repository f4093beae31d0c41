// What the operators of ai.onnx.ml share.
#ifndef KHEYA_OPS_ML_ML_UTIL_H_
#define KHEYA_OPS_ML_ML_UTIL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "kernels/reference/scores.h"
#include "ops/contexts.h"
#include "ops/op.h"

namespace kheya::ml {

inline constexpr const char* kDomain = "ai.onnx.ml";
inline constexpr const char* kCategory = "classic models";
// Numbers that most of these operators take.
inline constexpr TypeMask kNumbers =
    MaskOf({DType::kFloat32, DType::kFloat64, DType::kInt64, DType::kInt32});
inline constexpr TypeMask kFloat32 = MaskOf({DType::kFloat32});
inline constexpr TypeMask kLabelTypes = MaskOf({DType::kString, DType::kInt64});

// A definition of this domain.
constexpr OpDef Op(const char* name, std::span<const ParamDef> inputs,
                   std::span<const ParamDef> outputs, std::span<const AttributeDef> attributes,
                   Status (*infer)(InferContext&), Status (*evaluate)(EvalContext&)) {
  return {.domain = kDomain,
          .name = name,
          .category = kCategory,
          .inputs = inputs,
          .outputs = outputs,
          .attributes = attributes,
          .infer = infer,
          .evaluate = evaluate};
}

// Rows of features as doubles.
struct Rows {
  int64_t count = 0;
  int64_t width = 0;
  std::vector<double> numbers;
  std::span<const double> Row(int64_t row) const {
    return {numbers.data() + row * width, static_cast<size_t>(width)};
  }
};
// Input `index` [N, C], or [C] as one row. InvalidArgument for other ranks.
Result<Rows> RowsInput(const EvalContext& context, int index);
// The number of rows of input 0 where it is known.
Dim InferRowCount(const InferContext& context);

using kernels::BothScores;
using kernels::IndexOfLargest;
using kernels::Logistic;
using kernels::PostTransform;
using kernels::Transform;

Result<PostTransform> PostTransformOf(const AttributeReader& attributes);
// The same by number, as TreeEnsemble has it.
Result<PostTransform> PostTransformOf(int64_t number);

// The labels of classes: integers or strings.
struct ClassLabels {
  std::vector<int64_t> numbers;
  std::vector<std::string> strings;
  bool use_strings() const { return !strings.empty(); }
  size_t size() const { return use_strings() ? strings.size() : numbers.size(); }
  DType dtype() const { return use_strings() ? DType::kString : DType::kInt64; }
};
// One of attributes `ints` and `strings`; InvalidArgument unless exactly one has elements.
Result<ClassLabels> LabelsOf(const AttributeReader& attributes, const char* ints);
// Labels [N] and scores [N, columns] of a classifier.
Status InferClassifier(InferContext& context, const ClassLabels& labels, const Dim& columns);

// The outputs of a classifier, row by row.
class ClassifierOutput {
 public:
  static Result<ClassifierOutput> Create(EvalContext& context, const ClassLabels& labels,
                                         int64_t rows, int64_t columns);
  void Set(int64_t row, size_t label, std::span<const double> scores);

 private:
  const ClassLabels* labels_ = nullptr;
  int64_t columns_ = 0;
  MutableTensorView label_;
  MutableTensorView scores_;
};

// An output [rows, columns] of float32 from doubles.
Status GiveFloats(EvalContext& context, int output, int64_t rows, int64_t columns,
                  std::span<const double> numbers);

}  // namespace kheya::ml

#endif  // KHEYA_OPS_ML_ML_UTIL_H_
