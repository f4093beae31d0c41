// SVMClassifier and SVMRegressor.
#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/ml/ml_util.h"

namespace kheya {
namespace {

constexpr ParamDef kX[] = {{"X", ml::kNumbers}};
constexpr ParamDef kClassified[] = {{"Y", ml::kLabelTypes}, {"Z", ml::kFloat32}};
constexpr ParamDef kRegressed[] = {{"Y", ml::kFloat32}};
constexpr AttributeDef kClassifier[] = {{"classlabels_ints", AttributeKind::kInts},
                                        {"classlabels_strings", AttributeKind::kStrings},
                                        {"coefficients", AttributeKind::kFloats},
                                        {"kernel_params", AttributeKind::kFloats},
                                        {"kernel_type", AttributeKind::kString},
                                        {"post_transform", AttributeKind::kString},
                                        {"prob_a", AttributeKind::kFloats},
                                        {"prob_b", AttributeKind::kFloats},
                                        {"rho", AttributeKind::kFloats},
                                        {"support_vectors", AttributeKind::kFloats},
                                        {"vectors_per_class", AttributeKind::kInts}};
constexpr AttributeDef kRegressor[] = {
    {"coefficients", AttributeKind::kFloats}, {"kernel_params", AttributeKind::kFloats},
    {"kernel_type", AttributeKind::kString},  {"n_supports", AttributeKind::kInt},
    {"one_class", AttributeKind::kInt},       {"post_transform", AttributeKind::kString},
    {"rho", AttributeKind::kFloats},          {"support_vectors", AttributeKind::kFloats}};

enum class KernelType : uint8_t { kLinear, kPoly, kRbf, kSigmoid };

// The function of two vectors that a support vector machine is made of.
struct SvmKernel {
  KernelType type = KernelType::kLinear;
  double gamma = 0;
  double coef0 = 0;
  double degree = 0;

  double operator()(std::span<const double> a, const float* b) const {
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      const double difference = a[i] - b[i];
      sum += type == KernelType::kRbf ? difference * difference : a[i] * b[i];
    }
    switch (type) {
      case KernelType::kLinear:
        return sum;
      case KernelType::kPoly:
        return std::pow(gamma * sum + coef0, degree);
      case KernelType::kRbf:
        return std::exp(-gamma * sum);
      case KernelType::kSigmoid:
        return std::tanh(gamma * sum + coef0);
    }
    return sum;
  }
};

Result<SvmKernel> KernelOf(const AttributeReader& attributes) {
  const std::string name = attributes.String("kernel_type", "LINEAR");
  SvmKernel kernel;
  if (name == "POLY") {
    kernel.type = KernelType::kPoly;
  } else if (name == "RBF") {
    kernel.type = KernelType::kRbf;
  } else if (name == "SIGMOID") {
    kernel.type = KernelType::kSigmoid;
  } else if (name != "LINEAR") {
    return InvalidArgumentError("found kernel_type '{}', expected LINEAR, POLY, RBF or SIGMOID",
                                name);
  }
  const std::vector<float> params = attributes.Floats("kernel_params");
  if (params.size() >= 3) {
    kernel.gamma = params[0];
    kernel.coef0 = params[1];
    kernel.degree = params[2];
  } else if (!params.empty() || kernel.type != KernelType::kLinear) {
    return InvalidArgumentError("found {} kernel_params, expected 3", params.size());
  }
  return kernel;
}

// Support vectors, one a row of as many features as the input; empty: the coefficients are linear.
struct Supports {
  SvmKernel kernel;
  std::vector<float> vectors;
  int64_t count = 0;
  int64_t width = 0;

  std::vector<double> Kernels(std::span<const double> row) const {
    std::vector<double> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(kernel(row, vectors.data() + i * width));
    return values;
  }
};

Result<Supports> SupportsOf(const AttributeReader& attributes, int64_t count, int64_t width) {
  Supports supports;
  KHEYA_ASSIGN_OR_RETURN(supports.kernel, KernelOf(attributes));
  supports.vectors = attributes.Floats("support_vectors");
  supports.count = count;
  supports.width = width;
  const auto size = static_cast<int64_t>(supports.vectors.size());
  const bool fits = count >= 0 && width >= 1 && (count == 0 ? true : size / count == width) &&
                    (count == 0 || size % count == 0);
  if (fits) return supports;
  return InvalidArgumentError("found {} numbers of support vectors, expected {} of {}", size, count,
                              width);
}

// Of a pair of classes, by Platt's scaling.
double PairProbability(double score, double a, double b) {
  return std::clamp(1 - ml::Logistic(score * a + b), 1e-7, 1 - 1e-7);
}

// Probabilities of the classes from those of all pairs r[i][j]: the second method of Wu, Lin and
// Weng, "Probability Estimates for Multi-class Classification by Pairwise Coupling", 2004.
std::vector<double> CouplePairs(const std::vector<double>& r, size_t k) {
  std::vector<double> q(k * k, 0.0);
  std::vector<double> p(k, 1.0 / static_cast<double>(k));
  for (size_t t = 0; t < k; ++t) {
    for (size_t j = 0; j < k; ++j) {
      if (j == t) continue;
      q[t * k + t] += r[j * k + t] * r[j * k + t];
      q[t * k + j] = -r[j * k + t] * r[t * k + j];
    }
  }
  const size_t rounds = std::max<size_t>(100, k);
  std::vector<double> qp(k);
  for (size_t round = 0; round < rounds; ++round) {
    double pqp = 0;
    for (size_t t = 0; t < k; ++t) {
      qp[t] = 0;
      for (size_t j = 0; j < k; ++j) qp[t] += q[t * k + j] * p[j];
      pqp += p[t] * qp[t];
    }
    double worst = 0;
    for (size_t t = 0; t < k; ++t) worst = std::max(worst, std::abs(qp[t] - pqp));
    if (worst < 0.005 / static_cast<double>(k)) break;
    for (size_t t = 0; t < k; ++t) {
      const double step = (-qp[t] + pqp) / q[t * k + t];
      p[t] += step;
      pqp = (pqp + step * (step * q[t * k + t] + 2 * qp[t])) / ((1 + step) * (1 + step));
      for (size_t j = 0; j < k; ++j) {
        qp[j] = (qp[j] + step * q[t * k + j]) / (1 + step);
        p[j] /= 1 + step;
      }
    }
  }
  return p;
}

// A machine for each pair of classes.
class PairwiseSvm {
 public:
  static Result<PairwiseSvm> Read(const AttributeReader& attributes, size_t classes,
                                  int64_t width) {
    PairwiseSvm svm;
    svm.classes_ = classes;
    svm.per_class_ = attributes.Ints("vectors_per_class");
    int64_t total = 0;
    for (int64_t count : svm.per_class_) {
      constexpr int64_t kMostVectors = int64_t{1} << 31;
      if (count < 0 || count > kMostVectors) {
        return InvalidArgumentError("found {} support vectors of a class", count);
      }
      svm.starts_.push_back(total);
      total += count;
    }
    KHEYA_ASSIGN_OR_RETURN(svm.supports_, SupportsOf(attributes, total, width));
    svm.coefficients_ = attributes.Floats("coefficients");
    svm.rho_ = attributes.Floats("rho");
    svm.prob_a_ = attributes.Floats("prob_a");
    svm.prob_b_ = attributes.Floats("prob_b");
    const size_t pairs = classes * (classes - 1) / 2;
    const bool fits = classes >= 2 && svm.per_class_.size() == classes &&
                      svm.coefficients_.size() == (classes - 1) * static_cast<size_t>(total) &&
                      svm.rho_.size() == pairs && svm.prob_a_.size() == svm.prob_b_.size() &&
                      (svm.prob_a_.empty() || svm.prob_a_.size() == pairs);
    if (fits) return svm;
    return InvalidArgumentError(
        "found {} classes, {} vectors_per_class, {} coefficients, {} rho, {} prob_a for {} support "
        "vectors",
        classes, svm.per_class_.size(), svm.coefficients_.size(), svm.rho_.size(),
        svm.prob_a_.size(), total);
  }

  bool has_probabilities() const { return !prob_a_.empty(); }

  struct Decision {
    std::vector<double> scores;  // of the classes when there are probabilities, else of the pairs
    size_t label = 0;            // that most pairs vote for, with probabilities too
  };

  Decision Decide(std::span<const double> row) const {
    const std::vector<double> kernels = supports_.Kernels(row);
    Decision decision;
    std::vector<int64_t> votes(classes_, 0);
    for (size_t i = 0; i < classes_; ++i) {
      for (size_t j = i + 1; j < classes_; ++j) {
        const double score = PairScore(kernels, i, j) + rho_[decision.scores.size()];
        decision.scores.push_back(score);
        ++votes[score > 0 ? i : j];
      }
    }
    decision.label = static_cast<size_t>(std::ranges::max_element(votes) - votes.begin());
    if (!has_probabilities()) return decision;
    std::vector<double> pairs(classes_ * classes_, 0.0);
    size_t at = 0;
    for (size_t i = 0; i < classes_; ++i) {
      for (size_t j = i + 1; j < classes_; ++j, ++at) {
        const double share = PairProbability(decision.scores[at], prob_a_[at], prob_b_[at]);
        pairs[i * classes_ + j] = share;
        pairs[j * classes_ + i] = 1 - share;
      }
    }
    decision.scores = CouplePairs(pairs, classes_);
    return decision;
  }

 private:
  // The coefficients of class i against j stand in row j - 1, those of j against i in row i.
  double PairScore(const std::vector<double>& kernels, size_t i, size_t j) const {
    const float* first = coefficients_.data() + (j - 1) * kernels.size();
    const float* second = coefficients_.data() + i * kernels.size();
    double sum = 0;
    for (int64_t v = starts_[i]; v < starts_[i] + per_class_[i]; ++v) sum += first[v] * kernels[v];
    for (int64_t v = starts_[j]; v < starts_[j] + per_class_[j]; ++v) sum += second[v] * kernels[v];
    return sum;
  }

  size_t classes_ = 0;
  std::vector<int64_t> per_class_;
  std::vector<int64_t> starts_;
  Supports supports_;
  std::vector<float> coefficients_;
  std::vector<float> rho_;
  std::vector<float> prob_a_;
  std::vector<float> prob_b_;
};

int64_t ScoreColumns(size_t classes, bool probabilities) {
  const auto count = static_cast<int64_t>(classes);
  return probabilities || count <= 2 ? count : count * (count - 1) / 2;
}

Status InferClassifier(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const ml::ClassLabels labels,
                         ml::LabelsOf(context.attributes(), "classlabels_ints"));
  if (context.attributes().Ints("vectors_per_class").empty()) {
    return ml::InferClassifier(context, labels, Dim());
  }
  const bool probabilities = !context.attributes().Floats("prob_a").empty();
  return ml::InferClassifier(context, labels, ScoreColumns(labels.size(), probabilities));
}

Status EvaluatePairwise(EvalContext& context, const ml::ClassLabels& labels, const ml::Rows& rows,
                        ml::PostTransform transform) {
  KHEYA_ASSIGN_OR_RETURN(const PairwiseSvm svm,
                         PairwiseSvm::Read(context.attributes(), labels.size(), rows.width));
  KHEYA_ASSIGN_OR_RETURN(
      ml::ClassifierOutput output,
      ml::ClassifierOutput::Create(context, labels, rows.count,
                                   ScoreColumns(labels.size(), svm.has_probabilities())));
  for (int64_t row = 0; row < rows.count; ++row) {
    PairwiseSvm::Decision decision = svm.Decide(rows.Row(row));
    std::vector<double>& scores = decision.scores;
    if (scores.size() == 1) {
      // One pair. Converters expect its score, which is that of the first class, in the second
      // column.
      const std::array<double, 2> both = ml::BothScores(transform, false, scores[0]);
      scores.assign(both.begin(), both.end());
    } else {
      ml::Transform(transform, scores);
    }
    output.Set(row, decision.label, scores);
  }
  return OkStatus();
}

// Without support vectors: one linear score for each class.
Status EvaluateLinear(EvalContext& context, const ml::ClassLabels& labels, const ml::Rows& rows,
                      ml::PostTransform transform) {
  KHEYA_ASSIGN_OR_RETURN(const SvmKernel kernel, KernelOf(context.attributes()));
  const std::vector<float> coefficients = context.attributes().Floats("coefficients");
  const std::vector<float> rho = context.attributes().Floats("rho");
  const auto classes = static_cast<int64_t>(labels.size());
  const bool fits = rows.width >= 1 && !rho.empty() &&
                    static_cast<int64_t>(coefficients.size()) == classes * rows.width;
  if (!fits) {
    return InvalidArgumentError("found {} coefficients and {} rho for {} classes of {} features",
                                coefficients.size(), rho.size(), classes, rows.width);
  }
  KHEYA_ASSIGN_OR_RETURN(ml::ClassifierOutput output,
                         ml::ClassifierOutput::Create(context, labels, rows.count, classes));
  for (int64_t row = 0; row < rows.count; ++row) {
    std::vector<double> scores;
    for (int64_t i = 0; i < classes; ++i) {
      scores.push_back(kernel(rows.Row(row), coefficients.data() + i * rows.width) + rho[0]);
    }
    const size_t label = ml::IndexOfLargest(scores);
    ml::Transform(transform, scores);
    output.Set(row, label, scores);
  }
  return OkStatus();
}

Status EvaluateClassifier(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const ml::ClassLabels labels,
                         ml::LabelsOf(context.attributes(), "classlabels_ints"));
  KHEYA_ASSIGN_OR_RETURN(const ml::PostTransform transform,
                         ml::PostTransformOf(context.attributes()));
  KHEYA_ASSIGN_OR_RETURN(const ml::Rows rows, ml::RowsInput(context, 0));
  const bool pairwise = !context.attributes().Ints("vectors_per_class").empty();
  return pairwise ? EvaluatePairwise(context, labels, rows, transform)
                  : EvaluateLinear(context, labels, rows, transform);
}

Status InferRegressor(InferContext& context) {
  return context.SetOutput(0, DType::kFloat32, SymbolicShape{ml::InferRowCount(context), 1});
}

Status EvaluateRegressor(EvalContext& context) {
  const AttributeReader attributes = context.attributes();
  KHEYA_ASSIGN_OR_RETURN(const ml::PostTransform transform, ml::PostTransformOf(attributes));
  KHEYA_ASSIGN_OR_RETURN(const ml::Rows rows, ml::RowsInput(context, 0));
  const int64_t count = attributes.Int("n_supports", 0);
  KHEYA_ASSIGN_OR_RETURN(const Supports supports, SupportsOf(attributes, count, rows.width));
  const std::vector<float> coefficients = attributes.Floats("coefficients");
  const std::vector<float> rho = attributes.Floats("rho");
  const auto expected = static_cast<size_t>(count > 0 ? count : rows.width);
  if (coefficients.size() != expected || rho.size() != 1) {
    return InvalidArgumentError("found {} coefficients and {} rho, expected {} and 1",
                                coefficients.size(), rho.size(), expected);
  }
  const bool one_class = attributes.Int("one_class", 0) != 0;
  std::vector<double> all;
  for (int64_t row = 0; row < rows.count; ++row) {
    double sum = rho[0];
    if (count > 0) {
      const std::vector<double> kernels = supports.Kernels(rows.Row(row));
      for (size_t i = 0; i < kernels.size(); ++i) sum += coefficients[i] * kernels[i];
    } else {
      sum += supports.kernel(rows.Row(row), coefficients.data());
    }
    if (one_class) sum = sum > 0 ? 1 : -1;
    ml::Transform(transform, {&sum, 1});
    all.push_back(sum);
  }
  return ml::GiveFloats(context, 0, rows.count, 1, all);
}

}  // namespace

extern const OpDef kSVMClassifierOp;
const OpDef kSVMClassifierOp =
    ml::Op("SVMClassifier", kX, kClassified, kClassifier, InferClassifier, EvaluateClassifier);

extern const OpDef kSVMRegressorOp;
const OpDef kSVMRegressorOp =
    ml::Op("SVMRegressor", kX, kRegressed, kRegressor, InferRegressor, EvaluateRegressor);

}  // namespace kheya
