// BatchNormalization: with the given statistics, or, in training mode, with those of the batch,
// which are then mixed into the running ones.
#include <cmath>
#include <vector>

#include "kernels/reference/norm.h"
#include "ops/axes.h"
#include "ops/channel_input.h"
#include "ops/op.h"
#include "ops/wide.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"X", types::kFloat, 'T'},
                                {"scale", types::kFloat, 'A'},
                                {"B", types::kFloat, 'A'},
                                {"input_mean", types::kFloat, 'U'},
                                {"input_var", types::kFloat, 'U'}};
constexpr ParamDef kOutputs[] = {{"Y", types::kFloat, 'T'},
                                 {"running_mean", types::kFloat, 'U', Presence::kOptional},
                                 {"running_var", types::kFloat, 'U', Presence::kOptional}};
constexpr AttributeDef kAttributes[] = {{"epsilon", AttributeKind::kFloat},
                                        {"momentum", AttributeKind::kFloat},
                                        {"training_mode", AttributeKind::kInt}};

struct Statistics {
  std::vector<double> mean;
  std::vector<double> variance;
};

Status Infer(InferContext& context) {
  const SymbolicShape* x = context.input_shape(0);
  std::optional<SymbolicShape> channels;
  if (x != nullptr) channels = SymbolicShape{x->size() < 2 ? Dim(1) : (*x)[1]};
  for (int i = 1; i < context.num_outputs(); ++i) {
    KHEYA_RETURN_IF_ERROR(context.SetOutput(i, context.input_dtype(3), channels));
  }
  return context.SetOutput(0, context.input_dtype(0), ShapeOrNull(context, 0));
}

template <typename T>
Statistics BatchStatistics(const T* x, int64_t outer, int64_t channels, int64_t inner) {
  Statistics result = {std::vector<double>(channels), std::vector<double>(channels)};
  const double count = static_cast<double>(outer * inner);
  for (int64_t c = 0; c < channels; ++c) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < outer * inner; ++i) {
      sum += static_cast<double>(x[(i / inner * channels + c) * inner + i % inner]);
    }
    result.mean[c] = sum / count;
    for (int64_t i = 0; i < outer * inner; ++i) {
      const double d = x[(i / inner * channels + c) * inner + i % inner] - result.mean[c];
      squares += d * d;
    }
    result.variance[c] = squares / count;
  }
  return result;
}

// old * momentum + batch * (1 - momentum)
Status StoreRunning(EvalContext& context, int index, const std::vector<double>& old,
                    const std::vector<double>& batch) {
  if (!context.wants_output(index)) return OkStatus();
  const double momentum = context.attributes().Float("momentum", 0.9f);
  KHEYA_ASSIGN_OR_RETURN(WideOutput output,
                         WideOutput::Create(context, index, context.input(3).dtype(),
                                            Shape{static_cast<int64_t>(old.size())}));
  for (size_t i = 0; i < old.size(); ++i) {
    const double mixed = old[i] * momentum + batch[i] * (1.0 - momentum);
    if (output.view().dtype == DType::kFloat64) {
      output.view().as<double>()[i] = mixed;
    } else {
      output.view().as<float>()[i] = static_cast<float>(mixed);
    }
  }
  return output.Finish();
}

Status UseBatchStatistics(EvalContext& context, const Tensor& x, int64_t channels, int64_t inner,
                          Statistics& statistics) {
  const int64_t outer = x.shape().rank() == 0 ? 1 : x.shape()[0];
  Statistics batch = x.dtype() == DType::kFloat64
                         ? BatchStatistics(x.data<double>().data(), outer, channels, inner)
                         : BatchStatistics(x.data<float>().data(), outer, channels, inner);
  KHEYA_RETURN_IF_ERROR(StoreRunning(context, 1, statistics.mean, batch.mean));
  KHEYA_RETURN_IF_ERROR(StoreRunning(context, 2, statistics.variance, batch.variance));
  statistics = std::move(batch);
  return OkStatus();
}

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(Tensor x, WideInput(context, 0));
  const Shape& shape = x.shape();
  const int64_t channels = shape.rank() < 2 ? 1 : shape[1];
  const int64_t inner = shape.rank() < 2 ? 1 : shape.Product(2, shape.rank());
  std::vector<double> scale, bias;
  Statistics statistics;
  KHEYA_ASSIGN_OR_RETURN(scale, ChannelInput(context, 1, channels));
  KHEYA_ASSIGN_OR_RETURN(bias, ChannelInput(context, 2, channels));
  KHEYA_ASSIGN_OR_RETURN(statistics.mean, ChannelInput(context, 3, channels));
  KHEYA_ASSIGN_OR_RETURN(statistics.variance, ChannelInput(context, 4, channels));
  if (context.attributes().Int("training_mode", 0) != 0) {
    KHEYA_RETURN_IF_ERROR(UseBatchStatistics(context, x, channels, inner, statistics));
  } else if (context.wants_output(1) || context.wants_output(2)) {
    return InvalidArgumentError(
        "found running statistics as outputs, expected them in training "
        "mode alone");
  }
  const double epsilon = context.attributes().Float("epsilon", 1e-5f);
  for (int64_t c = 0; c < channels; ++c) {
    scale[c] /= std::sqrt(statistics.variance[c] + epsilon);
    bias[c] -= statistics.mean[c] * scale[c];
  }
  KHEYA_ASSIGN_OR_RETURN(WideOutput y,
                         WideOutput::Create(context, 0, context.input(0).dtype(), shape));
  const int64_t outer = shape.rank() == 0 ? 1 : shape[0];
  KHEYA_RETURN_IF_ERROR(kernels::ScaleChannels(outer, scale, bias, inner, x.view(), y.view()));
  return y.Finish();
}

}  // namespace

extern const OpDef kBatchNormalizationOp;
const OpDef kBatchNormalizationOp = {.domain = "",
                                     .name = "BatchNormalization",
                                     .category = "normalization",
                                     .inputs = kInputs,
                                     .outputs = kOutputs,
                                     .attributes = kAttributes,
                                     .infer = Infer,
                                     .evaluate = Evaluate};

}  // namespace kheya
