// RandomNormal, RandomNormalLike, RandomUniform, RandomUniformLike, Multinomial and Bernoulli.
#include "ops/random_ops.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/reference/cast.h"
#include "kernels/reference/convert.h"
#include "kernels/reference/quantize.h"
#include "ops/axes.h"
#include "ops/op.h"

namespace kheya {

kernels::RandomNumbers NumbersFor(const EvalContext& context) {
  const Attribute* attribute = context.node().FindAttribute("seed");
  if (attribute == nullptr) {
    return kernels::RandomNumbers(static_cast<uint32_t>(context.seed()));
  }
  if (const auto* whole = std::get_if<int64_t>(&attribute->value)) {
    return kernels::RandomNumbers(static_cast<uint32_t>(*whole));
  }
  const float seed = context.attributes().Float("seed", 0);
  return kernels::RandomNumbers(
      static_cast<uint32_t>(kernels::FloatToInteger<int64_t>(static_cast<double>(seed))));
}

namespace {

constexpr ParamDef kOutput[] = {{"output", types::kFloat}};
constexpr ParamDef kLike[] = {{"input", types::kEvery}};
constexpr ParamDef kFloats[] = {{"input", types::kFloat}};
constexpr ParamDef kIndices[] = {{"output", types::kIndex}};
constexpr ParamDef kBits[] = {{"output", types::kNumeric | types::kBool}};
constexpr AttributeDef kNormal[] = {{"dtype", AttributeKind::kInt},
                                    {"mean", AttributeKind::kFloat},
                                    {"scale", AttributeKind::kFloat},
                                    {"seed", AttributeKind::kFloat},
                                    {"shape", AttributeKind::kInts, true}};
constexpr AttributeDef kUniform[] = {{"dtype", AttributeKind::kInt},
                                     {"high", AttributeKind::kFloat},
                                     {"low", AttributeKind::kFloat},
                                     {"seed", AttributeKind::kFloat},
                                     {"shape", AttributeKind::kInts, true}};
constexpr std::span<const AttributeDef> kNormalLike = std::span(kNormal).first(4);
constexpr std::span<const AttributeDef> kUniformLike = std::span(kUniform).first(4);
constexpr AttributeDef kMultinomial[] = {{"dtype", AttributeKind::kInt},
                                         {"sample_size", AttributeKind::kInt},
                                         {"seed", AttributeKind::kFloat}};
constexpr AttributeDef kBernoulli[] = {{"dtype", AttributeKind::kInt},
                                       {"seed", AttributeKind::kFloat}};

// What 'dtype' names, `missing` when it is left out.
Result<DType> TypeOf(const AttributeReader& attributes, TypeMask allowed, DType missing) {
  if (!attributes.Has("dtype")) {
    if (missing == DType::kUndefined || (allowed & MaskOf({missing})) != 0) return missing;
    return InvalidArgumentError("found input of {} and no dtype", DTypeName(missing));
  }
  const int64_t number = attributes.Int("dtype", 0);
  const std::optional<DType> dtype = DTypeFromOnnx(number);
  if (dtype && (allowed & MaskOf({*dtype})) != 0) return *dtype;
  return InvalidArgumentError("found element type number {} in 'dtype'", number);
}

Status Infer(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const DType dtype,
                         TypeOf(context.attributes(), types::kFloat, DType::kFloat32));
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(context.attributes().Ints("shape")));
  return context.SetOutput(0, dtype, ToSymbolic(shape));
}

template <TypeMask allowed>
Status InferLike(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const DType dtype,
                         TypeOf(context.attributes(), allowed, context.input_dtype(0)));
  return context.SetOutput(0, dtype, ShapeOrNull(context, 0));
}

// Fills output 0 with next(i).
template <typename Next>
Status Fill(EvalContext& context, DType dtype, const Shape& shape, Next next) {
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView out, context.Output(0, dtype, shape));
  return kernels::CallWithNumericType(dtype, [&]<typename T>(const T&) {
    int64_t index = 0;
    for (T& value : out.as<T>()) value = kernels::ConvertNumber<T>(next(index++));
  });
}

Status DrawNormal(EvalContext& context, DType dtype, const Shape& shape) {
  kernels::RandomNumbers numbers = NumbersFor(context);
  const double mean = context.attributes().Float("mean", 0);
  const double scale = context.attributes().Float("scale", 1);
  return Fill(context, dtype, shape, [&](int64_t) { return numbers.Normal() * scale + mean; });
}

Status DrawUniform(EvalContext& context, DType dtype, const Shape& shape) {
  kernels::RandomNumbers numbers = NumbersFor(context);
  const double low = context.attributes().Float("low", 0);
  const double high = context.attributes().Float("high", 1);
  return Fill(context, dtype, shape,
              [&](int64_t) { return numbers.Uniform() * (high - low) + low; });
}

template <Status (*draw)(EvalContext&, DType, const Shape&)>
Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const DType dtype,
                         TypeOf(context.attributes(), types::kFloat, DType::kFloat32));
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(context.attributes().Ints("shape")));
  return draw(context, dtype, shape);
}

template <Status (*draw)(EvalContext&, DType, const Shape&)>
Status EvaluateLike(EvalContext& context) {
  const Tensor& like = context.input(0);
  KHEYA_ASSIGN_OR_RETURN(const DType dtype,
                         TypeOf(context.attributes(), types::kFloat, like.dtype()));
  return draw(context, dtype, like.shape());
}

Status EvaluateBernoulli(EvalContext& context) {
  const Tensor& input = context.input(0);
  KHEYA_ASSIGN_OR_RETURN(const DType dtype, TypeOf(context.attributes(),
                                                   types::kNumeric | types::kBool, input.dtype()));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<double> chances, kernels::NumbersOf(input.view()));
  for (double chance : chances) {
    if (chance >= 0 && chance <= 1) continue;
    return InvalidArgumentError("found a probability of {}, expected one in [0, 1]", chance);
  }
  kernels::RandomNumbers numbers = NumbersFor(context);
  return Fill(context, dtype, input.shape(),
              [&](int64_t i) { return numbers.Uniform() < chances[i] ? 1.0 : 0.0; });
}

Result<int64_t> SampleSize(const AttributeReader& attributes) {
  const int64_t size = attributes.Int("sample_size", 1);
  if (size >= 0) return size;
  return InvalidArgumentError("found sample_size {}, expected 0 or more", size);
}

Status InferMultinomial(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const DType dtype,
                         TypeOf(context.attributes(), types::kIndex, DType::kUndefined));
  KHEYA_ASSIGN_OR_RETURN(const int64_t samples, SampleSize(context.attributes()));
  const SymbolicShape* input = context.input_shape(0);
  const Dim batch = input != nullptr && input->size() == 2 ? (*input)[0] : Dim();
  return context.SetOutput(0, dtype == DType::kUndefined ? DType::kInt32 : dtype,
                           SymbolicShape{batch, samples});
}

// Makes sums of exp(x - max) up to each class of one row of logarithms.
Status SumWeights(std::span<double> row) {
  const double largest = std::ranges::max(row);
  double sum = 0;
  for (double& entry : row) entry = sum += std::exp(entry - largest);
  if (std::isfinite(sum)) return OkStatus();
  return InvalidArgumentError(
      "found a NaN, infinity or nothing over -infinity in a row, expected "
      "logarithms of probabilities");
}

// The input holds logarithms of probabilities, up to a constant for each row.
Status EvaluateMultinomial(EvalContext& context) {
  const Tensor& input = context.input(0);
  const Shape& in = input.shape();
  if (in.rank() != 2 || in[1] < 1) {
    return InvalidArgumentError("found input {}, expected [batch,classes]", in.ToString());
  }
  KHEYA_ASSIGN_OR_RETURN(const DType named,
                         TypeOf(context.attributes(), types::kIndex, DType::kUndefined));
  KHEYA_ASSIGN_OR_RETURN(const int64_t samples, SampleSize(context.attributes()));
  KHEYA_ASSIGN_OR_RETURN(std::vector<double> sums, kernels::NumbersOf(input.view()));
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(std::vector{in[0], samples}));
  const auto row_of = [&](int64_t row) { return std::span(sums).subspan(row * in[1], in[1]); };
  for (int64_t row = 0; row < in[0]; ++row) KHEYA_RETURN_IF_ERROR(SumWeights(row_of(row)));
  kernels::RandomNumbers numbers = NumbersFor(context);
  return Fill(context, named == DType::kUndefined ? DType::kInt32 : named, shape, [&](int64_t i) {
    const std::span<const double> row = row_of(i / samples);
    const auto found = std::ranges::upper_bound(row, numbers.Uniform() * row.back());
    return std::min<int64_t>(found - row.begin(), in[1] - 1);
  });
}

constexpr OpDef Op(const char* name, std::span<const ParamDef> inputs,
                   std::span<const ParamDef> outputs, std::span<const AttributeDef> attributes,
                   Status (*infer)(InferContext&), Status (*evaluate)(EvalContext&)) {
  return {.domain = "",
          .name = name,
          .category = "random",
          .inputs = inputs,
          .outputs = outputs,
          .attributes = attributes,
          .infer = infer,
          .evaluate = evaluate,
          .deterministic = false};
}

}  // namespace

extern const OpDef kBernoulliOp;
const OpDef kBernoulliOp = Op("Bernoulli", kFloats, kBits, kBernoulli,
                              InferLike<types::kNumeric | types::kBool>, EvaluateBernoulli);
extern const OpDef kMultinomialOp;
const OpDef kMultinomialOp =
    Op("Multinomial", kFloats, kIndices, kMultinomial, InferMultinomial, EvaluateMultinomial);
extern const OpDef kRandomNormalOp;
const OpDef kRandomNormalOp = Op("RandomNormal", {}, kOutput, kNormal, Infer, Evaluate<DrawNormal>);
extern const OpDef kRandomNormalLikeOp;
const OpDef kRandomNormalLikeOp = Op("RandomNormalLike", kLike, kOutput, kNormalLike,
                                     InferLike<types::kFloat>, EvaluateLike<DrawNormal>);
extern const OpDef kRandomUniformOp;
const OpDef kRandomUniformOp =
    Op("RandomUniform", {}, kOutput, kUniform, Infer, Evaluate<DrawUniform>);
extern const OpDef kRandomUniformLikeOp;
const OpDef kRandomUniformLikeOp = Op("RandomUniformLike", kLike, kOutput, kUniformLike,
                                      InferLike<types::kFloat>, EvaluateLike<DrawUniform>);

}  // namespace kheya
