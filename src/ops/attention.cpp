#include "kernels/reference/attention.h"

#include <cmath>
#include <limits>
#include <vector>

#include "base/checked_math.h"
#include "kernels/reference/movement.h"
#include "kernels/reference/numeric_dispatch.h"
#include "ops/axes.h"
#include "ops/heads.h"
#include "ops/op.h"
#include "ops/parts.h"
#include "ops/wide.h"

namespace kheya {
namespace {

enum Input { kQ, kK, kV, kMask, kPastKey, kPastValue, kValidKeys };
enum Output { kY, kPresentKey, kPresentValue, kScores };

constexpr TypeMask kMaskTypes = types::kNumeric | types::kBool;
constexpr ParamDef kInputs[] = {{"Q", types::kFloat, 'T'},
                                {"K", types::kFloat, 'T'},
                                {"V", types::kFloat, 'V'},
                                {"attn_mask", kMaskTypes, '\0', Presence::kOptional},
                                {"past_key", types::kFloat, 'T', Presence::kOptional},
                                {"past_value", types::kFloat, 'V', Presence::kOptional},
                                {"nonpad_kv_seqlen", types::kInt64, '\0', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"Y", types::kFloat, 'T'},
                                 {"present_key", types::kFloat, 'T', Presence::kOptional},
                                 {"present_value", types::kFloat, 'V', Presence::kOptional},
                                 {"qk_matmul_output", types::kFloat, 'T', Presence::kOptional}};
constexpr AttributeDef kAttributes[] = {{"is_causal", AttributeKind::kInt},
                                        {"kv_num_heads", AttributeKind::kInt},
                                        {"left_window_size", AttributeKind::kInt},
                                        {"q_num_heads", AttributeKind::kInt},
                                        {"qk_matmul_output_mode", AttributeKind::kInt},
                                        {"right_window_size", AttributeKind::kInt},
                                        {"scale", AttributeKind::kFloat},
                                        {"softcap", AttributeKind::kFloat},
                                        {"softmax_precision", AttributeKind::kInt}};

// Symbolic sizes of a tensor of heads; unknown where they cannot be told.
struct SymbolicHeads {
  int rank = 0;  // 0: not known
  Dim batch, heads, length, size;
};

SymbolicHeads HeadsOf(const InferContext& context, int index, int64_t num_heads) {
  const SymbolicShape* shape = context.input_shape(index);
  if (shape == nullptr || shape->size() < 3 || shape->size() > 4) return {};
  const SymbolicShape& s = *shape;
  if (s.size() == 4) return {4, s[0], s[1], s[2], s[3]};
  return {3, s[0], num_heads, s[1], num_heads > 0 ? s[2].FloorDiv(num_heads) : Dim()};
}

Status Infer(InferContext& context) {
  const int64_t q_heads = context.attributes().Int("q_num_heads", 0);
  const int64_t kv_heads = context.attributes().Int("kv_num_heads", 0);
  const SymbolicHeads q = HeadsOf(context, kQ, q_heads);
  const SymbolicHeads k = HeadsOf(context, kK, kv_heads);
  const SymbolicHeads v = HeadsOf(context, kV, kv_heads);
  Dim total = k.length;
  if (context.has_input(kPastKey)) {
    const SymbolicShape* past = context.input_shape(kPastKey);
    total = past != nullptr && past->size() == 4 ? total + (*past)[2] : Dim();
  }
  std::optional<SymbolicShape> y, key, value, scores;
  if (q.rank == 4) y = {q.batch, q.heads, q.length, v.size};
  if (q.rank == 3) y = {q.batch, q.length, q.heads * v.size};
  if (k.rank != 0) key = {k.batch, k.heads, total, k.size};
  if (v.rank != 0) value = {v.batch, v.heads, total, v.size};
  if (q.rank != 0) scores = {q.batch, q.heads, q.length, total};
  KHEYA_RETURN_IF_ERROR(context.SetOutput(kY, context.input_dtype(kQ), std::move(y)));
  KHEYA_RETURN_IF_ERROR(context.SetOutput(kPresentKey, context.input_dtype(kK), std::move(key)));
  KHEYA_RETURN_IF_ERROR(
      context.SetOutput(kPresentValue, context.input_dtype(kV), std::move(value)));
  return context.SetOutput(kScores, context.input_dtype(kQ), std::move(scores));
}

// Keys or values [batch, heads, length, size] with those of the past before them.
struct Cache {
  Tensor tensor;
  Heads heads;
};

Result<Cache> JoinPast(EvalContext& context, int input, int past, int64_t num_heads) {
  Cache cache;
  KHEYA_ASSIGN_OR_RETURN(const Tensor now, WideInput(context, input));
  KHEYA_ASSIGN_OR_RETURN(cache.heads, HeadsOf(now.shape(), num_heads, input == kK ? "K" : "V"));
  Heads& heads = cache.heads;
  const Shape dense{heads.batch, heads.heads, heads.length, heads.size};
  if (now.shape().rank() == 4) {
    cache.tensor = now;
  } else {
    KHEYA_ASSIGN_OR_RETURN(cache.tensor, Tensor::Allocate(now.dtype(), dense, context.budget()));
    kernels::StridedRead read;
    read.dims.assign(dense.begin(), dense.end());
    read.strides = {heads.strides.batch, heads.strides.head, heads.strides.row, 1};
    KHEYA_RETURN_IF_ERROR(kernels::CopyStrided(read, now.view(), cache.tensor.mutable_view()));
  }
  if (context.has_input(past)) {
    KHEYA_ASSIGN_OR_RETURN(const Tensor before, WideInput(context, past));
    const Tensor parts[] = {before, cache.tensor};
    KHEYA_ASSIGN_OR_RETURN(const Shape shape, JoinedShape(parts, 2, false));
    KHEYA_ASSIGN_OR_RETURN(Tensor joined, Tensor::Allocate(now.dtype(), shape, context.budget()));
    JoinParts(parts, 2, joined.mutable_view());
    cache.tensor = std::move(joined);
    heads.length = shape[2];
  }
  heads.strides = HeadStridesOf(4, heads.heads, heads.length, heads.size);
  return cache;
}

Status GivePresent(EvalContext& context, int output, DType dtype, const Tensor& tensor) {
  if (!context.wants_output(output)) return OkStatus();
  KHEYA_ASSIGN_OR_RETURN(WideOutput out,
                         WideOutput::Create(context, output, dtype, tensor.shape()));
  kernels::CopyElements(tensor.view(), 0, out.view(), 0, tensor.num_elements());
  return out.Finish();
}

// The mask as numbers to add: a bool that is false stands for minus infinity.
Result<std::vector<double>> BiasOf(const Tensor& mask) {
  std::vector<double> bias(static_cast<size_t>(mask.num_elements()));
  KHEYA_RETURN_IF_ERROR(kernels::CallWithNumericType(mask.dtype(), [&]<typename T>(const T&) {
    const auto values = mask.data<T>();
    for (size_t i = 0; i < bias.size(); ++i) {
      if constexpr (std::is_same_v<T, bool>) {
        bias[i] = values[i] ? 0 : -std::numeric_limits<double>::infinity();
      } else {
        bias[i] = static_cast<double>(values[i]);
      }
    }
  }));
  return bias;
}

// Broadcasts the mask to [batch, heads, queries, keys]; its last axis may be shorter.
Status SetBiasStrides(const Shape& mask, kernels::AttentionParams& params) {
  const int64_t wanted[] = {params.batch, params.heads, params.queries, params.keys};
  int64_t* strides[] = {&params.bias_strides.batch, &params.bias_strides.head,
                        &params.bias_strides.row, &params.bias_key_stride};
  const auto own = StridesOf(mask);
  bool fits = mask.rank() >= 1 && mask.rank() <= 4;
  params.bias_keys = params.keys;
  for (int axis = 3; fits && axis >= 0; --axis) {
    const int at = axis - (4 - mask.rank());
    const int64_t size = at >= 0 ? mask[at] : 1;
    *strides[axis] = size == 1 ? 0 : own[at];
    fits = size == 1 || size == wanted[axis] || (axis == 3 && size < wanted[axis]);
    if (axis == 3 && size != 1) params.bias_keys = size;
  }
  if (fits) return OkStatus();
  return InvalidArgumentError("found attn_mask {}, expected one that broadcasts to [{},{},{},{}]",
                              mask.ToString(), params.batch, params.heads, params.queries,
                              params.keys);
}

Result<std::vector<int64_t>> ValidKeys(const EvalContext& context, int64_t batch) {
  if (!context.has_input(kValidKeys)) return std::vector<int64_t>();
  if (context.has_input(kPastKey)) {
    return InvalidArgumentError("found nonpad_kv_seqlen together with past_key");
  }
  KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> valid, IntListInput(context, kValidKeys));
  if (static_cast<int64_t>(valid.size()) == batch) return valid;
  return InvalidArgumentError("found nonpad_kv_seqlen of {} elements, expected {}", valid.size(),
                              batch);
}

Status CheckSizes(const Heads& q, const Heads& k, const Heads& v) {
  const bool fits = q.batch == k.batch && k.batch == v.batch && k.heads == v.heads &&
                    k.length == v.length && q.size == k.size;
  if (!fits) {
    return InvalidArgumentError(
        "found Q, K, V of batch {}, {}, {}, K, V of heads {}, {} and lengths {}, {}, Q, K of size "
        "{}, {}, expected equal ones",
        q.batch, k.batch, v.batch, k.heads, v.heads, k.length, v.length, q.size, k.size);
  }
  if (k.heads >= 1 && q.heads % k.heads == 0) return OkStatus();
  return InvalidArgumentError("found {} heads of queries and {} of keys, expected a multiple",
                              q.heads, k.heads);
}

Result<int64_t> WindowSize(const AttributeReader& attributes, std::string_view name) {
  const int64_t size = attributes.Int(name, -1);
  constexpr int64_t kMost = int64_t{1} << 48;  // places are added to it
  if (size >= -1) return std::min(size, kMost);
  return InvalidArgumentError("found {} {}, expected -1 or more", name, size);
}

Result<kernels::AttentionParams> ParamsOf(const EvalContext& context, const Heads& q,
                                          const Heads& k, const Heads& v) {
  KHEYA_RETURN_IF_ERROR(CheckSizes(q, k, v));
  const AttributeReader attributes = context.attributes();
  kernels::AttentionParams params = {q.batch, q.heads, k.heads, q.length, k.length, q.size, v.size};
  const double usual = q.size > 0 ? 1.0 / std::sqrt(static_cast<double>(q.size)) : 1.0;
  params.scale = attributes.Has("scale") ? attributes.Float("scale", 1) : usual;
  params.softcap = attributes.Float("softcap", 0);
  params.causal = attributes.Int("is_causal", 0) != 0;
  KHEYA_ASSIGN_OR_RETURN(params.left_window, WindowSize(attributes, "left_window_size"));
  KHEYA_ASSIGN_OR_RETURN(params.right_window, WindowSize(attributes, "right_window_size"));
  if (context.has_input(kPastKey)) params.first_query = context.input(kPastKey).shape()[2];
  params.first_query_from_end = context.has_input(kValidKeys);
  const int64_t mode = attributes.Int("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) {
    return InvalidArgumentError("found qk_matmul_output_mode {}, expected 0 to 3", mode);
  }
  params.scores = static_cast<kernels::AttentionScores>(mode);
  params.query_strides = q.strides;
  params.key_strides = k.strides;
  params.value_strides = v.strides;
  return params;
}

Result<Shape> OutputShape(int rank, const Heads& q, int64_t value_size) {
  if (rank == 4) return Shape::Create(std::vector{q.batch, q.heads, q.length, value_size});
  int64_t hidden = 0;
  if (!CheckedMul(q.heads, value_size, &hidden)) {
    return InvalidArgumentError("found {} heads of {} elements, which is too many", q.heads,
                                value_size);
  }
  return Shape::Create(std::vector{q.batch, q.length, hidden});
}

Status Evaluate(EvalContext& context) {
  if (context.has_input(kPastKey) != context.has_input(kPastValue)) {
    return InvalidArgumentError("found one of past_key and past_value, expected both or none");
  }
  const AttributeReader attributes = context.attributes();
  const DType dtype = context.input(kQ).dtype();
  if (context.input(kV).dtype() != dtype) {
    return UnimplementedError("Q of type {} with V of type {} is not supported", DTypeName(dtype),
                              DTypeName(context.input(kV).dtype()));
  }
  const int64_t kv_heads = attributes.Int("kv_num_heads", 0);
  KHEYA_ASSIGN_OR_RETURN(const Tensor q, WideInput(context, kQ));
  KHEYA_ASSIGN_OR_RETURN(const Heads heads,
                         HeadsOf(q.shape(), attributes.Int("q_num_heads", 0), "Q"));
  KHEYA_ASSIGN_OR_RETURN(const Cache k, JoinPast(context, kK, kPastKey, kv_heads));
  KHEYA_ASSIGN_OR_RETURN(const Cache v, JoinPast(context, kV, kPastValue, kv_heads));
  KHEYA_ASSIGN_OR_RETURN(kernels::AttentionParams params,
                         ParamsOf(context, heads, k.heads, v.heads));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> valid, ValidKeys(context, params.batch));
  std::vector<double> bias;
  if (context.has_input(kMask)) {
    KHEYA_RETURN_IF_ERROR(SetBiasStrides(context.input(kMask).shape(), params));
    KHEYA_ASSIGN_OR_RETURN(bias, BiasOf(context.input(kMask)));
  }
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, OutputShape(q.shape().rank(), heads, v.heads.size));
  params.output_strides = HeadStridesOf(shape.rank(), heads.heads, heads.length, v.heads.size);
  KHEYA_ASSIGN_OR_RETURN(WideOutput y, WideOutput::Create(context, kY, dtype, shape));
  WideOutput scores;
  if (context.wants_output(kScores)) {
    KHEYA_ASSIGN_OR_RETURN(
        const Shape full,
        Shape::Create(std::vector{params.batch, params.heads, params.queries, params.keys}));
    KHEYA_ASSIGN_OR_RETURN(scores, WideOutput::Create(context, kScores, dtype, full));
  }
  KHEYA_RETURN_IF_ERROR(kernels::Attention(params, q.view(), k.tensor.view(), v.tensor.view(), bias,
                                           valid, y.view(), scores.view()));
  KHEYA_RETURN_IF_ERROR(GivePresent(context, kPresentKey, dtype, k.tensor));
  KHEYA_RETURN_IF_ERROR(GivePresent(context, kPresentValue, dtype, v.tensor));
  if (context.wants_output(kScores)) KHEYA_RETURN_IF_ERROR(scores.Finish());
  return y.Finish();
}

}  // namespace

extern const OpDef kAttentionOp;
const OpDef kAttentionOp = {.domain = "",
                            .name = "Attention",
                            .category = "attention",
                            .inputs = kInputs,
                            .outputs = kOutputs,
                            .attributes = kAttributes,
                            .infer = Infer,
                            .evaluate = Evaluate};

}  // namespace kheya
