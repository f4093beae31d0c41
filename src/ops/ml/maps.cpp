// CastMap, DictVectorizer and ZipMap.
#include <vector>

#include "kernels/reference/cast.h"
#include "kernels/reference/movement.h"
#include "ops/axes.h"
#include "ops/ml/ml_util.h"

namespace kheya {
namespace {

constexpr ParamDef kMap[] = {{"X", types::kAny}};
constexpr TypeMask kCastTypes = MaskOf({DType::kString, DType::kFloat32, DType::kInt64});
constexpr ParamDef kCast[] = {{"Y", kCastTypes}};
constexpr TypeMask kDictTypes = kCastTypes | MaskOf({DType::kFloat64});
constexpr ParamDef kDict[] = {{"Y", kDictTypes}};
constexpr ParamDef kScores[] = {{"X", ml::kFloat32}};
constexpr ParamDef kMaps[] = {{"Z", types::kAny}};
constexpr AttributeDef kCastAttributes[] = {{"cast_to", AttributeKind::kString},
                                            {"map_form", AttributeKind::kString},
                                            {"max_map", AttributeKind::kInt}};
constexpr AttributeDef kDictAttributes[] = {{"int64_vocabulary", AttributeKind::kInts},
                                            {"string_vocabulary", AttributeKind::kStrings}};
constexpr AttributeDef kZipAttributes[] = {{"classlabels_int64s", AttributeKind::kInts},
                                           {"classlabels_strings", AttributeKind::kStrings}};

Result<DType> CastTarget(const AttributeReader& attributes) {
  const std::string name = attributes.String("cast_to", "TO_FLOAT");
  if (name == "TO_FLOAT") return DType::kFloat32;
  if (name == "TO_INT64") return DType::kInt64;
  if (name == "TO_STRING") return DType::kString;
  return InvalidArgumentError("found cast_to '{}', expected TO_FLOAT, TO_INT64 or TO_STRING", name);
}

Status InferCastMap(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const DType dtype, CastTarget(context.attributes()));
  return context.SetOutput(0, dtype, SymbolicShape{1, Dim()});
}

// The one element of a map's value.
Result<Tensor> ScalarOf(const Value& value) {
  if (value.is_tensor() && value.tensor().num_elements() == 1) return value.tensor();
  return InvalidArgumentError("found a map of {}, expected single elements",
                              TypeOf(value).ToString());
}

// Casts one element into place `at` of a row.
Status CastInto(const Tensor& from, int64_t at, const MutableTensorView& row) {
  KHEYA_ASSIGN_OR_RETURN(Tensor cast, Tensor::Allocate(row.dtype, from.shape()));
  KHEYA_RETURN_IF_ERROR(kernels::Cast(from.view(), cast.mutable_view()));
  kernels::CopyElements(cast.view(), 0, row, at, 1);
  return OkStatus();
}

// Dense: one place a key in order. Sparse: a key is its place, what has none is 0.
Result<int64_t> CastWidth(const AttributeReader& attributes, const Int64Map& map) {
  const std::string form = attributes.String("map_form", "DENSE");
  if (form == "DENSE") return static_cast<int64_t>(map.size());
  if (form != "SPARSE") {
    return InvalidArgumentError("found map_form '{}', expected DENSE or SPARSE", form);
  }
  const int64_t width = attributes.Int("max_map", 1);
  constexpr int64_t kMostPlaces = int64_t{1} << 31;
  const bool fits = width >= 1 && width <= kMostPlaces &&
                    (map.empty() || (map.begin()->first >= 0 && map.rbegin()->first < width));
  if (fits) return width;
  return InvalidArgumentError("found max_map {} for keys {} to {}", width,
                              map.empty() ? 0 : map.begin()->first,
                              map.empty() ? 0 : map.rbegin()->first);
}

Status EvaluateCastMap(EvalContext& context) {
  const Int64Map* map = context.input_value(0).int64_map();
  if (map == nullptr) {
    return InvalidArgumentError("found {}, expected a map of int64 keys",
                                TypeOf(context.input_value(0)).ToString());
  }
  KHEYA_ASSIGN_OR_RETURN(const DType dtype, CastTarget(context.attributes()));
  KHEYA_ASSIGN_OR_RETURN(const int64_t width, CastWidth(context.attributes(), *map));
  const bool sparse = context.attributes().String("map_form", "DENSE") == "SPARSE";
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView y, context.Output(0, dtype, Shape{1, width}));
  if (sparse) {
    for (int64_t i = 0; i < width; ++i) {
      KHEYA_RETURN_IF_ERROR(CastInto(Tensor::Scalar(int64_t{0}), i, y));
    }
  }
  int64_t next = 0;
  for (const auto& [key, value] : *map) {
    KHEYA_ASSIGN_OR_RETURN(const Tensor element, ScalarOf(value));
    KHEYA_RETURN_IF_ERROR(CastInto(element, sparse ? key : next++, y));
  }
  return OkStatus();
}

Status InferDict(InferContext& context) {
  const AttributeReader attributes = context.attributes();
  if (attributes.Has("int64_vocabulary") && attributes.Has("string_vocabulary")) {
    return InvalidArgumentError("found a vocabulary of integers and one of strings, expected one");
  }
  const size_t size = std::max(attributes.Ints("int64_vocabulary").size(),
                               attributes.Strings("string_vocabulary").size());
  const ValueType& type = context.input_type(0);
  const bool known = type.kind == ValueType::Kind::kMap && type.element;
  return context.SetOutput(0, known ? type.element->dtype : DType::kUndefined,
                           SymbolicShape{1, static_cast<int64_t>(size)});
}

// The values of the vocabulary's keys, 0 (or nothing) for those that the map has not.
template <typename Map, typename Key>
Status Vectorize(EvalContext& context, const Map& map, const std::vector<Key>& vocabulary) {
  if (vocabulary.empty())
    return InvalidArgumentError("found no vocabulary for the keys of the map");
  const ValueType element = map.empty() ? ValueType() : TypeOf(map.begin()->second);
  const DType dtype = element.is_tensor() ? element.dtype : DType::kFloat32;
  if ((kDictTypes & MaskOf({dtype})) == 0) {
    return UnimplementedError("maps of {} are not supported", DTypeName(dtype));
  }
  const Shape shape{1, static_cast<int64_t>(vocabulary.size())};
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView y, context.Output(0, dtype, shape));
  KHEYA_ASSIGN_OR_RETURN(const Tensor zero, Tensor::Zeros(dtype, Shape{}));
  for (size_t i = 0; i < vocabulary.size(); ++i) {
    const auto found = map.find(vocabulary[i]);
    Tensor value = zero;
    if (found != map.end()) {
      KHEYA_ASSIGN_OR_RETURN(value, ScalarOf(found->second));
      if (value.dtype() != dtype) {
        return InvalidArgumentError("found values of {} and {} in a map", DTypeName(dtype),
                                    DTypeName(value.dtype()));
      }
    }
    kernels::CopyElements(value.view(), 0, y, static_cast<int64_t>(i), 1);
  }
  return OkStatus();
}

Status EvaluateDict(EvalContext& context) {
  const Value& x = context.input_value(0);
  const AttributeReader attributes = context.attributes();
  if (x.string_map() != nullptr) {
    return Vectorize(context, *x.string_map(), attributes.Strings("string_vocabulary"));
  }
  if (x.int64_map() != nullptr) {
    return Vectorize(context, *x.int64_map(), attributes.Ints("int64_vocabulary"));
  }
  return InvalidArgumentError("found {}, expected a map", TypeOf(x).ToString());
}

Status InferZip(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const ml::ClassLabels labels,
                         ml::LabelsOf(context.attributes(), "classlabels_int64s"));
  const ValueType score = ValueType::OfTensor(DType::kFloat32, SymbolicShape());
  return context.SetOutputType(0, ValueType::OfSequence(ValueType::OfMap(labels.dtype(), score)));
}

Status EvaluateZip(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const ml::ClassLabels labels,
                         ml::LabelsOf(context.attributes(), "classlabels_int64s"));
  KHEYA_ASSIGN_OR_RETURN(const ml::Rows rows, ml::RowsInput(context, 0));
  if (rows.width != static_cast<int64_t>(labels.size())) {
    return InvalidArgumentError("found {} scores for {} labels", rows.width, labels.size());
  }
  Sequence maps;
  for (int64_t row = 0; row < rows.count; ++row) {
    Int64Map by_number;
    StringMap by_string;
    for (size_t i = 0; i < labels.size(); ++i) {
      Value score = Tensor::Scalar(static_cast<float>(rows.Row(row)[i]));
      if (labels.use_strings()) {
        by_string.insert_or_assign(labels.strings[i], std::move(score));
      } else {
        by_number.insert_or_assign(labels.numbers[i], std::move(score));
      }
    }
    maps.push_back(labels.use_strings() ? Value(std::move(by_string))
                                        : Value(std::move(by_number)));
  }
  return context.SetOutput(0, Value(std::move(maps)));
}

}  // namespace

extern const OpDef kCastMapOp;
const OpDef kCastMapOp =
    ml::Op("CastMap", kMap, kCast, kCastAttributes, InferCastMap, EvaluateCastMap);
extern const OpDef kDictVectorizerOp;
const OpDef kDictVectorizerOp =
    ml::Op("DictVectorizer", kMap, kDict, kDictAttributes, InferDict, EvaluateDict);
extern const OpDef kZipMapOp;
const OpDef kZipMapOp = ml::Op("ZipMap", kScores, kMaps, kZipAttributes, InferZip, EvaluateZip);

}  // namespace kheya
