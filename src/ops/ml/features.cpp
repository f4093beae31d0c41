// ArrayFeatureExtractor, Binarizer, FeatureVectorizer, Imputer, Normalizer, OneHotEncoder, Scaler.
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "base/checked_math.h"
#include "kernels/reference/convert.h"
#include "kernels/reference/movement.h"
#include "ops/axes.h"
#include "ops/infer_util.h"
#include "ops/ml/ml_util.h"

namespace kheya {
namespace {

using ml::kNumbers;

constexpr ParamDef kX[] = {{"X", kNumbers, 'T'}};
constexpr ParamDef kSame[] = {{"Y", kNumbers, 'T'}};
constexpr ParamDef kFloats[] = {{"Y", ml::kFloat32}};
constexpr ParamDef kExtractInputs[] = {{"X", kNumbers | types::kString, 'T'}, {"Y", types::kInt64}};
constexpr ParamDef kExtracted[] = {{"Z", kNumbers | types::kString, 'T'}};
constexpr ParamDef kMany[] = {{"X", kNumbers, '\0', Presence::kVariadic}};
constexpr ParamDef kCategories[] = {{"X", kNumbers | types::kString}};
constexpr AttributeDef kBinarizer[] = {{"threshold", AttributeKind::kFloat}};
constexpr AttributeDef kVectorizer[] = {{"inputdimensions", AttributeKind::kInts}};
constexpr AttributeDef kImputer[] = {{"imputed_value_floats", AttributeKind::kFloats},
                                     {"imputed_value_int64s", AttributeKind::kInts},
                                     {"replaced_value_float", AttributeKind::kFloat},
                                     {"replaced_value_int64", AttributeKind::kInt}};
constexpr AttributeDef kNormalizer[] = {{"norm", AttributeKind::kString}};
constexpr AttributeDef kOneHot[] = {{"cats_int64s", AttributeKind::kInts},
                                    {"cats_strings", AttributeKind::kStrings},
                                    {"zeros", AttributeKind::kInt}};
constexpr AttributeDef kScaler[] = {{"offset", AttributeKind::kFloats},
                                    {"scale", AttributeKind::kFloats}};

// Picks columns of the last axis; a list becomes one row.
Status InferExtract(InferContext& context) {
  std::optional<SymbolicShape> shape = ShapeOrNull(context, 0);
  const SymbolicShape* picked = context.input_shape(1);
  if (shape && !shape->empty()) {
    if (shape->size() == 1) shape->insert(shape->begin(), 1);
    shape->back() = picked != nullptr ? ProductOf(*picked) : Dim();
  }
  return context.SetOutput(0, context.input_dtype(0), std::move(shape));
}

Status EvaluateExtract(EvalContext& context) {
  const Tensor& x = context.input(0);
  const Shape& in = x.shape();
  if (in.rank() < 1) return InvalidArgumentError("found a scalar, expected rank 1 or more");
  const auto picked = context.input(1).data<int64_t>();
  const int64_t width = in[in.rank() - 1];
  for (int64_t column : picked) {
    if (column >= 0 && column < width) continue;
    return InvalidArgumentError("found index {}, expected one in [0, {}]", column, width - 1);
  }
  std::vector<int64_t> dims(in.begin(), in.end());
  if (dims.size() == 1) dims.insert(dims.begin(), 1);
  dims.back() = static_cast<int64_t>(picked.size());
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(dims));
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView z, context.Output(0, x.dtype(), shape));
  int64_t at = 0;
  for (int64_t row = 0; row < in.Product(0, in.rank() - 1); ++row) {
    for (int64_t column : picked) {
      kernels::CopyElements(x.view(), row * width + column, z, at++, 1);
    }
  }
  return OkStatus();
}

Status EvaluateBinarizer(EvalContext& context) {
  const Tensor& x = context.input(0);
  const double threshold = context.attributes().Float("threshold", 0);
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView y, context.Output(0, x.dtype(), x.shape()));
  return kernels::MapNumeric(x.view(), y, [&]<typename T>(T value) {
    return static_cast<T>(static_cast<double>(value) > threshold ? 1 : 0);
  });
}

Status InferVectorizer(InferContext& context) {
  Dim width = 0;
  for (int i = 0; i < context.num_inputs(); ++i) {
    const SymbolicShape* shape = context.input_shape(i);
    width = width + (shape != nullptr && !shape->empty() ? shape->back() : Dim());
  }
  return context.SetOutput(0, DType::kFloat32, SymbolicShape{ml::InferRowCount(context), width});
}

// The columns of all inputs side by side.
Status EvaluateVectorizer(EvalContext& context) {
  const std::vector<int64_t> widths = context.attributes().Ints("inputdimensions");
  std::vector<ml::Rows> parts;
  int64_t width = 0;
  for (int i = 0; i < context.num_inputs(); ++i) {
    KHEYA_ASSIGN_OR_RETURN(ml::Rows rows, ml::RowsInput(context, i));
    const size_t at = static_cast<size_t>(i);
    if (at < widths.size() && widths[at] != rows.width) {
      return InvalidArgumentError("found {} columns of input {}, inputdimensions says {}",
                                  rows.width, i, widths[at]);
    }
    if (i > 0 && rows.count != parts[0].count) {
      return InvalidArgumentError("found {} and {} rows, expected as many", parts[0].count,
                                  rows.count);
    }
    width += rows.width;
    parts.push_back(std::move(rows));
  }
  std::vector<double> joined;
  for (int64_t row = 0; row < parts[0].count; ++row) {
    for (const ml::Rows& part : parts) {
      joined.insert(joined.end(), part.Row(row).begin(), part.Row(row).end());
    }
  }
  return ml::GiveFloats(context, 0, parts[0].count, width, joined);
}

template <typename T, typename V>
Status Impute(EvalContext& context, const std::vector<V>& values, V replaced) {
  const Tensor& x = context.input(0);
  const Shape& shape = x.shape();
  const int64_t width = shape.rank() > 0 ? shape[shape.rank() - 1] : 1;
  const auto count = static_cast<int64_t>(values.size());
  if (count != 1 && count != width) {
    return InvalidArgumentError("found {} imputed values for {} columns", count, width);
  }
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView y, context.Output(0, x.dtype(), shape));
  const auto from = x.data<T>();
  const auto to = y.as<T>();
  for (size_t i = 0; i < from.size(); ++i) {
    bool missing = from[i] == static_cast<T>(replaced);
    if constexpr (std::is_floating_point_v<T>) {
      missing = missing || (std::isnan(replaced) && std::isnan(from[i]));
    }
    to[i] = missing ? static_cast<T>(values[count == 1 ? 0 : i % width]) : from[i];
  }
  return OkStatus();
}

Status EvaluateImputer(EvalContext& context) {
  const AttributeReader attributes = context.attributes();
  const std::vector<float> floats = attributes.Floats("imputed_value_floats");
  const std::vector<int64_t> ints = attributes.Ints("imputed_value_int64s");
  const float replaced_float = attributes.Float("replaced_value_float", 0);
  const int64_t replaced_int = attributes.Int("replaced_value_int64", 0);
  switch (context.input(0).dtype()) {
    case DType::kFloat32:
      return Impute<float>(context, floats, replaced_float);
    case DType::kFloat64:
      return Impute<double>(context, floats, replaced_float);
    case DType::kInt64:
      return Impute<int64_t>(context, ints, replaced_int);
    default:
      return Impute<int32_t>(context, ints, replaced_int);
  }
}

Status InferFloats(InferContext& context) {
  return context.SetOutput(0, DType::kFloat32, ShapeOrNull(context, 0));
}

Status GiveLikeInput(EvalContext& context, const std::vector<double>& numbers) {
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView y,
                         context.Output(0, DType::kFloat32, context.input(0).shape()));
  std::ranges::transform(numbers, y.as<float>().begin(),
                         [](double number) { return static_cast<float>(number); });
  return OkStatus();
}

Status EvaluateNormalizer(EvalContext& context) {
  const std::string norm = context.attributes().String("norm", "MAX");
  if (norm != "MAX" && norm != "L1" && norm != "L2") {
    return InvalidArgumentError("found norm '{}', expected MAX, L1 or L2", norm);
  }
  KHEYA_ASSIGN_OR_RETURN(ml::Rows rows, ml::RowsInput(context, 0));
  for (int64_t row = 0; row < rows.count; ++row) {
    double* values = rows.numbers.data() + row * rows.width;
    double size = norm == "MAX" ? -std::numeric_limits<double>::infinity() : 0;
    for (int64_t i = 0; i < rows.width; ++i) {
      const double value = values[i];
      size = norm == "MAX"  ? std::max(size, value)
             : norm == "L1" ? size + std::abs(value)
                            : size + value * value;
    }
    if (norm == "L2") size = std::sqrt(size);
    for (int64_t i = 0; size != 0 && i < rows.width; ++i) values[i] /= size;
  }
  return GiveLikeInput(context, rows.numbers);
}

Status EvaluateScaler(EvalContext& context) {
  const std::vector<float> offset = context.attributes().Floats("offset");
  const std::vector<float> scale = context.attributes().Floats("scale");
  KHEYA_ASSIGN_OR_RETURN(ml::Rows rows, ml::RowsInput(context, 0));
  const auto fits = [&](const std::vector<float>& list) {
    return list.size() == 1 || static_cast<int64_t>(list.size()) == rows.width;
  };
  if (!fits(offset) || !fits(scale)) {
    return InvalidArgumentError("found {} offsets and {} scales for {} columns", offset.size(),
                                scale.size(), rows.width);
  }
  for (size_t i = 0; i < rows.numbers.size(); ++i) {
    const size_t column = i % static_cast<size_t>(rows.width);
    rows.numbers[i] = (rows.numbers[i] - offset[offset.size() == 1 ? 0 : column]) *
                      scale[scale.size() == 1 ? 0 : column];
  }
  return GiveLikeInput(context, rows.numbers);
}

Result<int64_t> CategoryCount(const AttributeReader& attributes) {
  const size_t ints = attributes.Ints("cats_int64s").size();
  const size_t strings = attributes.Strings("cats_strings").size();
  if ((ints == 0) != (strings == 0)) return static_cast<int64_t>(ints + strings);
  return InvalidArgumentError("found {} integer and {} string categories, expected one kind", ints,
                              strings);
}

Status InferOneHot(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const int64_t count, CategoryCount(context.attributes()));
  std::optional<SymbolicShape> shape = ShapeOrNull(context, 0);
  if (shape) shape->emplace_back(count);
  return context.SetOutput(0, DType::kFloat32, std::move(shape));
}

// The place of each element among the categories, -1 for one that is not there.
template <typename Key, typename Elements>
std::vector<int64_t> PlacesOf(const std::vector<Key>& categories, const Elements& elements) {
  std::map<Key, int64_t> places;
  for (size_t i = 0; i < categories.size(); ++i) {
    places.emplace(categories[i], static_cast<int64_t>(i));
  }
  std::vector<int64_t> found;
  for (const auto& element : elements) {
    const auto place = places.find(element);
    found.push_back(place == places.end() ? -1 : place->second);
  }
  return found;
}

Result<std::vector<int64_t>> CategoryPlaces(const EvalContext& context) {
  const Tensor& x = context.input(0);
  const AttributeReader attributes = context.attributes();
  const bool strings = !attributes.Strings("cats_strings").empty();
  if (strings != (x.dtype() == DType::kString)) {
    return InvalidArgumentError("found {}, expected the type of the categories",
                                DTypeName(x.dtype()));
  }
  if (strings) return PlacesOf(attributes.Strings("cats_strings"), x.data<std::string>());
  std::vector<int64_t> elements;
  KHEYA_RETURN_IF_ERROR(kernels::CallWithNumericType(x.dtype(), [&]<typename T>(const T&) {
    for (const T& value : x.data<T>()) elements.push_back(kernels::ConvertNumber<int64_t>(value));
  }));
  return PlacesOf(attributes.Ints("cats_int64s"), elements);
}

Status EvaluateOneHot(EvalContext& context) {
  const Tensor& x = context.input(0);
  KHEYA_ASSIGN_OR_RETURN(const int64_t count, CategoryCount(context.attributes()));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> places, CategoryPlaces(context));
  std::vector<int64_t> dims(x.shape().begin(), x.shape().end());
  dims.push_back(count);
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(dims));
  const bool zeros = context.attributes().Int("zeros", 1) != 0;
  if (!zeros && std::ranges::find(places, -1) != places.end()) {
    return InvalidArgumentError("found an element that is no category");
  }
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView y, context.Output(0, DType::kFloat32, shape));
  std::ranges::fill(y.as<float>(), 0.0f);
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] >= 0) y.as<float>()[i * count + places[i]] = 1;
  }
  return OkStatus();
}

}  // namespace

extern const OpDef kArrayFeatureExtractorOp;
const OpDef kArrayFeatureExtractorOp =
    ml::Op("ArrayFeatureExtractor", kExtractInputs, kExtracted, {}, InferExtract, EvaluateExtract);
extern const OpDef kBinarizerOp;
const OpDef kBinarizerOp =
    ml::Op("Binarizer", kX, kSame, kBinarizer, InferSameType, EvaluateBinarizer);
extern const OpDef kFeatureVectorizerOp;
const OpDef kFeatureVectorizerOp =
    ml::Op("FeatureVectorizer", kMany, kFloats, kVectorizer, InferVectorizer, EvaluateVectorizer);
extern const OpDef kImputerOp;
const OpDef kImputerOp = ml::Op("Imputer", kX, kSame, kImputer, InferSameType, EvaluateImputer);
extern const OpDef kNormalizerOp;
const OpDef kNormalizerOp =
    ml::Op("Normalizer", kX, kFloats, kNormalizer, InferFloats, EvaluateNormalizer);
extern const OpDef kOneHotEncoderOp;
const OpDef kOneHotEncoderOp =
    ml::Op("OneHotEncoder", kCategories, kFloats, kOneHot, InferOneHot, EvaluateOneHot);
extern const OpDef kScalerOp;
const OpDef kScalerOp = ml::Op("Scaler", kX, kFloats, kScaler, InferFloats, EvaluateScaler);

}  // namespace kheya
