// CompiledGraph from and to packages.
#include "engine/compile_checks.h"
#include "engine/compiled_graph.h"
#include "engine/devices.h"
#include "engine/facts.h"
#include "engine/model_cache.h"
#include "engine/phase_clock.h"

namespace kheya {
namespace {

// Smaller models are not worth a file.
constexpr uint64_t kLeastKeptBytes = uint64_t{64} << 10;
constexpr size_t kMostKeptPlans = 64;

// The shapes of all inputs, where `given` and the declared types know them.
std::optional<PlanShapes> AllShapes(const std::vector<TensorInfo>& infos, const PlanShapes& given) {
  PlanShapes all;
  for (const TensorInfo& info : infos) {
    if (!info.type.is_tensor()) continue;
    std::optional<Shape> shape = info.type.KnownShape();
    if (const auto found = given.find(info.name); found != given.end()) {
      if (shape && *shape != found->second) return std::nullopt;
      shape = found->second;
    }
    if (!shape) return std::nullopt;
    all.emplace(info.name, *shape);
  }
  for (const auto& [name, shape] : given) {
    if (!all.contains(name)) return std::nullopt;
  }
  return all;
}

}  // namespace

Result<std::shared_ptr<CompiledModel>> CompiledGraph::Open(const CompileOptions& options,
                                                           Storage storage, std::string* reason) {
  const Package& package = *storage.package;
  const PackageInfo& info = package.info();
  const auto again = [&](std::string why) {
    *reason = std::move(why);
    return std::shared_ptr<CompiledModel>();
  };
  if (package.plans() == nullptr) return again(package.why_none());
  if (info.options != PlanOptionsKey(options)) {
    return again("it was compiled with other options");
  }
  const PlanRecord* plan = nullptr;
  const bool fixed = AllShapes(info.inputs, {}).has_value();
  if (fixed || !options.input_shapes.empty()) {
    const std::optional<PlanShapes> shapes = AllShapes(info.inputs, options.input_shapes);
    plan = shapes ? package.FindPlan(fixed ? PlanShapes() : *shapes) : nullptr;
    if (plan == nullptr) return again("it was not compiled for these shapes");
  }
  std::shared_ptr<CompiledGraph> compiled(new CompiledGraph(options, std::move(storage)));
  compiled->StartTuner();
  KHEYA_RETURN_IF_ERROR(compiled->InitStored(plan));
  compiled->options_.notes = nullptr;
  compiled->options_.warnings = nullptr;
  compiled->options_.phases = nullptr;
  return std::shared_ptr<CompiledModel>(std::move(compiled));
}

Status CompiledGraph::InitStored(const PlanRecord* plan) {
  PhaseClock clock(options_.phases);
  KHEYA_RETURN_IF_ERROR(CheckDevice(options_.device));
  KHEYA_RETURN_IF_ERROR(ParseTactics(options_.tactics, &plan_options_));
  KHEYA_RETURN_IF_ERROR(ParsePrecision(options_, &plan_options_));
  const Package& package = *storage_.package;
  name_ = package.info().name;
  metadata_ = package.info().metadata;
  inputs_ = package.info().inputs;
  outputs_ = package.info().outputs;
  macs_ = package.info().macs;
  KHEYA_RETURN_IF_ERROR(package.Feed(cache_.get()));
  if (options_.warnings != nullptr) {
    const std::vector<std::string>& warnings = package.info().warnings;
    options_.warnings->insert(options_.warnings->end(), warnings.begin(), warnings.end());
  }
  clock.End("open");
  if (plan != nullptr) {
    KHEYA_ASSIGN_OR_RETURN(const Graph graph, package.PlanGraph(*plan));
    clock.End("graph");
    if (!plan->shapes.empty()) {
      inputs_ = InputInfos(graph);
      outputs_ = OutputInfos(graph);
      macs_ = CountMacs(graph);
    }
    KHEYA_ASSIGN_OR_RETURN(std::shared_ptr<const Plan> made, MakeStoredPlan(graph));
    executor_ =
        std::make_shared<Executor>(std::move(made), options_.runtime, options_.budget, arenas_);
  }
  for (const TensorInfo& info : outputs_) output_kinds_.push_back(WithoutShapes(info.type));
  if (options_.keep_package || (plan == nullptr && !storage_.cache_file.empty())) {
    builder_ = PackageBuilder::GoOn(storage_.package);
  }
  return OkStatus();
}

Result<std::shared_ptr<const Plan>> CompiledGraph::MakeStoredPlan(const Graph& graph) {
  const size_t packed = cache_->num_packed();
  Tuner replay({}, storage_.package->plans()->choices);
  KHEYA_ASSIGN_OR_RETURN(std::shared_ptr<const Plan> made,
                         Compile(graph, &replay, /*may_time=*/false));
  if (cache_->num_packed() > packed && options_.warnings != nullptr) {
    options_.warnings->push_back(
        fmt::format("file '{}': {} packed weights are damaged or missing and were packed again",
                    storage_.package->file().file().path(), cache_->num_packed() - packed));
  }
  return made;
}

Result<const Graph*> CompiledGraph::SimplifiedGraph() const {
  std::lock_guard lock(graph_mutex_);
  if (graph_ == nullptr) {
    if (storage_.package == nullptr) return InternalError("the graph is gone");
    KHEYA_ASSIGN_OR_RETURN(Graph graph, storage_.package->SimplifiedGraph());
    graph_ = std::make_unique<const Graph>(std::move(graph));
  }
  return graph_.get();
}

Status CompiledGraph::SavePackage(const std::string& path) const {
  std::lock_guard lock(builder_mutex_);
  if (builder_ == nullptr) {
    return Status(StatusCode::kFailedPrecondition,
                  fmt::format("model '{}' was not compiled to be saved", name_));
  }
  const bool was_tuned = storage_.package != nullptr && storage_.package->plans()->tuned;
  const bool tuned = was_tuned || (tuner_ != nullptr && options_.tuning_seconds > 0);
  TacticChoices choices = tuner_ == nullptr ? TacticChoices() : tuner_->used();
  if (storage_.package != nullptr) choices.merge(TacticChoices(storage_.package->plans()->choices));
  Status status =
      builder_->Write(path, *cache_, choices, tuned, /*sync=*/storage_.cache_file != path);
  builder_->ReleasePages();
  return status;
}

void CompiledGraph::KeepCompiled() {
  if (storage_.cache_file.empty() || builder_ == nullptr) return;
  if (cache_->bytes() < kLeastKeptBytes || builder_->num_plans() > kMostKeptPlans) return;
  PhaseClock clock(options_.phases);
  const Status status = KeepModelFile(options_, storage_.cache_file,
                                      [&] { return SavePackage(storage_.cache_file); });
  if (!status.ok() && options_.notes != nullptr) {
    options_.notes->push_back(fmt::format("the compiled model is not kept: {}", status.message()));
  }
  clock.End("write cache");
}

}  // namespace kheya
