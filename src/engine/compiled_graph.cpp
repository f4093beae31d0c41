#include "engine/compiled_graph.h"

#include <algorithm>
#include <set>

#include "base/out_of_memory.h"
#include "engine/compile_checks.h"
#include "engine/devices.h"
#include "engine/facts.h"
#include "engine/phase_clock.h"
#include "ops/infer.h"
#include "passes/pipeline.h"
#include "runtime/tactics_cache.h"

namespace kheya {
namespace {

// What folding may add to a model: generated weights (ConstantOfShape and the like) fit.
constexpr uint64_t kFoldBytes = uint64_t{1} << 30;
// Of packed weights against weights where memory is short: padding, but not Winograd's forms.
constexpr double kLeanGrowth = 1.5;

}  // namespace

CompiledGraph::CompiledGraph(const CompileOptions& options, Storage storage)
    : options_(options), storage_(std::move(storage)) {
  if (!options_.runtime) options_.runtime = Runtime::Default();
  if (!options_.budget) options_.budget = ProcessBudget();
  cache_ = std::make_shared<PackCache>(options_.budget);
  arenas_ = std::make_shared<ArenaPool>(options_.budget);
  plans_ = std::make_unique<ShapePlans>(options_.max_shape_plans);
}

void CompiledGraph::StartTuner() {
  if (options_.tuning_seconds <= 0 && options_.cache_dir.empty()) return;
  TacticChoices known;
  if (!options_.cache_dir.empty()) {
    const std::string machine = TuningMachine();
    known = ReadTactics(TacticsCachePath(options_.cache_dir, machine), machine);
  }
  tuner_ = std::make_unique<Tuner>(
      TunerOptions{options_.tuning_seconds, options_.tuning_progress, options_.tolerance},
      std::move(known));
}

Result<std::shared_ptr<CompiledModel>> CompiledGraph::Create(Model model,
                                                             const CompileOptions& options,
                                                             Storage storage) {
  std::shared_ptr<CompiledGraph> compiled(new CompiledGraph(options, std::move(storage)));
  compiled->StartTuner();
  KHEYA_RETURN_IF_ERROR(compiled->Init(std::move(model)));
  compiled->options_.notes = nullptr;  // the caller's, for this call alone
  compiled->options_.warnings = nullptr;
  compiled->options_.phases = nullptr;
  return std::shared_ptr<CompiledModel>(std::move(compiled));
}

PassOptions CompiledGraph::Passes() const {
  PassOptions passes;
  passes.disabled = options_.disabled_passes;
  passes.fold_bytes = kFoldBytes;
  if (const uint64_t limit = options_.budget->limit_bytes(); limit > 0) {
    passes.fold_bytes = std::min(passes.fold_bytes, limit / 4);
  }
  passes.notes = options_.notes;
  return passes;
}

Status CompiledGraph::Init(Model model) {
  PhaseClock clock(options_.phases);
  KHEYA_RETURN_IF_ERROR(CheckDevice(options_.device));
  KHEYA_RETURN_IF_ERROR(ParseTactics(options_.tactics, &plan_options_));
  KHEYA_RETURN_IF_ERROR(ParsePrecision(options_, &plan_options_));
  KHEYA_RETURN_IF_ERROR(CheckSupported(model.graph));
  if (!options_.input_shapes.empty()) {
    KHEYA_RETURN_IF_ERROR(SpecializeInputs(model.graph, options_.input_shapes));
  }
  name_ = NameOf(model);
  metadata_ = model.graph.metadata();
  inputs_ = InputInfos(model.graph);
  outputs_ = OutputInfos(model.graph);
  for (const TensorInfo& info : outputs_) output_kinds_.push_back(WithoutShapes(info.type));
  macs_ = CountMacs(model.graph);
  clock.End("check");
  if (options_.simplify) KHEYA_RETURN_IF_ERROR(Simplify(model.graph, Passes()));
  clock.End("simplify");
  if (options_.keep_package || !storage_.cache_file.empty()) {
    const PackageInfo info{
        PlanOptionsKey(options_), name_, inputs_, outputs_, metadata_, macs_, model.warnings};
    KHEYA_ASSIGN_OR_RETURN(builder_, PackageBuilder::Start(info, model.graph, storage_.package));
    clock.End("keep");
  }
  storage_.package = nullptr;  // its plans are not used
  if (!IsFixed(inputs_)) {
    graph_ = std::make_unique<const Graph>(std::move(model.graph));
    return OkStatus();
  }
  KHEYA_ASSIGN_OR_RETURN(std::shared_ptr<const Plan> plan,
                         MakePlan(std::move(model.graph), {}, /*may_time=*/true));
  KeepCompiled();
  if (!options_.keep_package) builder_ = nullptr;
  executor_ =
      std::make_shared<Executor>(std::move(plan), options_.runtime, options_.budget, arenas_);
  return OkStatus();
}

Result<std::shared_ptr<const Plan>> CompiledGraph::MakePlan(Graph graph, const PlanShapes& shapes,
                                                            bool may_time) {
  const bool plain = plan_options_.tactics == Tactics::kReference;
  PhaseClock clock(options_.phases);
  if (options_.lower && !plain) KHEYA_RETURN_IF_ERROR(Lower(graph, Passes()));
  clock.End("lower");
  if (builder_ != nullptr && may_time) {
    std::lock_guard lock(builder_mutex_);
    KHEYA_RETURN_IF_ERROR(builder_->AddPlan(shapes, graph));
    clock.End("keep plan");
  }
  const size_t known = tuner_ == nullptr ? 0 : tuner_->num_timed();
  KHEYA_ASSIGN_OR_RETURN(std::shared_ptr<const Plan> plan, Compile(graph, tuner_.get(), may_time));
  if (tuner_ != nullptr && tuner_->num_timed() > known) KeepChoices();
  return plan;
}

Result<std::shared_ptr<const Plan>> CompiledGraph::Compile(const Graph& lowered, Tuner* tuner,
                                                           bool may_time) {
  PhaseClock clock(options_.phases);
  CompilePlanOptions options = plan_options_;
  options.cache = cache_.get();
  options.notes = options_.notes;
  options.tuner = tuner;
  options.may_time = may_time;
  options.compare = options_.compare_tactics;
  options.needs_memory = true;
  const auto compile = [&]() -> Result<std::shared_ptr<const Plan>> {
    KHEYA_ASSIGN_OR_RETURN(std::shared_ptr<const Plan> made, CompilePlan(lowered, options));
    KHEYA_RETURN_IF_ERROR(CheckRoom(*made));
    return made;
  };
  Result<std::shared_ptr<const Plan>> plan = compile();
  if (plan.status().code() == StatusCode::kResourceExhausted) {
    // Again without the forms of weights that take most.
    cache_->LimitGrowth(kLeanGrowth);
    plan = compile();
  }
  clock.End("plan");
  if (options_.phases != nullptr) {
    options_.phases->emplace_back(" hash", cache_->hash_seconds());
    options_.phases->emplace_back(" pack", cache_->pack_seconds());
  }
  return plan;
}

Status CompiledGraph::CheckRoom(const Plan& plan) const {
  const uint64_t limit = options_.budget->limit_bytes();
  const uint64_t used = options_.budget->used_bytes();
  if (limit == 0 || (used <= limit && plan.arena_bytes <= limit - used)) return OkStatus();
  return ResourceExhaustedError("model '{}': a run takes {} bytes, {} of {} are in use", name_,
                                plan.arena_bytes, used, limit);
}

void CompiledGraph::KeepChoices() const {
  if (options_.cache_dir.empty()) return;
  const std::string machine = TuningMachine();
  const Status status =
      WriteTactics(TacticsCachePath(options_.cache_dir, machine), machine, tuner_->choices());
  if (!status.ok() && options_.notes != nullptr) {
    options_.notes->push_back(fmt::format("choices of kernels: {}", status.message()));
  }
}

Result<std::shared_ptr<Executor>> CompiledGraph::MakeExecutor(
    const std::map<std::string, Shape>& shapes, bool may_time) {
  if (storage_.package != nullptr) {
    if (const PlanRecord* stored = storage_.package->FindPlan(shapes)) {
      Result<Graph> lowered = storage_.package->PlanGraph(*stored);
      if (lowered.ok()) {
        Result<std::shared_ptr<const Plan>> plan = MakeStoredPlan(*lowered);
        if (plan.ok()) {
          return std::make_shared<Executor>(*plan, options_.runtime, options_.budget, arenas_);
        }
      }
    }
  }
  KHEYA_ASSIGN_OR_RETURN(const Graph* simplified, SimplifiedGraph());
  Graph graph = simplified->Clone();
  KHEYA_RETURN_IF_ERROR(SpecializeInputs(graph, shapes));
  if (options_.simplify) KHEYA_RETURN_IF_ERROR(Simplify(graph, Passes()));
  KHEYA_ASSIGN_OR_RETURN(std::shared_ptr<const Plan> plan,
                         MakePlan(std::move(graph), shapes, may_time));
  if (may_time) KeepCompiled();
  return std::make_shared<Executor>(std::move(plan), options_.runtime, options_.budget, arenas_);
}

Status CompiledGraph::CheckInputs(std::span<const Value> inputs) const {
  if (inputs.size() != inputs_.size()) {
    return InvalidArgumentError("found {} inputs, expected {}", inputs.size(), inputs_.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    KHEYA_RETURN_IF_ERROR(
        CheckType(inputs[i], inputs_[i].type).WithContext("input '{}'", inputs_[i].name));
  }
  return OkStatus();
}

// Where inference knew nothing, an output's type is only what the file declares.
Status CompiledGraph::CheckOutputs(std::span<const Value> outputs) const {
  for (size_t i = 0; i < outputs.size(); ++i) {
    KHEYA_RETURN_IF_ERROR(
        CheckType(outputs[i], output_kinds_[i]).WithContext("output '{}'", outputs_[i].name));
  }
  return OkStatus();
}

Result<std::shared_ptr<Executor>> CompiledGraph::ExecutorFor(std::span<const Value> inputs) {
  if (executor_) return executor_;
  ShapePlans::Key key;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs_[i].type.is_tensor()) continue;  // may differ from run to run in any plan
    const Shape& shape = inputs[i].tensor().shape();
    key.push_back(shape.rank());
    key.insert(key.end(), shape.begin(), shape.end());
  }
  return plans_->Get(key, [&] {
    std::map<std::string, Shape> shapes;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs_[i].type.is_tensor()) shapes[inputs_[i].name] = inputs[i].tensor().shape();
    }
    return MakeExecutor(shapes, /*may_time=*/false);
  });
}

Status CompiledGraph::Run(RunContext& context, std::span<const Value> inputs,
                          std::span<Value> outputs) {
  return CatchOutOfMemory([&]() -> Status {
    KHEYA_RETURN_IF_ERROR(CheckInputs(inputs));
    KHEYA_ASSIGN_OR_RETURN(const std::shared_ptr<Executor> executor, ExecutorFor(inputs));
    KHEYA_RETURN_IF_ERROR(executor->Run(context, inputs, outputs));
    return CheckOutputs(outputs);
  });
}

Status CompiledGraph::Prepare(const std::map<std::string, Shape>& input_shapes) {
  return ExecutorOf(input_shapes).status();
}

Result<std::vector<StepInfo>> CompiledGraph::Steps(
    const std::map<std::string, Shape>& input_shapes) {
  KHEYA_ASSIGN_OR_RETURN(const std::shared_ptr<Executor> executor, ExecutorOf(input_shapes));
  return DescribeSteps(executor->plan());
}

Result<std::shared_ptr<Executor>> CompiledGraph::ExecutorOf(
    const std::map<std::string, Shape>& input_shapes) {
  std::map<std::string, Shape> shapes;
  ShapePlans::Key key;
  for (const TensorInfo& info : inputs_) {
    if (!info.type.is_tensor()) continue;
    const auto given = input_shapes.find(info.name);
    std::optional<Shape> shape = info.type.KnownShape();
    if (given != input_shapes.end()) {
      if (info.type.shape && !Matches(*info.type.shape, given->second)) {
        return InvalidArgumentError("input '{}': found shape {}, expected {}", info.name,
                                    given->second.ToString(), info.type.ToString());
      }
      shape = given->second;
    }
    if (!shape) {
      return InvalidArgumentError("input '{}': a shape is needed for {}", info.name,
                                  info.type.ToString());
    }
    shapes[info.name] = *shape;
    key.push_back(shape->rank());
    key.insert(key.end(), shape->begin(), shape->end());
  }
  for (const auto& [name, shape] : input_shapes) {
    if (!shapes.contains(name)) return InvalidArgumentError("there is no input '{}'", name);
  }
  if (executor_) return executor_;
  return CatchOutOfMemory(
      [&] { return plans_->Get(key, [&] { return MakeExecutor(shapes, /*may_time=*/true); }); });
}

std::vector<std::shared_ptr<Executor>> CompiledGraph::Executors() const {
  if (executor_) return {executor_};
  return plans_->All();
}

uint64_t CompiledGraph::weight_bytes() const {
  uint64_t bytes = cache_->bytes();
  std::set<const void*> counted;  // plans share constants
  for (const std::shared_ptr<Executor>& executor : Executors()) {
    for (const Register& reg : executor->plan().registers) {
      if (!reg.constant.defined() || cache_->Holds(reg.constant)) continue;
      if (counted.insert(reg.constant.bytes().data()).second) bytes += reg.bytes;
    }
  }
  return bytes;
}

uint64_t CompiledGraph::arena_bytes() const {
  uint64_t bytes = 0;
  for (const std::shared_ptr<Executor>& executor : Executors()) {
    bytes = std::max<uint64_t>(bytes, executor->plan().arena_bytes);
  }
  return bytes;
}

std::string CompiledGraph::Describe() const {
  std::string text;
  if (executor_ == nullptr) text = "plans are made for each set of input shapes\n";
  for (const std::shared_ptr<Executor>& executor : Executors()) {
    text += DescribePlan(executor->plan());
  }
  return text;
}

std::optional<int64_t> CompiledGraph::Macs(const std::map<std::string, Shape>& input_shapes) const {
  if (executor_ != nullptr) return macs_;
  const Result<const Graph*> graph = SimplifiedGraph();
  return graph.ok() ? CountMacs(**graph, input_shapes) : std::nullopt;
}

std::vector<std::string> PrecisionNames() { return {"fp32", "bf16", "fp16", "auto"}; }

std::vector<std::string> TacticNames() {
  std::vector<std::string> names = {"auto", "portable", "reference"};
  const std::span<const KernelRow> rows = AllKernels();
  for (const KernelRow& row : rows) {
    const auto alike = [&](const KernelRow& other) {
      return row.family == std::string_view(other.family);
    };
    if (std::ranges::count_if(rows, alike) > 1) names.push_back(TacticName(row));
  }
  return names;
}

Result<std::shared_ptr<CompiledModel>> CompileModel(Model model, const CompileOptions& options) {
  return CatchOutOfMemory([&] { return CompiledGraph::Create(std::move(model), options, {}); });
}

Status CompiledModel::SavePackage(const std::string& path) const {
  return UnimplementedError("file '{}': this model cannot be saved as a package", path);
}

Status SimplifyModel(Model& model, const std::vector<std::string>& disabled_passes) {
  KHEYA_RETURN_IF_ERROR(CheckSupported(model.graph).WithContext("file '{}'", model.path));
  SimplifyOptions passes;
  passes.disabled = disabled_passes;
  model.graph.default_inputs.clear();  // folding takes them as they are
  return CatchOutOfMemory([&] { return Simplify(model.graph, passes); })
      .WithContext("file '{}'", model.path);
}

}  // namespace kheya
