#include "app/spec_options.h"

#include <CLI/CLI.hpp>

#include "app/validators.h"
#include "base/file.h"
#include "base/string_util.h"

namespace kheya {
namespace {

Result<std::vector<int64_t>> ParseSize(const std::string& size) {
  std::vector<int64_t> sides;
  for (std::string_view part : Split(size, 'x')) {
    const Result<int64_t> side = ParseInt64(part);
    sides.push_back(side.ok() ? *side : 0);
  }
  if (sides.size() != 2 || sides[0] <= 0 || sides[1] <= 0) {
    return InvalidArgumentError("found '{}', expected HEIGHTxWIDTH", Abbreviate(size));
  }
  return sides;
}

Status AddLabels(const std::string& path, Json* json) {
  KHEYA_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, uint64_t{1} << 26));
  Json labels = Json::Array();
  std::vector<std::string_view> lines = Split(text, '\n');
  if (lines.back().empty()) lines.pop_back();
  for (std::string_view line : lines) labels.Append(Trim(line));
  (*json)["labels"] = std::move(labels);
  return OkStatus();
}

// Labels that do not fit the classes belong to another model.
Status CheckLabels(const ModelSpec& spec, const CompiledModel& model) {
  if (spec.labels.empty() || model.outputs().empty()) return OkStatus();
  const auto& [name, type] = model.outputs()[0];
  if (!type.shape || type.shape->size() != 2 || !type.shape->back().known()) return OkStatus();
  const int64_t classes = type.shape->back().value();
  if (static_cast<int64_t>(spec.labels.size()) == classes) return OkStatus();
  return InvalidArgumentError("labels: found {}, expected {} as the output '{}' has classes",
                              spec.labels.size(), classes, name);
}

}  // namespace

void SpecOptions::AddTo(CLI::App& app) {
  const char* group = "Pictures and labels (default: what the model file says)";
  app.add_option("--spec", file, "Read the model's spec from this JSON file")->group(group);
  app.add_option("--size", size, "Picture size, as HEIGHTxWIDTH")
      ->group(group)
      ->check(Accepts([](const std::string& text) { return ParseSize(text).status(); }));
  const auto choice = [&](const char* flag, std::string& value, const char* what,
                          std::vector<std::string> choices) {
    app.add_option(flag, value, what)->group(group)->check(CLI::IsMember(std::move(choices)));
  };
  choice("--layout", layout, "Order of the axes", {"NCHW", "NHWC"});
  choice("--color", color, "Order of the channels", {"RGB", "BGR", "GRAY"});
  choice("--resize", resize, "How a picture is brought to --size", {"stretch", "crop", "pad"});
  app.add_option("--scale", scale, "Multiply pixels by this")->group(group);
  for (auto& [flag, values, what] :
       {std::tuple("--mean", &mean, "Then subtract this: one number, or 0.1,0.2,0.3 for channels"),
        std::tuple("--std", &std,
                   "Then divide by this: one number, or 0.1,0.2,0.3 for channels")}) {
    app.add_option(flag, *values, what)->group(group)->allow_extra_args(false)->delimiter(',');
  }
  app.add_option("--labels", labels, "File with a label a line")->group(group);
  choice("--postprocess", postprocess, "What is done to the scores", {"none", "softmax"});
}

Result<ModelSpec> SpecOptions::Resolve(const CompiledModel& model) const {
  ModelSpec spec;
  if (file.empty()) {
    KHEYA_ASSIGN_OR_RETURN(spec, ModelSpec::FromMetadata(model.metadata()));
  } else {
    KHEYA_ASSIGN_OR_RETURN(const std::string text, ReadFile(file, uint64_t{1} << 26));
    KHEYA_ASSIGN_OR_RETURN(spec, ModelSpec::Parse(text).WithContext("file '{}'", file));
  }
  Json json = spec.ToJson();
  if (!size.empty()) {
    KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> sides, ParseSize(size));
    json["size"] = Json(sides);
  }
  if (!labels.empty()) KHEYA_RETURN_IF_ERROR(AddLabels(labels, &json));
  if (!layout.empty()) json["layout"] = layout;
  if (!color.empty()) json["color"] = color;
  if (!resize.empty()) json["resize"] = resize;
  if (scale) json["scale"] = *scale;
  if (!mean.empty()) json["mean"] = Json(mean);
  if (!std.empty()) json["std"] = Json(std);
  if (!postprocess.empty()) json["postprocess"] = postprocess;
  KHEYA_ASSIGN_OR_RETURN(spec, ModelSpec::FromJson(json));
  KHEYA_RETURN_IF_ERROR(CheckLabels(spec, model));
  return spec;
}

}  // namespace kheya
