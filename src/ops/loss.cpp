// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
#include "kernels/reference/loss.h"

#include <vector>

#include "kernels/reference/elementwise.h"
#include "kernels/reference/softmax.h"
#include "ops/axes.h"
#include "ops/one_axis.h"
#include "ops/op.h"
#include "ops/wide.h"

namespace kheya {
namespace {

constexpr ParamDef kNllInputs[] = {{"input", types::kFloat, 'T'},
                                   {"target", types::kIndex},
                                   {"weight", types::kFloat, 'T', Presence::kOptional}};
constexpr ParamDef kNllOutputs[] = {{"loss", types::kFloat, 'T'}};
constexpr ParamDef kSoftmaxInputs[] = {{"scores", types::kFloat, 'T'},
                                       {"labels", types::kIndex},
                                       {"weights", types::kFloat, 'T', Presence::kOptional}};
constexpr ParamDef kSoftmaxOutputs[] = {{"output", types::kFloat, 'T'},
                                        {"log_prob", types::kFloat, 'T', Presence::kOptional}};
constexpr AttributeDef kAttributes[] = {{"ignore_index", AttributeKind::kInt},
                                        {"reduction", AttributeKind::kString}};

enum class Reduction : uint8_t { kNone, kSum, kMean };

Result<Reduction> ReductionOf(const AttributeReader& attributes) {
  const std::string name = attributes.String("reduction", "mean");
  if (name == "none") return Reduction::kNone;
  if (name == "sum") return Reduction::kSum;
  if (name == "mean") return Reduction::kMean;
  return InvalidArgumentError("found reduction '{}', expected none, sum or mean", name);
}

Status Infer(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Reduction reduction, ReductionOf(context.attributes()));
  const DType dtype = context.input_dtype(0);
  std::optional<SymbolicShape> loss = SymbolicShape();
  if (reduction == Reduction::kNone) loss = ShapeOrNull(context, 1);
  KHEYA_RETURN_IF_ERROR(context.SetOutput(0, dtype, std::move(loss)));
  return context.SetOutput(1, dtype, ShapeOrNull(context, 0));
}

// Labels have the shape of the scores without the axis of the classes.
Result<kernels::LossParams> ParamsOf(const EvalContext& context) {
  const Shape& x = context.input(0).shape();
  const Shape& labels = context.input(1).shape();
  bool fits = x.rank() >= 2 && labels.rank() == x.rank() - 1 && labels[0] == x[0];
  for (int axis = 2; fits && axis < x.rank(); ++axis) fits = labels[axis - 1] == x[axis];
  if (!fits) {
    return InvalidArgumentError("found scores {} and labels {}, expected [N,C,...] and [N,...]",
                                x.ToString(), labels.ToString());
  }
  if (context.has_input(2) && context.input(2).shape() != Shape{x[1]}) {
    return InvalidArgumentError("found weights {}, expected [{}]",
                                context.input(2).shape().ToString(), x[1]);
  }
  kernels::LossParams params = {x[0], x[1], x.Product(2, x.rank()), std::nullopt};
  if (context.attributes().Has("ignore_index")) {
    params.ignored = context.attributes().Int("ignore_index", 0);
  }
  return params;
}

Status WriteLosses(std::span<const double> losses, WideOutput& out) {
  KHEYA_RETURN_IF_ERROR(kernels::CallWithRealType(out.view().dtype, [&]<typename T>(const T&) {
    const auto to = out.view().as<T>();
    for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<T>(losses[i]);
  }));
  return out.Finish();
}

// Output 0 from log probabilities.
Status EvaluateLoss(EvalContext& context, const Tensor& log_probabilities) {
  KHEYA_ASSIGN_OR_RETURN(const kernels::LossParams params, ParamsOf(context));
  KHEYA_ASSIGN_OR_RETURN(const Reduction reduction, ReductionOf(context.attributes()));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> labels, ToInt64s(context.input(1)));
  KHEYA_ASSIGN_OR_RETURN(const Tensor class_weights, WideInput(context, 2));
  std::vector<double> losses(labels.size());
  std::vector<double> weights(labels.size());
  KHEYA_RETURN_IF_ERROR(kernels::NegativeLogLikelihood(params, log_probabilities.view(), labels,
                                                       class_weights.view(), losses, weights));
  const Shape& full = context.input(1).shape();
  if (reduction != Reduction::kNone) {
    double sum = 0;
    double total = 0;
    for (size_t i = 0; i < losses.size(); ++i) {
      sum += losses[i];
      total += weights[i];
    }
    losses.assign(1, reduction == Reduction::kMean ? sum / total : sum);
  }
  KHEYA_ASSIGN_OR_RETURN(WideOutput out,
                         WideOutput::Create(context, 0, context.input(0).dtype(),
                                            reduction == Reduction::kNone ? full : Shape{}));
  return WriteLosses(losses, out);
}

Status EvaluateNll(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Tensor x, WideInput(context, 0));
  return EvaluateLoss(context, x);
}

Status EvaluateSoftmax(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Tensor scores, WideInput(context, 0));
  if (scores.shape().rank() < 2) {
    return InvalidArgumentError("found scores {}, expected [N,C,...]", scores.shape().ToString());
  }
  KHEYA_ASSIGN_OR_RETURN(Tensor log_probabilities,
                         Tensor::Allocate(scores.dtype(), scores.shape(), context.budget()));
  KHEYA_RETURN_IF_ERROR(kernels::LogSoftmax(RowsAlong(scores.shape(), 1), scores.view(),
                                            log_probabilities.mutable_view()));
  KHEYA_RETURN_IF_ERROR(EvaluateLoss(context, log_probabilities));
  if (!context.wants_output(1)) return OkStatus();
  KHEYA_ASSIGN_OR_RETURN(WideOutput out,
                         WideOutput::Create(context, 1, context.input(0).dtype(), scores.shape()));
  KHEYA_RETURN_IF_ERROR(
      kernels::MapReal(log_probabilities.view(), out.view(), [](auto value) { return value; }));
  return out.Finish();
}

}  // namespace

extern const OpDef kNegativeLogLikelihoodLossOp;
const OpDef kNegativeLogLikelihoodLossOp = {.domain = "",
                                            .name = "NegativeLogLikelihoodLoss",
                                            .category = "training",
                                            .inputs = kNllInputs,
                                            .outputs = kNllOutputs,
                                            .attributes = kAttributes,
                                            .infer = Infer,
                                            .evaluate = EvaluateNll};

extern const OpDef kSoftmaxCrossEntropyLossOp;
const OpDef kSoftmaxCrossEntropyLossOp = {.domain = "",
                                          .name = "SoftmaxCrossEntropyLoss",
                                          .category = "training",
                                          .inputs = kSoftmaxInputs,
                                          .outputs = kSoftmaxOutputs,
                                          .attributes = kAttributes,
                                          .infer = Infer,
                                          .evaluate = EvaluateSoftmax};

}  // namespace kheya
