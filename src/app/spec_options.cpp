#include "app/spec_options.h"

#include <CLI/CLI.hpp>

#include "base/file.h"
#include "base/string_util.h"

namespace kheya {
namespace {

Status AddSize(const std::string& size, Json* json) {
  const std::vector<std::string_view> parts = Split(size, 'x');
  if (parts.size() != 2) {
    return InvalidArgumentError("--size: found '{}', expected HEIGHTxWIDTH", size);
  }
  std::vector<int64_t> sides;
  for (std::string_view part : parts) {
    KHEYA_ASSIGN_OR_RETURN(sides.emplace_back(), ParseInt64(part).WithContext("--size"));
  }
  (*json)["size"] = Json(sides);
  return OkStatus();
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

}  // namespace

void SpecOptions::AddTo(CLI::App& app) {
  const char* group = "Pictures and labels (default: what the model file says)";
  app.add_option("--spec", file, "Read the model's spec from this JSON file")->group(group);
  app.add_option("--size", size, "Picture size, as HEIGHTxWIDTH")->group(group);
  app.add_option("--layout", layout, "NCHW or NHWC")->group(group);
  app.add_option("--color", color, "RGB, BGR or GRAY")->group(group);
  app.add_option("--resize", resize, "stretch, crop or pad")->group(group);
  app.add_option("--scale", scale, "Multiply pixels by this")->group(group);
  app.add_option("--mean", mean, "Then subtract this, one or one a channel")->group(group);
  app.add_option("--std", std, "Then divide by this, one or one a channel")->group(group);
  app.add_option("--labels", labels, "File with a label a line")->group(group);
  app.add_option("--postprocess", postprocess, "none or softmax")->group(group);
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
  if (!size.empty()) KHEYA_RETURN_IF_ERROR(AddSize(size, &json));
  if (!labels.empty()) KHEYA_RETURN_IF_ERROR(AddLabels(labels, &json));
  if (!layout.empty()) json["layout"] = layout;
  if (!color.empty()) json["color"] = color;
  if (!resize.empty()) json["resize"] = resize;
  if (scale != 0) json["scale"] = scale;
  if (!mean.empty()) json["mean"] = Json(mean);
  if (!std.empty()) json["std"] = Json(std);
  if (!postprocess.empty()) json["postprocess"] = postprocess;
  return ModelSpec::FromJson(json);
}

}  // namespace kheya
