#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/command.h"
#include "app/model_options.h"
#include "app/spec_options.h"
#include "app/terminal.h"
#include "base/json.h"
#include "data/dataset.h"
#include "data/metrics.h"

namespace kheya {
namespace {

struct EvaluateOptions {
  ModelOptions model;
  SpecOptions spec;
  std::string data;
  std::string split = "test";
  std::string metric = "accuracy";
  int64_t batch = 64;
  int64_t limit = 0;
  bool json = false;
};

constexpr int64_t kTop = 5;

// A model whose batch is fixed decides how many samples go at once.
int64_t BatchFor(const CompiledModel& model, int64_t wanted) {
  const ValueType& type = model.inputs()[0].type;
  if (!type.shape || type.shape->empty() || !type.shape->front().known()) return wanted;
  return type.shape->front().value();
}

Status EvaluateAll(const EvaluateOptions& options, CompiledModel& model, Dataset& data,
                   TopKAccuracy* accuracy) {
  const int64_t batch = BatchFor(model, options.batch);
  const int64_t total = options.limit > 0 ? std::min(options.limit, data.size()) : data.size();
  ProgressBar bar("evaluating", total);
  RunContext context;
  context.threads = options.model.threads;
  std::vector<Value> outputs(model.outputs().size());
  while (accuracy->count() < total) {
    KHEYA_ASSIGN_OR_RETURN(const Batch samples,
                           data.Next(std::min(batch, total - accuracy->count())));
    if (samples.labels.empty()) break;
    const Value input(samples.input);
    std::fill(outputs.begin(), outputs.end(), Value());
    KHEYA_RETURN_IF_ERROR(model.Run(context, {&input, 1}, outputs));
    if (!outputs[0].is_tensor()) return UnimplementedError("the first output is not a tensor");
    KHEYA_RETURN_IF_ERROR(accuracy->Add(outputs[0].tensor(), samples.labels));
    bar.Update(accuracy->count());
  }
  return OkStatus();
}

Status Evaluate(const EvaluateOptions& options) {
  KHEYA_ASSIGN_OR_RETURN(const std::shared_ptr<CompiledModel> model, options.model.Compile());
  if (model->inputs().size() != 1 || model->outputs().empty()) {
    return UnimplementedError("found {} inputs and {} outputs, expected 1 input and scores",
                              model->inputs().size(), model->outputs().size());
  }
  KHEYA_ASSIGN_OR_RETURN(const ModelSpec spec, options.spec.Resolve(*model));
  KHEYA_ASSIGN_OR_RETURN(const std::unique_ptr<Dataset> data,
                         OpenDataset(options.data, spec, {.split = options.split}));
  TopKAccuracy accuracy(options.metric == "top5" ? kTop : 1);
  const auto start = std::chrono::steady_clock::now();
  KHEYA_RETURN_IF_ERROR(EvaluateAll(options, *model, *data, &accuracy));
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (accuracy.count() == 0) return InvalidArgumentError("found no samples in '{}'", options.data);
  if (options.json) {
    Json json = Json::Object();
    json[options.metric] = accuracy.value();
    json["count"] = accuracy.count();
    json["correct"] = accuracy.correct();
    json["seconds"] = seconds;
    json["data"] = options.data;
    fmt::print("{}\n", json.Dump(2));
    return OkStatus();
  }
  PrintFacts({{options.metric, fmt::format("{:.4f}", accuracy.value())},
              {"correct", fmt::format("{} of {}", WithCommas(accuracy.correct()),
                                      WithCommas(accuracy.count()))},
              {"time", fmt::format("{:.1f} s, {:.0f} samples/s", seconds,
                                   static_cast<double>(accuracy.count()) / seconds)}});
  return OkStatus();
}

}  // namespace

CommandBody DefineEvaluate(CLI::App& app) {
  auto options = std::make_shared<EvaluateOptions>();
  options->model.AddTo(app);
  app.add_option("--data", options->data,
                 "A folder of IDX files, a folder of pictures for each class, or an .npz file")
      ->required();
  app.add_option("--split", options->split, "Of IDX files: test or train")
      ->check(CLI::IsMember({"test", "train"}))
      ->capture_default_str();
  app.add_option("--metric", options->metric, "accuracy or top5")
      ->check(CLI::IsMember({"accuracy", "top5"}))
      ->capture_default_str();
  app.add_option("--batch", options->batch, "Samples in a run")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--limit", options->limit, "Stop after so many samples")
      ->check(CLI::PositiveNumber);
  app.add_flag("--json", options->json, "Print JSON");
  options->spec.AddTo(app);
  return [options] { return Evaluate(*options); };
}

}  // namespace kheya
