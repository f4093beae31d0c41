#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <limits>
#include <memory>
#include <system_error>

#include "app/command.h"
#include "app/inputs.h"
#include "app/model_options.h"
#include "app/random_inputs.h"
#include "app/spec_options.h"
#include "app/terminal.h"
#include "app/validators.h"
#include "base/file.h"
#include "base/json.h"
#include "codec/npy.h"
#include "data/postprocess.h"
#include "formats/onnx/value_file.h"
#include "serve/api/tensor_json.h"

namespace kheya {
namespace {

struct RunOptions {
  ModelOptions model;
  SpecOptions spec;
  std::vector<std::string> inputs;
  std::optional<uint64_t> random_seed;
  int64_t top = 0;
  bool json = false;
  std::string output_dir;
};

Result<std::string> TextOf(const Value& value) {
  AnswerBody body;
  KHEYA_RETURN_IF_ERROR(AppendJsonValue(value, &body));
  return std::move(body).TakeText();
}

std::string TypeMembers(const Value& value) {
  if (!value.is_tensor()) return fmt::format("\"type\": \"{}\"", TypeOf(value).ToString());
  return fmt::format("\"dtype\": \"{}\", \"shape\": {}", DTypeName(value.tensor().dtype()),
                     value.tensor().shape().ToString());
}

// {"outputs": {name: {"dtype", "shape", "data"}}}, written by hand so that the
// numbers go straight from the tensors; of what is no tensor {"type", "data"}.
Result<std::string> OutputsJson(const CompiledModel& model, const std::vector<Value>& outputs) {
  std::string text = "{\"outputs\": {";
  for (size_t i = 0; i < outputs.size(); ++i) {
    KHEYA_ASSIGN_OR_RETURN(const std::string data, TextOf(outputs[i]));
    text += fmt::format("{}{}: {{{}, \"data\": {}}}", i == 0 ? "" : ", ",
                        Json(model.outputs()[i].name).Dump(), TypeMembers(outputs[i]), data);
  }
  return text + "}}";
}

Status PrintPlain(const CompiledModel& model, const std::vector<Value>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    Result<std::string> text = TextOf(outputs[i]);
    if (!text.ok()) {
      return std::move(text).status().WithContext("output '{}'", model.outputs()[i].name);
    }
    if (outputs.size() == 1) {
      fmt::print("Prediction: {}\n", *text);
    } else {
      fmt::print("Prediction: {} = {}\n", model.outputs()[i].name, *text);
    }
  }
  return OkStatus();
}

Status PrintTop(const ModelSpec& spec, const Value& output, int64_t count, bool json) {
  if (!output.is_tensor()) {
    return InvalidArgumentError("--top: the first output is {}, expected a tensor of scores",
                                TypeOf(output).ToString());
  }
  KHEYA_ASSIGN_OR_RETURN(const auto rows, ClassScores(spec, output.tensor()));
  Json all = Json::Array();
  for (const std::vector<float>& row : rows) {
    Json list = Json::Array();
    const std::vector<RankedClass> top = TopClasses(spec, row, count);
    for (size_t i = 0; i < top.size(); ++i) {
      const RankedClass& ranked = top[i];
      if (!json) {
        const std::string label =
            ranked.label.empty() ? fmt::format("class {}", ranked.index) : ranked.label;
        fmt::print("{}{:<20} {:.4f}\n", i == 0 ? "Prediction: " : "            ", label,
                   ranked.score);
      }
      Json entry = Json::Object();
      entry["index"] = ranked.index;
      entry["score"] = static_cast<double>(ranked.score);
      if (!ranked.label.empty()) entry["label"] = ranked.label;
      list.Append(std::move(entry));
    }
    all.Append(std::move(list));
  }
  if (json) {
    Json object = Json::Object();
    object["top"] = std::move(all);
    fmt::print("{}\n", object.Dump());
  }
  return OkStatus();
}

std::string SafeFileName(std::string_view name) {
  std::string safe;
  for (char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-';
    safe += plain ? c : '_';
  }
  return safe;
}

// NAME.npy for each output; NAME.pb for types that .npy lacks; NAME.json for what is no tensor.
Status WriteOutputs(const std::string& folder, const CompiledModel& model,
                    const std::vector<Value>& outputs) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return UnavailableError("cannot make the folder '{}': {}", folder, error.message());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = model.outputs()[i].name;
    const std::string base = fmt::format("{}/{}_{}", folder, i, SafeFileName(name));
    if (!outputs[i].is_tensor()) {
      KHEYA_ASSIGN_OR_RETURN(const std::string text, TextOf(outputs[i]));
      KHEYA_RETURN_IF_ERROR(WriteFileAtomic(base + ".json", text + "\n"));
      continue;
    }
    const Tensor& tensor = outputs[i].tensor();
    const Result<std::string> npy = WriteNpy(tensor);
    KHEYA_RETURN_IF_ERROR(npy.ok() ? WriteFileAtomic(base + ".npy", *npy)
                                   : WriteFileAtomic(base + ".pb", WriteTensorProto(tensor, name)));
  }
  return OkStatus();
}

Result<std::vector<Value>> MakeInputs(const RunOptions& options, const CompiledModel& model,
                                      const ModelSpec& spec) {
  if (!options.random_seed) return ReadInputs(model.inputs(), options.inputs, spec);
  KHEYA_ASSIGN_OR_RETURN(const auto given, options.model.ParseShapes());
  KHEYA_ASSIGN_OR_RETURN(const auto shapes, ChooseShapes(model.inputs(), given, 0));
  return RandomInputs(model.inputs(), shapes, *options.random_seed);
}

Status Run(const RunOptions& options) {
  LoadOptions load;
  for (const std::string& input : options.inputs) {
    const size_t equals = input.find('=');
    if (equals != input.npos) load.overridden.insert(input.substr(0, equals));
  }
  KHEYA_ASSIGN_OR_RETURN(const std::shared_ptr<CompiledModel> model, options.model.Compile(load));
  KHEYA_ASSIGN_OR_RETURN(const ModelSpec spec, options.spec.Resolve(*model));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<Value> inputs, MakeInputs(options, *model, spec));
  RunContext context;
  context.threads = options.model.threads;
  std::vector<Value> outputs(model->outputs().size());
  KHEYA_RETURN_IF_ERROR(model->Run(context, inputs, outputs));
  if (!options.output_dir.empty()) {
    KHEYA_RETURN_IF_ERROR(WriteOutputs(options.output_dir, *model, outputs));
  }
  if (options.top > 0 && !outputs.empty()) {
    return PrintTop(spec, outputs[0], options.top, options.json);
  }
  if (options.json) {
    KHEYA_ASSIGN_OR_RETURN(const std::string text, OutputsJson(*model, outputs));
    fmt::print("{}\n", text);
    return OkStatus();
  }
  return PrintPlain(*model, outputs);
}

}  // namespace

CommandBody DefineRun(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  options->model.AddTo(app);
  auto* input =
      app.add_option("--input", options->inputs,
                     "JSON, @FILE, NAME=JSON or NAME=@FILE; may be repeated. Files: .npy, "
                     ".npz, .pb, .json, a picture (JPEG, PNG, WebP, BMP, PNM, TIFF, JPEG 2000)");
  input->allow_extra_args(false);
  app.add_option("--random", options->random_seed, "Make the inputs up, from this seed")
      ->excludes(input)
      ->check(WholeNumber(0, std::numeric_limits<int64_t>::max()));
  app.add_option("--top", options->top, "Print the best classes of the first output")
      ->check(WholeNumber(1));
  app.add_flag("--json", options->json, "Print JSON");
  app.add_option("--output-dir", options->output_dir, "Also write each output to a file here");
  options->spec.AddTo(app);
  return [options] { return Run(*options); };
}

}  // namespace kheya
