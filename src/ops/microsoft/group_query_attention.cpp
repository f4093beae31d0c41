// GroupQueryAttention: causal attention whose heads of queries share keys, with a cache that holds
// another number of tokens for each row of the batch.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/reference/attention.h"
#include "ops/axes.h"
#include "ops/microsoft/microsoft_op.h"
#include "ops/wide.h"

namespace kheya {
namespace {

enum Input {
  kQuery,
  kKey,
  kValue,
  kPastKey,
  kPastValue,
  kLengths,
  kTotal,
  kCos,
  kSin,
  kPositions,
  kBias,
  kSink,
  kFirstNew
};

constexpr TypeMask kTypes = MaskOf({DType::kFloat32, DType::kFloat16, DType::kBFloat16});
constexpr ParamDef kInputs[] = {{"query", kTypes, 'T'},
                                {"key", kTypes, 'T', Presence::kOptional},
                                {"value", kTypes, 'T', Presence::kOptional},
                                {"past_key", types::kAny, '\0', Presence::kOptional},
                                {"past_value", types::kAny, '\0', Presence::kOptional},
                                {"seqlens_k", kInt32},
                                {"total_sequence_length", kInt32},
                                {"cos_cache", kTypes, 'T', Presence::kOptional},
                                {"sin_cache", kTypes, 'T', Presence::kOptional},
                                {"position_ids", types::kInt64, '\0', Presence::kOptional},
                                {"attention_bias", kTypes, 'T', Presence::kOptional},
                                {"head_sink", kTypes, 'T', Presence::kOptional},
                                {"k_scale", kFloat32, '\0', Presence::kOptional},
                                {"v_scale", kFloat32, '\0', Presence::kOptional},
                                {"q_norm_weight", kTypes, 'T', Presence::kOptional},
                                {"k_norm_weight", kTypes, 'T', Presence::kOptional},
                                {"query_seqlens", kInt32, '\0', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"output", kTypes, 'T'},
                                 {"present_key", types::kAny, '\0', Presence::kOptional},
                                 {"present_value", types::kAny, '\0', Presence::kOptional},
                                 {"output_qk", kTypes, 'T', Presence::kOptional}};
constexpr AttributeDef kAttributes[] = {{"causal", AttributeKind::kInt},
                                        {"do_rotary", AttributeKind::kInt},
                                        {"k_norm_epsilon", AttributeKind::kFloat},
                                        {"k_quant_type", AttributeKind::kString},
                                        {"kv_cache_bit_width", AttributeKind::kInt},
                                        {"kv_num_heads", AttributeKind::kInt, true},
                                        {"local_window_size", AttributeKind::kInt},
                                        {"num_heads", AttributeKind::kInt, true},
                                        {"q_norm_epsilon", AttributeKind::kFloat},
                                        {"qk_norm_epsilon", AttributeKind::kFloat},
                                        {"qk_output", AttributeKind::kInt},
                                        {"rotary_interleaved", AttributeKind::kInt},
                                        {"scale", AttributeKind::kFloat},
                                        {"sliding_window_cache", AttributeKind::kInt},
                                        {"smooth_softmax", AttributeKind::kInt},
                                        {"softcap", AttributeKind::kFloat},
                                        {"v_quant_type", AttributeKind::kString}};

Status CheckSupported(const EvalContext& context) {
  const AttributeReader attributes = context.attributes();
  for (int input = kFirstNew; input < context.num_inputs(); ++input) {
    if (context.has_input(input)) {
      return UnimplementedError("input {} is not supported", kInputs[input].name);
    }
  }
  for (const char* name : {"k_quant_type", "v_quant_type"}) {
    if (attributes.String(name, "NONE") != "NONE") {
      return UnimplementedError("{} {} is not supported", name, attributes.String(name, ""));
    }
  }
  if (attributes.Int("sliding_window_cache", 0) != 0 || attributes.Int("causal", 1) != 1) {
    return UnimplementedError("sliding_window_cache and causal 0 are not supported");
  }
  const int64_t window = attributes.Int("local_window_size", -1);
  if (window != -1 && window < 1) {
    return InvalidArgumentError("found local_window_size {}, expected -1 or above 0", window);
  }
  if (context.wants_output(3)) return UnimplementedError("output output_qk is not supported");
  return OkStatus();
}

struct Sizes {
  int64_t batch = 0, length = 0, heads = 0, kv_heads = 0, size = 0;
  int64_t past = 0;     // places in the past
  int64_t present = 0;  // places in the present
  bool packed = false;  // the query holds keys and values too
};

Status CheckPast(const EvalContext& context, const Sizes& sizes) {
  if (context.has_input(kPastKey) != context.has_input(kPastValue)) {
    return InvalidArgumentError("found one of past_key and past_value, expected both or none");
  }
  for (int input = kPastKey; input <= kPastValue && context.has_input(input); ++input) {
    if (!context.input_value(input).is_tensor() ||
        context.input(input).dtype() != context.input(kQuery).dtype()) {
      return UnimplementedError("a past of another type than the query is not supported");
    }
    KHEYA_ASSIGN_OR_RETURN(
        const Shape expected,
        Shape::Create(std::vector{sizes.batch, sizes.kv_heads, sizes.past, sizes.size}));
    if (context.input(input).shape() == expected) continue;
    return InvalidArgumentError("found a past of {}, expected {}",
                                context.input(input).shape().ToString(), expected.ToString());
  }
  return OkStatus();
}

Status CheckKeys(const EvalContext& context, const Sizes& sizes) {
  const Shape expected{sizes.batch, sizes.length, sizes.kv_heads * sizes.size};
  for (int input = kKey; !sizes.packed && input <= kValue; ++input) {
    if (context.has_input(input) && context.input(input).shape() == expected) continue;
    return InvalidArgumentError(
        "found {} {}, expected {}", kInputs[input].name,
        context.has_input(input) ? context.input(input).shape().ToString() : "left out",
        expected.ToString());
  }
  return OkStatus();
}

Result<Sizes> ReadSizes(const EvalContext& context) {
  const Shape& query = context.input(kQuery).shape();
  Sizes sizes;
  sizes.heads = context.attributes().Int("num_heads", 0);
  sizes.kv_heads = context.attributes().Int("kv_num_heads", 0);
  constexpr int64_t kMostHeads = int64_t{1} << 30;
  if (sizes.heads < 1 || sizes.kv_heads < 1 || sizes.heads % sizes.kv_heads != 0 ||
      sizes.heads > kMostHeads) {
    return InvalidArgumentError("found {} heads of queries and {} of keys, expected a multiple",
                                sizes.heads, sizes.kv_heads);
  }
  sizes.packed = !context.has_input(kKey);
  const int64_t all = sizes.packed ? sizes.heads + 2 * sizes.kv_heads : sizes.heads;
  if (query.rank() != 3 || query[2] % all != 0 || query[2] == 0) {
    return InvalidArgumentError("found query {} with {} heads", query.ToString(), all);
  }
  sizes.batch = query[0];
  sizes.length = query[1];
  sizes.size = query[2] / all;
  if (context.has_input(kPastKey) && context.input_value(kPastKey).is_tensor() &&
      context.input(kPastKey).shape().rank() == 4) {
    sizes.past = context.input(kPastKey).shape()[2];
  }
  KHEYA_ASSIGN_OR_RETURN(const int64_t total, IntScalarInput(context, kTotal));
  if (total < 0) return InvalidArgumentError("found a total_sequence_length of {}", total);
  sizes.present = std::max(total, sizes.past);
  KHEYA_RETURN_IF_ERROR(CheckPast(context, sizes));
  KHEYA_RETURN_IF_ERROR(CheckKeys(context, sizes));
  return sizes;
}

// How many tokens of the past each row has. When all are new, a row may have fewer than the
// longest, and its last ones stand for nothing.
Result<std::vector<int64_t>> PastLengths(const EvalContext& context, const Sizes& sizes) {
  KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> lengths, IntListInput(context, kLengths));
  if (static_cast<int64_t>(lengths.size()) != sizes.batch) {
    return InvalidArgumentError("found {} seqlens_k, expected {}", lengths.size(), sizes.batch);
  }
  KHEYA_ASSIGN_OR_RETURN(const int64_t total, IntScalarInput(context, kTotal));
  const bool first = sizes.length == total;
  for (int64_t& length : lengths) {
    const int64_t past = first ? 0 : length + 1 - sizes.length;
    if (length < 0 || length >= total || past < 0 || past > sizes.past ||
        past + sizes.length > sizes.present) {
      return InvalidArgumentError("found {} in seqlens_k for {} new of {} tokens and a past of {}",
                                  length, sizes.length, total, sizes.past);
    }
    length = past;
  }
  return lengths;
}

// [batch, length, heads * size] in rows that may hold more.
struct Rows {
  Tensor tensor;
  int64_t offset = 0;  // elements
  int64_t stride = 0;  // of a token
};

struct Inputs {
  Rows q, k, v;
};

Result<Inputs> ReadInputs(EvalContext& context, const Sizes& sizes) {
  const int64_t q = sizes.heads * sizes.size;
  const int64_t kv = sizes.kv_heads * sizes.size;
  KHEYA_ASSIGN_OR_RETURN(Tensor query, WideInput(context, kQuery));
  if (sizes.packed) {
    const int64_t stride = q + 2 * kv;
    return Inputs{{query, 0, stride}, {query, q, stride}, {query, q + kv, stride}};
  }
  KHEYA_ASSIGN_OR_RETURN(Tensor key, WideInput(context, kKey));
  KHEYA_ASSIGN_OR_RETURN(Tensor value, WideInput(context, kValue));
  return Inputs{{std::move(query), 0, q}, {std::move(key), 0, kv}, {std::move(value), 0, kv}};
}

// The rows as [batch, heads, length, size].
Result<Tensor> AsHeads(EvalContext& context, const Sizes& sizes, int64_t heads, const Rows& rows) {
  KHEYA_ASSIGN_OR_RETURN(
      Tensor out,
      Tensor::Allocate(DType::kFloat32, Shape{sizes.batch, heads, sizes.length, sizes.size},
                       context.budget()));
  const auto from = rows.tensor.data<float>();
  auto to = out.mutable_data<float>().begin();
  for (int64_t b = 0; b < sizes.batch; ++b) {
    for (int64_t h = 0; h < heads; ++h) {
      for (int64_t t = 0; t < sizes.length; ++t) {
        const int64_t at = rows.offset + (b * sizes.length + t) * rows.stride + h * sizes.size;
        to = std::copy_n(from.begin() + at, sizes.size, to);
      }
    }
  }
  return out;
}

Result<std::vector<int64_t>> Positions(const EvalContext& context, const Sizes& sizes,
                                       const std::vector<int64_t>& past, int64_t most) {
  std::vector<int64_t> positions;
  if (context.has_input(kPositions)) {
    KHEYA_ASSIGN_OR_RETURN(positions, ToInt64s(context.input(kPositions)));
  } else {
    for (const int64_t before : past) {
      for (int64_t t = 0; t < sizes.length; ++t) positions.push_back(before + t);
    }
  }
  if (static_cast<int64_t>(positions.size()) != sizes.batch * sizes.length) {
    return InvalidArgumentError("found {} position_ids, expected {}", positions.size(),
                                sizes.batch * sizes.length);
  }
  for (const int64_t position : positions) {
    if (position >= 0 && position < most) continue;
    return InvalidArgumentError("found position {}, expected one in [0, {})", position, most);
  }
  return positions;
}

// Rotates heads [batch, heads, length, size] in place.
Status Rotate(EvalContext& context, const Sizes& sizes, int64_t heads,
              const std::vector<int64_t>& past, Tensor& x) {
  if (!context.has_input(kCos) || !context.has_input(kSin)) {
    return InvalidArgumentError("found do_rotary without cos_cache and sin_cache");
  }
  const Shape& cache = context.input(kCos).shape();
  if (cache.rank() != 2 || cache != context.input(kSin).shape() || cache[1] > sizes.size / 2) {
    return InvalidArgumentError("found cos_cache {} and sin_cache {} for heads of {}",
                                cache.ToString(), context.input(kSin).shape().ToString(),
                                sizes.size);
  }
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> positions,
                         Positions(context, sizes, past, cache[0]));
  KHEYA_ASSIGN_OR_RETURN(const Tensor cos, WideInput(context, kCos));
  KHEYA_ASSIGN_OR_RETURN(const Tensor sin, WideInput(context, kSin));
  KHEYA_ASSIGN_OR_RETURN(Tensor y, Tensor::Allocate(x.dtype(), x.shape(), context.budget()));
  kernels::RotaryParams params = {sizes.batch, heads, sizes.length, sizes.size, 2 * cache[1]};
  params.interleaved = context.attributes().Int("rotary_interleaved", 0) != 0;
  params.strides = {heads * sizes.length * sizes.size, sizes.length * sizes.size, sizes.size};
  KHEYA_RETURN_IF_ERROR(kernels::RotaryEmbedding(params, positions, x.view(), cos.view(),
                                                 sin.view(), y.mutable_view()));
  x = std::move(y);
  return OkStatus();
}

// The past with the new tokens behind it; what lies behind those is 0.
Result<Tensor> Joined(EvalContext& context, const Sizes& sizes, int past_input,
                      const std::vector<int64_t>& past, const Tensor& now) {
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(std::vector{sizes.batch, sizes.kv_heads,
                                                                      sizes.present, sizes.size}));
  KHEYA_ASSIGN_OR_RETURN(Tensor joined, Tensor::Zeros(DType::kFloat32, shape, context.budget()));
  KHEYA_ASSIGN_OR_RETURN(const Tensor before, WideInput(context, past_input));
  const auto to = joined.mutable_data<float>();
  const auto new_rows = now.data<float>();
  const int64_t added = sizes.length * sizes.size;
  for (int64_t row = 0; row < sizes.batch * sizes.kv_heads; ++row) {
    const int64_t kept = past[static_cast<size_t>(row / sizes.kv_heads)] * sizes.size;
    auto out = to.begin() + row * sizes.present * sizes.size;
    if (kept > 0) {
      out = std::copy_n(before.data<float>().begin() + row * sizes.past * sizes.size, kept, out);
    }
    std::copy_n(new_rows.begin() + row * added, added, out);
  }
  return joined;
}

Status GivePresent(EvalContext& context, int output, const Tensor& tensor) {
  if (!context.wants_output(output)) return OkStatus();
  KHEYA_ASSIGN_OR_RETURN(
      WideOutput out,
      WideOutput::Create(context, output, context.input(kQuery).dtype(), tensor.shape()));
  std::ranges::copy(tensor.data<float>(), out.view().as<float>().begin());
  return out.Finish();
}

// The bias of scores of one row [heads, length, keys].
Result<std::vector<double>> BiasOf(EvalContext& context, const Sizes& sizes, int64_t row,
                                   int64_t keys) {
  if (!context.has_input(kBias)) return std::vector<double>();
  KHEYA_ASSIGN_OR_RETURN(const Tensor bias, WideInput(context, kBias));
  const Shape& s = bias.shape();
  const bool fits = s.rank() == 4 && (s[0] == 1 || s[0] == sizes.batch) &&
                    (s[1] == 1 || s[1] == sizes.heads) && s[2] == sizes.length && s[3] >= keys;
  if (!fits) {
    return InvalidArgumentError("found attention_bias {}, expected [{},{},{},{} or more]",
                                s.ToString(), sizes.batch, sizes.heads, sizes.length, keys);
  }
  std::vector<double> result;
  for (int64_t h = 0; h < sizes.heads; ++h) {
    for (int64_t t = 0; t < sizes.length; ++t) {
      const int64_t at = (((s[0] == 1 ? 0 : row) * s[1] + (s[1] == 1 ? 0 : h)) * s[2] + t) * s[3];
      for (int64_t key = 0; key < keys; ++key) {
        result.push_back(bias.data<float>()[static_cast<size_t>(at + key)]);
      }
    }
  }
  return result;
}

// By head; empty where there are none.
Result<std::vector<double>> SinksOf(EvalContext& context, const Sizes& sizes) {
  const auto heads = static_cast<size_t>(sizes.heads);
  if (!context.has_input(kSink)) {
    const bool smooth = context.attributes().Int("smooth_softmax", 0) > 0;
    return std::vector<double>(smooth ? heads : 0, 0.0);
  }
  KHEYA_ASSIGN_OR_RETURN(const Tensor sinks, WideInput(context, kSink));
  if (!(sinks.shape() == Shape{sizes.heads})) {
    return InvalidArgumentError("found head_sink {}, expected [{}]", sinks.shape().ToString(),
                                sizes.heads);
  }
  const std::span<const float> values = sinks.data<float>();
  return std::vector<double>(values.begin(), values.end());
}

TensorView RowOf(const Tensor& tensor, int64_t row) {
  const Shape& s = tensor.shape();
  return {tensor.dtype(), Shape{1, s[1], s[2], s[3]},
          tensor.data<float>().data() + row * s.Product(1, 4)};
}

// Row `row` of the batch, whose keys are the first `past + length`.
Status Attend(EvalContext& context, const Sizes& sizes, int64_t row, int64_t past, const Tensor& q,
              const Tensor& k, const Tensor& v, const MutableTensorView& y) {
  const int64_t keys = past + sizes.length;
  kernels::AttentionParams params = {1,    sizes.heads, sizes.kv_heads, sizes.length,
                                     keys, sizes.size,  sizes.size};
  const float scale = context.attributes().Float("scale", 0.0f);
  params.scale = scale != 0 ? scale : 1.0 / std::sqrt(std::max<double>(1, sizes.size));
  params.softcap = context.attributes().Float("softcap", 0.0f);
  params.causal = true;
  const int64_t window = context.attributes().Int("local_window_size", -1);
  if (window > 0) params.left_window = window - 1;
  params.first_query = past;
  params.query_strides = {0, sizes.length * sizes.size, sizes.size};
  params.key_strides = {0, sizes.present * sizes.size, sizes.size};
  params.value_strides = params.key_strides;
  params.output_strides = {0, sizes.size, sizes.heads * sizes.size};
  params.bias_strides = {0, sizes.length * keys, keys};
  params.bias_keys = keys;
  KHEYA_ASSIGN_OR_RETURN(const std::vector<double> sinks, SinksOf(context, sizes));
  params.sinks = sinks;
  KHEYA_ASSIGN_OR_RETURN(const std::vector<double> bias, BiasOf(context, sizes, row, keys));
  const int64_t own = sizes.length * sizes.heads * sizes.size;
  const MutableTensorView part = {y.dtype, Shape{1, sizes.length, sizes.heads * sizes.size},
                                  y.as<float>().data() + row * own};
  return kernels::Attention(params, RowOf(q, row), RowOf(k, row), RowOf(v, row), bias, {}, part,
                            {});
}

Status Evaluate(EvalContext& context) {
  KHEYA_RETURN_IF_ERROR(CheckSupported(context));
  KHEYA_ASSIGN_OR_RETURN(const Sizes sizes, ReadSizes(context));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> past, PastLengths(context, sizes));
  KHEYA_ASSIGN_OR_RETURN(const Inputs inputs, ReadInputs(context, sizes));
  KHEYA_ASSIGN_OR_RETURN(Tensor q, AsHeads(context, sizes, sizes.heads, inputs.q));
  KHEYA_ASSIGN_OR_RETURN(Tensor k, AsHeads(context, sizes, sizes.kv_heads, inputs.k));
  KHEYA_ASSIGN_OR_RETURN(const Tensor v, AsHeads(context, sizes, sizes.kv_heads, inputs.v));
  if (context.attributes().Int("do_rotary", 0) != 0) {
    KHEYA_RETURN_IF_ERROR(Rotate(context, sizes, sizes.heads, past, q));
    KHEYA_RETURN_IF_ERROR(Rotate(context, sizes, sizes.kv_heads, past, k));
  }
  KHEYA_ASSIGN_OR_RETURN(const Tensor keys, Joined(context, sizes, kPastKey, past, k));
  KHEYA_ASSIGN_OR_RETURN(const Tensor values, Joined(context, sizes, kPastValue, past, v));
  KHEYA_ASSIGN_OR_RETURN(
      WideOutput y, WideOutput::Create(context, 0, context.input(kQuery).dtype(),
                                       Shape{sizes.batch, sizes.length, sizes.heads * sizes.size}));
  for (int64_t row = 0; row < sizes.batch; ++row) {
    KHEYA_RETURN_IF_ERROR(context.CheckAlive());
    KHEYA_RETURN_IF_ERROR(
        Attend(context, sizes, row, past[static_cast<size_t>(row)], q, keys, values, y.view()));
  }
  KHEYA_RETURN_IF_ERROR(GivePresent(context, 1, keys));
  KHEYA_RETURN_IF_ERROR(GivePresent(context, 2, values));
  return y.Finish();
}

Status Infer(InferContext& context) {
  const int64_t heads = context.attributes().Int("num_heads", 0);
  const int64_t kv_heads = context.attributes().Int("kv_num_heads", 0);
  std::optional<SymbolicShape> y, present;
  const SymbolicShape* query = context.input_shape(kQuery);
  if (query != nullptr && query->size() == 3 && heads > 0 && kv_heads > 0 && heads < (1 << 30) &&
      kv_heads < (1 << 30)) {
    const bool packed = !context.has_input(kKey);
    const Dim size = (*query)[2].FloorDiv(packed ? heads + 2 * kv_heads : heads);
    y = {(*query)[0], (*query)[1], packed ? size * heads : (*query)[2]};
    // As long as the past or the total, whichever is more.
    Dim length;
    const auto total = KnownElements(context, kTotal);
    if (total && total->size() == 1 && !context.has_input(kPastKey)) length = total->front();
    present = {(*query)[0], kv_heads, length, size};
  }
  const DType dtype = context.input_dtype(kQuery);
  KHEYA_RETURN_IF_ERROR(context.SetOutput(0, dtype, std::move(y)));
  KHEYA_RETURN_IF_ERROR(context.SetOutput(1, dtype, present));
  return context.SetOutput(2, dtype, std::move(present));
}

}  // namespace

extern const OpDef kGroupQueryAttentionOp;
const OpDef kGroupQueryAttentionOp = {.domain = kMicrosoftDomain,
                                      .name = "GroupQueryAttention",
                                      .category = "attention",
                                      .inputs = kInputs,
                                      .outputs = kOutputs,
                                      .attributes = kAttributes,
                                      .infer = Infer,
                                      .evaluate = Evaluate};

}  // namespace kheya
