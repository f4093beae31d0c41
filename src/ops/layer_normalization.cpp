// LayerNormalization, RMSNormalization: every run of the axes from `axis` on.
#include <algorithm>
#include <vector>

#include "kernels/reference/norm.h"
#include "ops/axes.h"
#include "ops/channel_input.h"
#include "ops/op.h"
#include "ops/wide.h"

namespace kheya {
namespace {

constexpr ParamDef kLayerInputs[] = {{"X", types::kFloat, 'T'},
                                     {"Scale", types::kFloat, 'T'},
                                     {"B", types::kFloat, 'T', Presence::kOptional}};
constexpr TypeMask kStash = MaskOf({DType::kFloat32, DType::kBFloat16});
constexpr ParamDef kLayerOutputs[] = {{"Y", types::kFloat, 'T'},
                                      {"Mean", kStash, 'U', Presence::kOptional},
                                      {"InvStdDev", kStash, 'U', Presence::kOptional}};
constexpr ParamDef kRmsInputs[] = {{"X", types::kFloat, 'T'}, {"scale", types::kFloat, 'V'}};
constexpr ParamDef kRmsOutputs[] = {{"Y", types::kFloat, 'V'}};
constexpr AttributeDef kAttributes[] = {{"axis", AttributeKind::kInt},
                                        {"epsilon", AttributeKind::kFloat},
                                        {"stash_type", AttributeKind::kInt}};

DType StashType(const AttributeReader& attributes) {
  return attributes.Int("stash_type", 1) == 16 ? DType::kBFloat16 : DType::kFloat32;
}

Status InferLayer(InferContext& context) {
  std::optional<SymbolicShape> shape = ShapeOrNull(context, 0);
  std::optional<SymbolicShape> reduced = shape;
  if (reduced) {
    KHEYA_ASSIGN_OR_RETURN(int axis, NormalizeAxis(context.attributes().Int("axis", -1),
                                                   static_cast<int>(reduced->size())));
    for (size_t i = static_cast<size_t>(axis); i < reduced->size(); ++i) (*reduced)[i] = 1;
  }
  for (int i = 1; i < context.num_outputs(); ++i) {
    KHEYA_RETURN_IF_ERROR(context.SetOutput(i, StashType(context.attributes()), reduced));
  }
  return context.SetOutput(0, context.input_dtype(0), std::move(shape));
}

Status InferRms(InferContext& context) {
  return context.SetOutput(0, context.input_dtype(1), ShapeOrNull(context, 0));
}

struct Runs {
  kernels::NormParams params;
  Shape reduced;  // the shape of the means
};

Result<Runs> ReadRuns(const AttributeReader& attributes, const Shape& x) {
  KHEYA_ASSIGN_OR_RETURN(int axis, NormalizeAxis(attributes.Int("axis", -1), x.rank()));
  const int64_t stash = attributes.Int("stash_type", 1);
  if (stash != 1 && stash != 16) {
    return InvalidArgumentError("found stash_type {}, expected 1 (float32) or 16 (bfloat16)",
                                stash);
  }
  Runs runs;
  runs.params = {x.Product(0, axis), x.Product(axis, x.rank()), attributes.Float("epsilon", 1e-5f)};
  std::vector<int64_t> dims(x.begin(), x.end());
  std::fill(dims.begin() + axis, dims.end(), 1);
  KHEYA_ASSIGN_OR_RETURN(runs.reduced, Shape::Create(dims));
  return runs;
}

Status EvaluateLayer(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(Tensor x, WideInput(context, 0));
  KHEYA_ASSIGN_OR_RETURN(Runs runs, ReadRuns(context.attributes(), x.shape()));
  KHEYA_ASSIGN_OR_RETURN(Tensor scale, BroadcastInput(context, 1, x.shape()));
  KHEYA_ASSIGN_OR_RETURN(Tensor bias, BroadcastInput(context, 2, x.shape()));
  const DType stash = StashType(context.attributes());
  KHEYA_ASSIGN_OR_RETURN(WideOutput y,
                         WideOutput::Create(context, 0, context.input(0).dtype(), x.shape()));
  KHEYA_ASSIGN_OR_RETURN(WideOutput mean, WideOutput::Create(context, 1, stash, runs.reduced));
  KHEYA_ASSIGN_OR_RETURN(WideOutput inverse, WideOutput::Create(context, 2, stash, runs.reduced));
  KHEYA_RETURN_IF_ERROR(
      kernels::NormalizeRows(runs.params, x.view(), y.view(), mean.view(), inverse.view()));
  KHEYA_RETURN_IF_ERROR(kernels::ScaleElements(scale.view(), bias.view(), y.view(), y.view()));
  KHEYA_RETURN_IF_ERROR(mean.Finish());
  KHEYA_RETURN_IF_ERROR(inverse.Finish());
  return y.Finish();
}

Status EvaluateRms(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(Tensor x, WideInput(context, 0));
  KHEYA_ASSIGN_OR_RETURN(Runs runs, ReadRuns(context.attributes(), x.shape()));
  KHEYA_ASSIGN_OR_RETURN(Tensor scale, BroadcastInput(context, 1, x.shape()));
  KHEYA_ASSIGN_OR_RETURN(WideOutput y,
                         WideOutput::Create(context, 0, context.input(1).dtype(), x.shape()));
  if (x.dtype() != y.view().dtype || scale.dtype() != x.dtype()) {
    return UnimplementedError(
        "found input and scale of types {} and {}, supported are types that "
        "are computed alike",
        DTypeName(context.input(0).dtype()), DTypeName(context.input(1).dtype()));
  }
  KHEYA_RETURN_IF_ERROR(kernels::RmsNormalizeRows(runs.params, x.view(), y.view()));
  KHEYA_RETURN_IF_ERROR(kernels::ScaleElements(scale.view(), {}, y.view(), y.view()));
  return y.Finish();
}

}  // namespace

extern const OpDef kLayerNormalizationOp;
const OpDef kLayerNormalizationOp = {.domain = "",
                                     .name = "LayerNormalization",
                                     .category = "normalization",
                                     .inputs = kLayerInputs,
                                     .outputs = kLayerOutputs,
                                     .attributes = kAttributes,
                                     .infer = InferLayer,
                                     .evaluate = EvaluateLayer};

extern const OpDef kRMSNormalizationOp;
const OpDef kRMSNormalizationOp = {.domain = "",
                                   .name = "RMSNormalization",
                                   .category = "normalization",
                                   .inputs = kRmsInputs,
                                   .outputs = kRmsOutputs,
                                   .attributes = kAttributes,
                                   .infer = InferRms,
                                   .evaluate = EvaluateRms};

}  // namespace kheya
