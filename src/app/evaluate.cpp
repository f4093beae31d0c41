#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "app/command.h"
#include "app/model_options.h"
#include "app/spec_options.h"
#include "app/terminal.h"
#include "app/validators.h"
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
std::optional<int64_t> FixedBatch(const CompiledModel& model) {
  const ValueType& type = model.inputs()[0].type;
  if (!type.shape || type.shape->empty()) return std::nullopt;
  return type.shape->front().maybe();
}

// The first rows of `tensor`, or its rows and zeros behind them, to make `rows`.
Result<Tensor> WithRows(const Tensor& tensor, int64_t rows) {
  if (tensor.shape().rank() == 0 || tensor.shape()[0] == rows) return tensor;
  std::vector<int64_t> dims(tensor.shape().begin(), tensor.shape().end());
  dims[0] = rows;
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(dims));
  KHEYA_ASSIGN_OR_RETURN(Tensor made, Tensor::Allocate(tensor.dtype(), shape));
  auto* to = static_cast<std::byte*>(made.mutable_view().data);
  const size_t kept = std::min(made.num_bytes(), tensor.num_bytes());
  std::memcpy(to, tensor.bytes().data(), kept);
  std::memset(to + kept, 0, made.num_bytes() - kept);
  return made;
}

// The best class of each of the first `count` rows.
Result<std::vector<int64_t>> BestClasses(const Value& output, int64_t count) {
  if (!output.is_tensor() || output.tensor().dtype() != DType::kFloat32) {
    return UnimplementedError("the first output is not a tensor of float32");
  }
  const Tensor& scores = output.tensor();
  if (scores.shape().rank() == 0 || scores.shape()[0] < count || scores.num_elements() == 0) {
    return InvalidArgumentError("found an output of {}, expected {} rows", scores.TypeString(),
                                count);
  }
  const int64_t classes = scores.num_elements() / scores.shape()[0];
  std::vector<int64_t> best;
  for (int64_t row = 0; row < count; ++row) {
    const auto values = scores.data<float>().subspan(row * classes, classes);
    best.push_back(std::ranges::max_element(values) - values.begin());
  }
  return best;
}

// `reference` (may be null): the model whose best classes count as right instead of the labels.
Status EvaluateAll(const EvaluateOptions& options, CompiledModel& model, CompiledModel* reference,
                   Dataset& data, TopKAccuracy* accuracy) {
  const std::optional<int64_t> fixed = FixedBatch(model);
  const int64_t batch = fixed.value_or(options.batch);
  const int64_t total = options.limit > 0 ? std::min(options.limit, data.size()) : data.size();
  ProgressBar bar("evaluating", total);
  RunContext context;
  context.threads = options.model.threads;
  std::vector<Value> outputs(model.outputs().size());
  while (accuracy->count() < total) {
    KHEYA_ASSIGN_OR_RETURN(Batch samples, data.Next(std::min(batch, total - accuracy->count())));
    if (samples.labels.empty()) break;
    const auto count = static_cast<int64_t>(samples.labels.size());
    KHEYA_ASSIGN_OR_RETURN(Tensor rows, WithRows(samples.input, fixed.value_or(count)));
    const Value input(std::move(rows));
    if (reference != nullptr) {
      std::fill(outputs.begin(), outputs.end(), Value());
      KHEYA_RETURN_IF_ERROR(reference->Run(context, {&input, 1}, outputs));
      KHEYA_ASSIGN_OR_RETURN(samples.labels, BestClasses(outputs[0], count));
    }
    std::fill(outputs.begin(), outputs.end(), Value());
    KHEYA_RETURN_IF_ERROR(model.Run(context, {&input, 1}, outputs));
    if (!outputs[0].is_tensor()) return UnimplementedError("the first output is not a tensor");
    Tensor scores = outputs[0].tensor();
    if (fixed) {
      KHEYA_ASSIGN_OR_RETURN(scores, WithRows(scores, count));
    }
    KHEYA_RETURN_IF_ERROR(accuracy->Add(scores, samples.labels));
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
  std::shared_ptr<CompiledModel> reference;
  if (options.metric == "agreement") {
    ModelOptions exact = options.model;
    exact.precision = "fp32";
    KHEYA_ASSIGN_OR_RETURN(reference, exact.Compile());
  }
  TopKAccuracy accuracy(options.metric == "top5" ? kTop : 1);
  const auto start = std::chrono::steady_clock::now();
  KHEYA_RETURN_IF_ERROR(EvaluateAll(options, *model, reference.get(), *data, &accuracy));
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
  app.add_option("--metric", options->metric,
                 "accuracy, top5, or agreement: with the best classes in float32")
      ->check(CLI::IsMember({"accuracy", "top5", "agreement"}))
      ->capture_default_str();
  app.add_option("--batch", options->batch, "Samples in a run")
      ->check(WholeNumber(1))
      ->capture_default_str();
  app.add_option("--limit", options->limit, "Stop after so many samples")->check(WholeNumber(1));
  app.add_flag("--json", options->json, "Print JSON");
  options->spec.AddTo(app);
  return [options] { return Evaluate(*options); };
}

}  // namespace kheya
