#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/command.h"
#include "app/model_options.h"
#include "app/terminal.h"
#include "engine/engine.h"
#include "graph/text.h"
#include "ops/infer.h"
#include "passes/pipeline.h"

namespace kheya {
namespace {

struct OptimizeOptions {
  std::string model;
  std::vector<std::string> shapes;
  std::vector<std::string> disabled_passes;
  bool explain = false;
  bool simplify_only = false;
};

Status FixShapes(const std::vector<std::string>& shapes, Graph& graph) {
  for (const std::string& text : shapes) {
    KHEYA_ASSIGN_OR_RETURN(const auto shape, ParseShapeFlag(text));
    const std::optional<ValueId> id = graph.FindValue(shape.first);
    if (!id || graph.value(*id).origin != ValueOrigin::kInput) {
      return InvalidArgumentError("found no input '{}'", shape.first);
    }
    graph.SetType(*id, ValueType::OfTensor(graph.value(*id).type.dtype, ToSymbolic(shape.second)));
  }
  return InferTypes(graph);
}

// What each pass did, and why it did not do more.
void Explain(const std::vector<PassTiming>& timings, const std::vector<std::string>& notes) {
  for (const PassTiming& timing : timings) {
    if (timing.changes > 0) fmt::print("{}: {} changes\n", timing.pass, timing.changes);
  }
  for (const std::string& note : notes) fmt::print("{}\n", note);
}

Status Optimize(const OptimizeOptions& options) {
  KHEYA_ASSIGN_OR_RETURN(Model model, LoadModel(options.model, LoadOptions()));
  for (const std::string& warning : model.warnings) PrintWarning(warning);
  KHEYA_RETURN_IF_ERROR(FixShapes(options.shapes, model.graph));
  std::vector<std::string> notes;
  std::vector<PassTiming> timings;
  PassOptions passes{.disabled = options.disabled_passes, .notes = &notes, .timings = &timings};
  KHEYA_RETURN_IF_ERROR(Simplify(model.graph, passes));
  if (!options.simplify_only) KHEYA_RETURN_IF_ERROR(Lower(model.graph, passes));
  if (options.explain) {
    Explain(timings, notes);
  } else {
    fmt::print("{}", PrintGraph(model.graph));
  }
  return OkStatus();
}

}  // namespace

CommandBody DefineOptimize(CLI::App& app) {
  auto options = std::make_shared<OptimizeOptions>();
  app.add_option("MODEL", options->model, "The model file")->required();
  app.add_flag("--explain", options->explain,
               "Print what each optimization did and what nearly matched, instead of the graph");
  app.add_flag("--simplify-only", options->simplify_only,
               "Stop at the form that could be saved, with standard operators alone");
  app.add_option("--disable-pass", options->disabled_passes,
                 "Leave out this optimization; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--shape", options->shapes,
                 "Fix an input's shape, as NAME=1x3x224x224; may be repeated")
      ->allow_extra_args(false);
  return [options] { return Optimize(*options); };
}

}  // namespace kheya
