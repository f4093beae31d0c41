#include "data/model_spec.h"

#include <cmath>
#include <optional>

#include "base/string_util.h"

namespace kheya {
namespace {

template <typename E>
struct EnumName {
  E value;
  const char* name;
};
constexpr EnumName<ModelSpec::Layout> kLayouts[] = {{ModelSpec::Layout::kNchw, "NCHW"},
                                                    {ModelSpec::Layout::kNhwc, "NHWC"}};
constexpr EnumName<ModelSpec::Resize> kResizes[] = {{ModelSpec::Resize::kStretch, "stretch"},
                                                    {ModelSpec::Resize::kCrop, "crop"},
                                                    {ModelSpec::Resize::kPad, "pad"}};
constexpr EnumName<ModelSpec::Color> kColors[] = {{ModelSpec::Color::kRgb, "RGB"},
                                                  {ModelSpec::Color::kBgr, "BGR"},
                                                  {ModelSpec::Color::kGray, "GRAY"}};
constexpr EnumName<ModelSpec::Postprocess> kPostprocesses[] = {
    {ModelSpec::Postprocess::kNone, "none"}, {ModelSpec::Postprocess::kSoftmax, "softmax"}};
constexpr EnumName<DType> kDTypes[] = {{DType::kFloat32, "float32"}, {DType::kUint8, "uint8"}};

constexpr int64_t kMaxSide = 16384;
constexpr size_t kMaxLabels = 1000000;

template <typename E, size_t N>
Status ReadEnum(const Json& json, const EnumName<E> (&names)[N], E* out) {
  KHEYA_ASSIGN_OR_RETURN(const std::string text, json.GetString());
  std::string known;
  for (const EnumName<E>& row : names) {
    if (text == row.name) {
      *out = row.value;
      return OkStatus();
    }
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  return InvalidArgumentError("found '{}', expected one of {}", Abbreviate(text), known);
}

template <typename E, size_t N>
const char* NameOf(const EnumName<E> (&names)[N], E value) {
  for (const EnumName<E>& row : names) {
    if (row.value == value) return row.name;
  }
  return "";
}

Status ReadString(const Json& json, std::string* out) {
  KHEYA_ASSIGN_OR_RETURN(*out, json.GetString());
  return OkStatus();
}

Status ReadFinite(const Json& json, double* out) {
  KHEYA_ASSIGN_OR_RETURN(*out, json.GetDouble());
  if (!std::isfinite(*out)) return InvalidArgumentError("found {}, expected a finite number", *out);
  return OkStatus();
}

Status ReadDoubles(const Json& json, std::vector<double>* out) {
  if (!json.is_array()) {
    return InvalidArgumentError("found {}, expected an array of numbers",
                                Json::TypeName(json.type()));
  }
  for (const Json& item : json.items())
    KHEYA_RETURN_IF_ERROR(ReadFinite(item, &out->emplace_back()));
  return OkStatus();
}

Status ReadSize(const Json& json, ModelSpec* spec) {
  if (!json.is_array() || json.items().size() != 2) {
    return InvalidArgumentError("found {}, expected [height, width]", Json::TypeName(json.type()));
  }
  int64_t sides[2] = {0, 0};
  for (int i = 0; i < 2; ++i) {
    KHEYA_ASSIGN_OR_RETURN(sides[i], json.items()[i].GetInt64());
    if (sides[i] < 1 || sides[i] > kMaxSide) {
      return InvalidArgumentError("found {}, expected 1 to {}", sides[i], kMaxSide);
    }
  }
  spec->height = sides[0];
  spec->width = sides[1];
  return OkStatus();
}

Status ReadLabels(const Json& json, std::vector<std::string>* out) {
  if (!json.is_array()) {
    return InvalidArgumentError("found {}, expected an array of strings",
                                Json::TypeName(json.type()));
  }
  if (json.items().size() > kMaxLabels) {
    return ResourceExhaustedError("found {} labels, expected at most {}", json.items().size(),
                                  kMaxLabels);
  }
  for (const Json& item : json.items())
    KHEYA_RETURN_IF_ERROR(ReadString(item, &out->emplace_back()));
  return OkStatus();
}

Status ReadVersion(const Json& json, ModelSpec*) {
  KHEYA_ASSIGN_OR_RETURN(const int64_t version, json.GetInt64());
  if (version == kSpecVersion) return OkStatus();
  return UnimplementedError("found version {}, expected {}", version, kSpecVersion);
}

Status ReadBatchAxis(const Json& json, ModelSpec* spec) {
  KHEYA_ASSIGN_OR_RETURN(spec->batch_axis, json.GetInt64());
  if (spec->batch_axis == 0) return OkStatus();
  return UnimplementedError("found {}, expected 0: other batch axes are not supported",
                            spec->batch_axis);
}

struct KeyRow {
  const char* name;
  Status (*read)(const Json& json, ModelSpec* spec);
};
constexpr KeyRow kKeys[] = {
    {"version", ReadVersion},
    {"input", [](const Json& j, ModelSpec* s) { return ReadString(j, &s->input); }},
    {"layout", [](const Json& j, ModelSpec* s) { return ReadEnum(j, kLayouts, &s->layout); }},
    {"size", ReadSize},
    {"resize", [](const Json& j, ModelSpec* s) { return ReadEnum(j, kResizes, &s->resize); }},
    {"color", [](const Json& j, ModelSpec* s) { return ReadEnum(j, kColors, &s->color); }},
    {"scale", [](const Json& j, ModelSpec* s) { return ReadFinite(j, &s->scale); }},
    {"mean", [](const Json& j, ModelSpec* s) { return ReadDoubles(j, &s->mean); }},
    {"std", [](const Json& j, ModelSpec* s) { return ReadDoubles(j, &s->std); }},
    {"dtype", [](const Json& j, ModelSpec* s) { return ReadEnum(j, kDTypes, &s->dtype); }},
    {"batch_axis", ReadBatchAxis},
    {"labels", [](const Json& j, ModelSpec* s) { return ReadLabels(j, &s->labels); }},
    {"postprocess",
     [](const Json& j, ModelSpec* s) { return ReadEnum(j, kPostprocesses, &s->postprocess); }},
};

Status ReadMember(const std::string& key, const Json& value, ModelSpec* spec) {
  std::string known;
  for (const KeyRow& row : kKeys) {
    if (key == row.name) return row.read(value, spec).WithContext("key '{}'", key);
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  return InvalidArgumentError("found the key '{}', expected one of {}", Abbreviate(key), known);
}

Status CheckNormalization(const ModelSpec& spec) {
  const auto fits = [&](const std::vector<double>& values) {
    return values.size() <= 1 || values.size() == static_cast<size_t>(spec.channels());
  };
  if (!fits(spec.mean) || !fits(spec.std)) {
    return InvalidArgumentError("found {} values of 'mean' and {} of 'std', expected 1 or {}",
                                spec.mean.size(), spec.std.size(), spec.channels());
  }
  for (double std : spec.std) {
    if (std == 0) return InvalidArgumentError("key 'std': found 0, expected another number");
  }
  const bool changes = spec.scale != 1.0 || !spec.mean.empty() || !spec.std.empty();
  if (spec.dtype == DType::kUint8 && changes) {
    return InvalidArgumentError("found dtype uint8 with scale, mean or std, expected float32");
  }
  return OkStatus();
}

}  // namespace

Result<ModelSpec> ModelSpec::Parse(std::string_view json) {
  KHEYA_ASSIGN_OR_RETURN(const Json parsed, Json::Parse(json));
  return FromJson(parsed);
}

Result<ModelSpec> ModelSpec::FromJson(const Json& json) {
  if (!json.is_object()) {
    return InvalidArgumentError("found {}, expected an object", Json::TypeName(json.type()));
  }
  ModelSpec spec;
  if (json.Find("version") == nullptr) {
    return InvalidArgumentError("found no key 'version', expected {}", kSpecVersion);
  }
  for (const auto& [key, value] : json.members()) {
    KHEYA_RETURN_IF_ERROR(ReadMember(key, value, &spec));
  }
  KHEYA_RETURN_IF_ERROR(CheckNormalization(spec));
  return spec;
}

Json ModelSpec::ToJson() const {
  Json json = Json::Object();
  json["version"] = kSpecVersion;
  if (!input.empty()) json["input"] = input;
  json["layout"] = NameOf(kLayouts, layout);
  if (has_picture()) json["size"] = Json(std::vector<int64_t>{height, width});
  json["resize"] = NameOf(kResizes, resize);
  json["color"] = NameOf(kColors, color);
  json["scale"] = scale;
  if (!mean.empty()) json["mean"] = Json(mean);
  if (!std.empty()) json["std"] = Json(std);
  json["dtype"] = NameOf(kDTypes, dtype);
  json["batch_axis"] = batch_axis;
  if (!labels.empty()) json["labels"] = Json(labels);
  json["postprocess"] = NameOf(kPostprocesses, postprocess);
  return json;
}

Result<ModelSpec> ModelSpec::FromMetadata(
    const std::vector<std::pair<std::string, std::string>>& metadata) {
  for (const auto& [key, value] : metadata) {
    if (key == kSpecKey) return Parse(value).WithContext("metadata '{}'", kSpecKey);
  }
  return ModelSpec();
}

}  // namespace kheya
