// LinearAttention: attention whose keys and values are kept as one matrix for each head.
#include "kernels/reference/linear_attention.h"

#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "base/checked_math.h"
#include "ops/axes.h"
#include "ops/op.h"
#include "ops/wide.h"

namespace kheya {
namespace {

enum Input { kQuery, kKey, kValue, kPast, kDecay, kRate };

constexpr TypeMask kTypes = MaskOf({DType::kFloat32, DType::kFloat16, DType::kBFloat16});
constexpr ParamDef kInputs[] = {{"query", kTypes, 'T'},
                                {"key", kTypes, 'T'},
                                {"value", kTypes, 'T'},
                                {"past_state", kTypes, 'S', Presence::kOptional},
                                {"decay", kTypes, 'T', Presence::kOptional},
                                {"beta", kTypes, 'T', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"output", kTypes, 'T'},
                                 {"present_state", kTypes, 'S', Presence::kOptional}};
constexpr AttributeDef kAttributes[] = {{"chunk_size", AttributeKind::kInt},
                                        {"kv_num_heads", AttributeKind::kInt, true},
                                        {"q_num_heads", AttributeKind::kInt, true},
                                        {"scale", AttributeKind::kFloat},
                                        {"update_rule", AttributeKind::kString}};

struct HeadCounts {
  int64_t query = 0;
  int64_t key = 0;
};

Result<HeadCounts> CountsOf(const AttributeReader& attributes) {
  const HeadCounts counts = {attributes.Int("q_num_heads", 0), attributes.Int("kv_num_heads", 0)};
  if (counts.key >= 1 && counts.query >= 1 && counts.query % counts.key == 0) return counts;
  return InvalidArgumentError("found q_num_heads {} and kv_num_heads {}, expected a multiple of it",
                              counts.query, counts.key);
}

DType StateType(DType past, DType query) { return past == DType::kUndefined ? query : past; }

Status Infer(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const HeadCounts counts, CountsOf(context.attributes()));
  const DType dtype = context.input_dtype(kQuery);
  const bool state_known =
      !context.has_input(kPast) || context.input_dtype(kPast) != DType::kUndefined;
  const DType state =
      state_known ? StateType(context.input_dtype(kPast), dtype) : DType::kUndefined;
  const SymbolicShape* query = context.input_shape(kQuery);
  const SymbolicShape* value = context.input_shape(kValue);
  if (query == nullptr || value == nullptr) {
    KHEYA_RETURN_IF_ERROR(context.SetOutput(0, dtype, UnknownDims(3)));
    return context.SetOutput(1, state, UnknownDims(4));
  }
  if (query->size() != 3 || value->size() != 3) {
    return InvalidArgumentError("found query {} and value {}, expected rank 3", ToString(*query),
                                ToString(*value));
  }
  const Dim value_size = (*value)[2].FloorDiv(counts.key);
  KHEYA_RETURN_IF_ERROR(context.SetOutput(
      0, dtype, SymbolicShape{(*query)[0], (*query)[1], value_size * Dim(counts.query)}));
  return context.SetOutput(
      1, state,
      SymbolicShape{(*query)[0], Dim(counts.key), (*query)[2].FloorDiv(counts.query), value_size});
}

Status WrongShape(const char* name, const Shape& found, std::initializer_list<int64_t> expected) {
  return InvalidArgumentError("found {} {}, expected {}", name, found.ToString(),
                              Shape(expected).ToString());
}

// Which of the optional inputs the rule takes, and their sizes.
Status ReadRule(const EvalContext& context, kernels::LinearAttentionParams* params) {
  const std::string rule = context.attributes().String("update_rule", "gated_delta");
  const bool fades = rule == "gated" || rule == "gated_delta";
  const bool corrects = rule == "delta" || rule == "gated_delta";
  if (!fades && !corrects && rule != "linear") {
    return InvalidArgumentError(
        "found update_rule '{}', expected linear, gated, delta or gated_delta", rule);
  }
  if (context.has_input(kDecay) != fades || context.has_input(kRate) != corrects) {
    return InvalidArgumentError("found {} decay and {} beta for update_rule {}, expected {} and {}",
                                context.has_input(kDecay) ? "a" : "no",
                                context.has_input(kRate) ? "a" : "no", rule, fades ? "a" : "none",
                                corrects ? "a" : "none");
  }
  const int64_t batch = params->batch, length = params->length, heads = params->heads;
  if (fades) {
    const Shape& decay = context.input(kDecay).shape();
    if (decay != Shape{batch, length, heads} &&
        decay != Shape{batch, length, heads * params->key_size}) {
      return WrongShape("decay", decay, {batch, length, heads * params->key_size});
    }
    params->decays = decay[2] / heads;
  }
  if (corrects) {
    const Shape& rate = context.input(kRate).shape();
    if (rate != Shape{batch, length, heads} && rate != Shape{batch, length, 1}) {
      return WrongShape("beta", rate, {batch, length, heads});
    }
    params->rates = rate[2];
  }
  return OkStatus();
}

Result<kernels::LinearAttentionParams> ParamsOf(const EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const HeadCounts counts, CountsOf(context.attributes()));
  const Shape& query = context.input(kQuery).shape();
  const Shape& key = context.input(kKey).shape();
  const Shape& value = context.input(kValue).shape();
  for (const Shape* shape : {&query, &key, &value}) {
    if (shape->rank() == 3 && (*shape)[0] == query[0] && (*shape)[1] == query[1]) continue;
    return InvalidArgumentError(
        "found query {}, key {} and value {}, expected rank 3 and equal batches and lengths",
        query.ToString(), key.ToString(), value.ToString());
  }
  kernels::LinearAttentionParams params = {query[0], query[1], counts.query, counts.key};
  params.key_size = query[2] / counts.query;
  params.value_size = value[2] / counts.key;
  if (query[2] == 0 || query[2] % counts.query != 0 || key[2] % counts.key != 0 ||
      key[2] / counts.key != params.key_size || value[2] % counts.key != 0) {
    return InvalidArgumentError("found query {}, key {} and value {} for {} and {} heads",
                                query.ToString(), key.ToString(), value.ToString(), counts.query,
                                counts.key);
  }
  const double scale = context.attributes().Float("scale", 0);
  params.scale = scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(params.key_size));
  KHEYA_RETURN_IF_ERROR(ReadRule(context, &params));
  return params;
}

// A copy of the past state, or zeros.
Result<Tensor> FirstState(EvalContext& context, const Shape& shape) {
  if (!context.has_input(kPast)) return Tensor::Zeros(DType::kFloat32, shape, context.budget());
  if (context.input(kPast).shape() != shape) {
    return InvalidArgumentError("found past_state {}, expected {}",
                                context.input(kPast).shape().ToString(), shape.ToString());
  }
  KHEYA_ASSIGN_OR_RETURN(const Tensor past, WideInput(context, kPast));
  KHEYA_ASSIGN_OR_RETURN(Tensor state, Tensor::Allocate(DType::kFloat32, shape, context.budget()));
  if (state.num_bytes() > 0) {
    std::memcpy(state.mutable_data<float>().data(), past.data<float>().data(), state.num_bytes());
  }
  return state;
}

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const kernels::LinearAttentionParams params, ParamsOf(context));
  const std::array state_dims = {params.batch, params.heads, params.key_size, params.value_size};
  std::array dims = {params.batch, params.length, int64_t{0}};
  if (!CheckedMul(params.query_heads, params.value_size, &dims[2])) {
    return InvalidArgumentError("found {} heads of {}, too many", params.query_heads,
                                params.value_size);
  }
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(dims));
  KHEYA_ASSIGN_OR_RETURN(const Shape state_shape, Shape::Create(state_dims));
  KHEYA_ASSIGN_OR_RETURN(Tensor state, FirstState(context, state_shape));
  std::array<Tensor, 6> inputs;
  for (const Input input : {kQuery, kKey, kValue, kDecay, kRate}) {
    KHEYA_ASSIGN_OR_RETURN(inputs[input], WideInput(context, input));
  }
  const DType dtype = context.input(kQuery).dtype();
  KHEYA_ASSIGN_OR_RETURN(WideOutput output, WideOutput::Create(context, 0, dtype, shape));
  kernels::LinearAttention(params, inputs[kQuery].view(), inputs[kKey].view(),
                           inputs[kValue].view(), inputs[kDecay].view(), inputs[kRate].view(),
                           state.mutable_view(), output.view());
  KHEYA_RETURN_IF_ERROR(output.Finish());
  if (!context.wants_output(1)) return OkStatus();
  const DType past = context.has_input(kPast) ? context.input(kPast).dtype() : DType::kUndefined;
  KHEYA_ASSIGN_OR_RETURN(WideOutput present,
                         WideOutput::Create(context, 1, StateType(past, dtype), state_shape));
  if (state.num_bytes() > 0) {
    std::memcpy(present.view().data, state.data<float>().data(), state.num_bytes());
  }
  return present.Finish();
}

}  // namespace

extern const OpDef kLinearAttentionOp;
const OpDef kLinearAttentionOp = {.domain = "",
                                  .name = "LinearAttention",
                                  .category = "attention",
                                  .inputs = kInputs,
                                  .outputs = kOutputs,
                                  .attributes = kAttributes,
                                  .infer = Infer,
                                  .evaluate = Evaluate};

}  // namespace kheya
