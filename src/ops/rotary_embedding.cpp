#include <vector>

#include "kernels/reference/attention.h"
#include "ops/axes.h"
#include "ops/heads.h"
#include "ops/infer_util.h"
#include "ops/op.h"
#include "ops/wide.h"

namespace kheya {
namespace {

constexpr TypeMask kTypes = MaskOf({DType::kFloat32, DType::kFloat16, DType::kBFloat16});
constexpr ParamDef kInputs[] = {{"X", kTypes, 'T'},
                                {"cos_cache", kTypes, 'T'},
                                {"sin_cache", kTypes, 'T'},
                                {"position_ids", types::kInt64, '\0', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"Y", kTypes, 'T'}};
constexpr AttributeDef kAttributes[] = {{"interleaved", AttributeKind::kInt},
                                        {"num_heads", AttributeKind::kInt},
                                        {"rotary_embedding_dim", AttributeKind::kInt}};

Result<kernels::RotaryParams> ParamsOf(const AttributeReader& attributes, const Shape& x) {
  KHEYA_ASSIGN_OR_RETURN(const Heads heads, HeadsOf(x, attributes.Int("num_heads", 0), "X"));
  kernels::RotaryParams params = {heads.batch, heads.heads, heads.length, heads.size};
  params.rotated = attributes.Int("rotary_embedding_dim", 0);
  if (params.rotated == 0) params.rotated = heads.size;
  if (params.rotated < 0 || params.rotated > heads.size || params.rotated % 2 != 0) {
    return InvalidArgumentError("found {} elements to rotate, expected an even number up to {}",
                                params.rotated, heads.size);
  }
  params.interleaved = attributes.Int("interleaved", 0) != 0;
  params.strides = heads.strides;
  return params;
}

// The row of the caches for each token: by position, or the token's own place when the caches hold
// a row for each.
Result<std::vector<int64_t>> AngleRows(const EvalContext& context,
                                       const kernels::RotaryParams& params) {
  const Shape& cache = context.input(1).shape();
  const Shape tokens{params.batch, params.length};
  std::vector<int64_t> rows;
  if (!context.has_input(3)) {
    if (cache != Shape{params.batch, params.length, params.rotated / 2}) {
      return InvalidArgumentError("found cos_cache {}, expected [{},{},{}]", cache.ToString(),
                                  params.batch, params.length, params.rotated / 2);
    }
    for (int64_t i = 0; i < tokens.num_elements(); ++i) rows.push_back(i);
    return rows;
  }
  if (cache.rank() != 2 || cache[1] != params.rotated / 2) {
    return InvalidArgumentError("found cos_cache {}, expected [positions,{}]", cache.ToString(),
                                params.rotated / 2);
  }
  if (context.input(3).shape() != tokens) {
    return InvalidArgumentError("found position_ids {}, expected {}",
                                context.input(3).shape().ToString(), tokens.ToString());
  }
  for (int64_t position : context.input(3).data<int64_t>()) {
    if (position < 0 || position >= cache[0]) {
      return InvalidArgumentError("found position {}, expected one in [0, {}]", position,
                                  cache[0] - 1);
    }
    rows.push_back(position);
  }
  return rows;
}

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Tensor x, WideInput(context, 0));
  KHEYA_ASSIGN_OR_RETURN(const kernels::RotaryParams params,
                         ParamsOf(context.attributes(), x.shape()));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> rows, AngleRows(context, params));
  if (context.input(1).shape() != context.input(2).shape()) {
    return InvalidArgumentError("found cos_cache {} and sin_cache {}, expected equal shapes",
                                context.input(1).shape().ToString(),
                                context.input(2).shape().ToString());
  }
  KHEYA_ASSIGN_OR_RETURN(const Tensor cos, WideInput(context, 1));
  KHEYA_ASSIGN_OR_RETURN(const Tensor sin, WideInput(context, 2));
  KHEYA_ASSIGN_OR_RETURN(WideOutput y,
                         WideOutput::Create(context, 0, context.input(0).dtype(), x.shape()));
  KHEYA_RETURN_IF_ERROR(
      kernels::RotaryEmbedding(params, rows, x.view(), cos.view(), sin.view(), y.view()));
  return y.Finish();
}

}  // namespace

extern const OpDef kRotaryEmbeddingOp;
const OpDef kRotaryEmbeddingOp = {.domain = "",
                                  .name = "RotaryEmbedding",
                                  .category = "attention",
                                  .inputs = kInputs,
                                  .outputs = kOutputs,
                                  .attributes = kAttributes,
                                  .infer = InferSameType,
                                  .evaluate = Evaluate};

}  // namespace kheya
