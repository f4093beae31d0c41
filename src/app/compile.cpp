#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <memory>

#include "app/command.h"
#include "app/model_options.h"
#include "app/terminal.h"

namespace kheya {
namespace {

struct CompileCommandOptions {
  ModelOptions model;
  std::string output;
  std::string cpu = "native";
};

// `given`, and one row where that is all that is not known. False where more is open.
Result<bool> ChooseShapes(const std::vector<TensorInfo>& infos,
                          std::map<std::string, Shape>* given) {
  for (const TensorInfo& info : infos) {
    if (!info.type.is_tensor() || given->contains(info.name)) continue;
    if (!info.type.shape) return false;
    std::vector<int64_t> dims;
    for (const Dim& dim : *info.type.shape) {
      if (!dim.known() && !dims.empty()) return false;
      dims.push_back(dim.known() ? dim.value() : 1);
    }
    KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(dims));
    given->emplace(info.name, shape);
  }
  return true;
}

Status Compile(CompileCommandOptions& options) {
  KHEYA_ASSIGN_OR_RETURN(auto shapes, options.model.ParseShapes());
  options.model.shapes.clear();  // the package takes other shapes too
  options.model.keep_package = true;
  KHEYA_ASSIGN_OR_RETURN(std::shared_ptr<CompiledModel> model, options.model.Compile());
  KHEYA_ASSIGN_OR_RETURN(const bool known, ChooseShapes(model->inputs(), &shapes));
  if (known) {
    KHEYA_RETURN_IF_ERROR(model->Prepare(shapes));
  } else {
    PrintWarning(
        "not all shapes are known, so that weights are packed at the first run: see --shape");
  }
  KHEYA_RETURN_IF_ERROR(model->SavePackage(options.output));
  std::error_code error;
  const uint64_t bytes = std::filesystem::file_size(options.output, error);
  fmt::print("wrote {}: {}, {} of packed weights\n", options.output, HumanBytes(error ? 0 : bytes),
             HumanBytes(model->weight_bytes()));
  return OkStatus();
}

}  // namespace

CommandBody DefineCompile(CLI::App& app) {
  auto options = std::make_shared<CompileCommandOptions>();
  options->model.AddTo(app);
  app.add_option("-o,--output", options->output, "The package to write")->required();
  app.add_option(
         "--cpu", options->cpu,
         "The kind of CPU to compile for; a package that is compiled again keeps what other "
         "kinds have in it")
      ->check(CLI::IsMember({"native"}))
      ->capture_default_str();
  return [options] { return Compile(*options); };
}

}  // namespace kheya
