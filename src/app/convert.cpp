#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "app/command.h"
#include "app/terminal.h"
#include "app/validators.h"
#include "engine/engine.h"
#include "formats/formats.h"

namespace kheya {
namespace {

struct ConvertOptions {
  std::string model;
  std::string output;
  SaveOptions save;
  bool simplify = false;
  std::vector<std::string> disabled_passes;
};

Status Convert(const ConvertOptions& options) {
  KHEYA_ASSIGN_OR_RETURN(Model model, LoadModel(options.model, {.keep_notes = true}));
  for (const std::string& warning : model.warnings) PrintWarning(warning);
  const int64_t nodes = model.graph.num_nodes();
  if (options.simplify) KHEYA_RETURN_IF_ERROR(SimplifyModel(model, options.disabled_passes));
  KHEYA_ASSIGN_OR_RETURN(const int opset, SaveModel(model, options.output, options.save));
  std::error_code error;
  const uint64_t bytes = std::filesystem::file_size(options.output, error);
  fmt::print("wrote {}: {}, {} nodes{}, opset {}\n", options.output, HumanBytes(error ? 0 : bytes),
             model.graph.num_nodes(), options.simplify ? fmt::format(" of {}", nodes) : "", opset);
  return OkStatus();
}

}  // namespace

CommandBody DefineConvert(CLI::App& app) {
  auto options = std::make_shared<ConvertOptions>();
  app.add_option("MODEL", options->model, "The model file")->required();
  app.add_option("-o,--output", options->output, "The ONNX file to write; may be MODEL itself")
      ->required();
  app.add_option("--opset", options->save.opset,
                 fmt::format("Operator set of ai.onnx to write, {} to {}; without it MODEL's own, "
                             "or the oldest after it that has all that the model needs",
                             kOldestExportOpset, kCanonicalOpset))
      ->check(WholeNumber(kOldestExportOpset, kCanonicalOpset));
  app.add_flag("--external-data", options->save.external_data,
               "Put the weights into OUTPUT.data; models over 2 GB always do");
  CLI::Option* simplify = app.add_flag(
      "--simplify", options->simplify,
      "Fold constants and drop what computes nothing first, with standard operators alone");
  app.add_option("--disable-pass", options->disabled_passes,
                 "With --simplify: leave out this optimization; may be repeated")
      ->allow_extra_args(false)
      ->needs(simplify);
  return [options] { return Convert(*options); };
}

}  // namespace kheya
