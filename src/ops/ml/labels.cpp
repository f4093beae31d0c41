// LabelEncoder and CategoryMapper.
#include <cmath>
#include <map>
#include <vector>

#include "kernels/reference/elementwise.h"
#include "kernels/reference/movement.h"
#include "ops/axes.h"
#include "ops/infer_util.h"
#include "ops/ml/ml_util.h"

namespace kheya {
namespace {

constexpr TypeMask kTypes = MaskOf({DType::kString, DType::kInt64, DType::kFloat32, DType::kInt32,
                                    DType::kInt16, DType::kFloat64});
constexpr ParamDef kInputs[] = {{"X", kTypes}};
constexpr ParamDef kOutputs[] = {{"Y", kTypes}};
constexpr ParamDef kMapperInputs[] = {{"X", ml::kLabelTypes}};
constexpr ParamDef kMapperOutputs[] = {{"Y", ml::kLabelTypes}};
constexpr AttributeDef kAttributes[] = {
    {"default_float", AttributeKind::kFloat},    {"default_int64", AttributeKind::kInt},
    {"default_string", AttributeKind::kString},  {"default_tensor", AttributeKind::kTensor},
    {"keys_floats", AttributeKind::kFloats},     {"keys_int64s", AttributeKind::kInts},
    {"keys_strings", AttributeKind::kStrings},   {"keys_tensor", AttributeKind::kTensor},
    {"values_floats", AttributeKind::kFloats},   {"values_int64s", AttributeKind::kInts},
    {"values_strings", AttributeKind::kStrings}, {"values_tensor", AttributeKind::kTensor}};
constexpr AttributeDef kMapperAttributes[] = {{"cats_int64s", AttributeKind::kInts},
                                              {"cats_strings", AttributeKind::kStrings},
                                              {"default_int64", AttributeKind::kInt},
                                              {"default_string", AttributeKind::kString}};

template <typename T>
Tensor ListOf(const std::vector<T>& list) {
  return Tensor::FromValues<T>(Shape{static_cast<int64_t>(list.size())}, list);
}

// The one list among the attributes PREFIX_floats, _int64s, _strings and _tensor.
Result<Tensor> ListAttribute(const AttributeReader& attributes, const std::string& prefix) {
  std::vector<Tensor> found;
  if (attributes.Has(prefix + "_floats")) {
    found.push_back(ListOf(attributes.Floats(prefix + "_floats")));
  }
  if (attributes.Has(prefix + "_int64s")) {
    found.push_back(ListOf(attributes.Ints(prefix + "_int64s")));
  }
  if (attributes.Has(prefix + "_strings")) {
    found.push_back(ListOf(attributes.Strings(prefix + "_strings")));
  }
  if (const Tensor* tensor = attributes.TensorOrNull(prefix + "_tensor")) {
    KHEYA_ASSIGN_OR_RETURN(found.emplace_back(), tensor->Aligned());
  }
  if (found.size() == 1) return found[0];
  return InvalidArgumentError("found {} attributes of {}, expected one", found.size(), prefix);
}

Result<Tensor> DefaultOf(const AttributeReader& attributes, DType dtype) {
  if (const Tensor* tensor = attributes.TensorOrNull("default_tensor")) {
    if (tensor->dtype() == dtype && tensor->num_elements() == 1) return tensor->Aligned();
    return InvalidArgumentError("found default_tensor {}, expected one {}", tensor->TypeString(),
                                DTypeName(dtype));
  }
  switch (dtype) {
    case DType::kString:
      return Tensor::Scalar(attributes.String("default_string", "_Unused"));
    case DType::kFloat32:
      return Tensor::Scalar(attributes.Float("default_float", -0.0f));
    case DType::kFloat64:
      return Tensor::Scalar(static_cast<double>(attributes.Float("default_float", -0.0f)));
    case DType::kInt32:
      return Tensor::Scalar(static_cast<int32_t>(attributes.Int("default_int64", -1)));
    case DType::kInt16:
      return Tensor::Scalar(static_cast<int16_t>(attributes.Int("default_int64", -1)));
    default:
      return Tensor::Scalar(attributes.Int("default_int64", -1));
  }
}

Status InferEncoder(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Tensor values, ListAttribute(context.attributes(), "values"));
  return InferSameShape(context, values.dtype());
}

// The place of each element among the keys, -1 for one that is none; NaN is a key like others.
template <typename T>
std::vector<int64_t> PlacesOf(const Tensor& keys, const Tensor& x) {
  std::map<T, int64_t> places;
  int64_t nan_place = -1;
  const auto is_nan = [](const T& value) {
    if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
    return false;
  };
  int64_t index = 0;
  for (const T& key : keys.data<T>()) {
    if (is_nan(key)) {
      nan_place = index;
    } else {
      places.emplace(key, index);
    }
    ++index;
  }
  std::vector<int64_t> found;
  for (const T& value : x.data<T>()) {
    const auto place = is_nan(value) ? places.end() : places.find(value);
    found.push_back(is_nan(value) ? nan_place : place == places.end() ? -1 : place->second);
  }
  return found;
}

Result<std::vector<int64_t>> PlacesAmong(const Tensor& keys, const Tensor& x) {
  if (keys.dtype() != x.dtype()) {
    return InvalidArgumentError("found {}, the keys are {}", DTypeName(x.dtype()),
                                DTypeName(keys.dtype()));
  }
  switch (keys.dtype()) {
    case DType::kString:
      return PlacesOf<std::string>(keys, x);
    case DType::kFloat32:
      return PlacesOf<float>(keys, x);
    case DType::kFloat64:
      return PlacesOf<double>(keys, x);
    case DType::kInt32:
      return PlacesOf<int32_t>(keys, x);
    case DType::kInt16:
      return PlacesOf<int16_t>(keys, x);
    case DType::kInt64:
      return PlacesOf<int64_t>(keys, x);
    default:
      return UnimplementedError("keys of type {} are not supported", DTypeName(keys.dtype()));
  }
}

// Looks every element up.
Status Encode(EvalContext& context, const Tensor& keys, const Tensor& values,
              const Tensor& missing) {
  const Tensor& x = context.input(0);
  if (keys.num_elements() != values.num_elements()) {
    return InvalidArgumentError("found {} keys and {} values, expected as many",
                                keys.num_elements(), values.num_elements());
  }
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> places, PlacesAmong(keys, x));
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView y, context.Output(0, values.dtype(), x.shape()));
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    const bool known = places[i] >= 0;
    kernels::CopyElements(known ? values.view() : missing.view(), known ? places[i] : 0, y, i, 1);
  }
  return OkStatus();
}

Status EvaluateEncoder(EvalContext& context) {
  const AttributeReader attributes = context.attributes();
  KHEYA_ASSIGN_OR_RETURN(const Tensor keys, ListAttribute(attributes, "keys"));
  KHEYA_ASSIGN_OR_RETURN(const Tensor values, ListAttribute(attributes, "values"));
  KHEYA_ASSIGN_OR_RETURN(const Tensor missing, DefaultOf(attributes, values.dtype()));
  return Encode(context, keys, values, missing);
}

Status InferMapper(InferContext& context) {
  const DType dtype = context.input_dtype(0);
  const DType other = dtype == DType::kString  ? DType::kInt64
                      : dtype == DType::kInt64 ? DType::kString
                                               : DType::kUndefined;
  return InferSameShape(context, other);
}

Status EvaluateMapper(EvalContext& context) {
  const AttributeReader attributes = context.attributes();
  const Tensor ints = ListOf(attributes.Ints("cats_int64s"));
  const Tensor strings = ListOf(attributes.Strings("cats_strings"));
  const bool from_strings = context.input(0).dtype() == DType::kString;
  const DType to = from_strings ? DType::kInt64 : DType::kString;
  KHEYA_ASSIGN_OR_RETURN(const Tensor missing, DefaultOf(attributes, to));
  return from_strings ? Encode(context, strings, ints, missing)
                      : Encode(context, ints, strings, missing);
}

}  // namespace

extern const OpDef kCategoryMapperOp;
const OpDef kCategoryMapperOp = ml::Op("CategoryMapper", kMapperInputs, kMapperOutputs,
                                       kMapperAttributes, InferMapper, EvaluateMapper);

extern const OpDef kLabelEncoderOp;
const OpDef kLabelEncoderOp =
    ml::Op("LabelEncoder", kInputs, kOutputs, kAttributes, InferEncoder, EvaluateEncoder);

}  // namespace kheya
