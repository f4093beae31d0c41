#include "runtime/executor.h"

#include <utility>

#include "base/denormals.h"
#include "base/out_of_memory.h"
#include "ops/check_inputs.h"
#include "runtime/arena_pool.h"
#include "runtime/frame.h"
#include "runtime/step_context.h"

namespace kheya {
namespace {

// The first failure of the slices of a step.
class FirstFailure {
 public:
  void Note(Status status) {
    if (status.ok()) return;
    std::lock_guard lock(mutex_);
    if (first_.ok()) first_ = std::move(status);
  }
  Status Take() { return std::move(first_); }

 private:
  std::mutex mutex_;
  Status first_;
};

}  // namespace

// One run: the steps in order over a frame.
class Executor::ActiveRun {
 public:
  ActiveRun(Runtime& runtime, const CpuLease& lease, Frame& frame, RunContext& context)
      : runtime_(runtime), lease_(lease), frame_(frame), context_(context) {}

  Status RunSteps() {
    const ScopedFlushDenormals flush;
    context_.timings.clear();
    if (context_.profile) start_ = Clock::now();
    for (const Step& step : frame_.plan().steps) {
      KHEYA_RETURN_IF_ERROR(context_.CheckAlive());
      Status status = context_.profile ? RunTimed(step) : RunStep(step);
      if (!status.ok()) return std::move(status).WithContext("{}", Describe(step));
      for (RegisterId id : step.releases) frame_.Release(id);
    }
    return OkStatus();
  }

 private:
  static std::string Describe(const Step& step) {
    return fmt::format("node '{}' ({})", step.name, step.op);
  }

  Status RunTimed(const Step& step) {
    slices_.clear();
    const int64_t start = SinceStart();
    Status status = RunStep(step);
    context_.timings.push_back(
        {step.name, step.op, step.tactic, start, SinceStart() - start, std::move(slices_)});
    return status;
  }

  int64_t SinceStart() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_).count();
  }

  Status RunStep(const Step& step) {
    if (step.kernel != nullptr) return RunKernel(step);
    KHEYA_RETURN_IF_ERROR(CheckDynamicInputs(step));
    StepContext context(frame_, step, context_);
    return CatchOutOfMemory([&] { return step.op_def->evaluate(context); });
  }

  // What was not known when the plan was made may be of the wrong kind.
  Status CheckDynamicInputs(const Step& step) const {
    bool dynamic = false;
    std::vector<Value> values;
    for (RegisterId id : step.inputs) {
      if (id == kNoRegister) {
        values.emplace_back();
        continue;
      }
      dynamic = dynamic || frame_.plan().registers[id].place == Register::Place::kDynamic;
      values.push_back(frame_.value(id));
    }
    return dynamic ? CheckInputValues(*step.op_def, values) : OkStatus();
  }

  Status RunKernel(const Step& step) {
    std::vector<const std::byte*>& inputs = frame_.lists().step_inputs;
    std::vector<std::byte*>& outputs = frame_.lists().step_outputs;
    inputs.clear();
    outputs.clear();
    for (RegisterId id : step.inputs) {
      inputs.push_back(id == kNoRegister ? nullptr : frame_.pointer(id));
    }
    for (RegisterId id : step.outputs) {
      outputs.push_back(id == kNoRegister ? nullptr : frame_.pointer(id));
    }
    const KernelArgs args{inputs, outputs, frame_.arena() + step.workspace_offset, 0};
    const int64_t slices = step.kernel->slices();
    if (slices == 1) return step.kernel->Run(args);
    FirstFailure failure;
    const bool timed = context_.profile && context_.profile_slices;
    if (timed) slices_.resize(slices);
    runtime_.ParallelFor(lease_, slices, [&](int64_t slice) {
      KernelArgs own = args;
      own.slice = slice;
      const int64_t start = timed ? SinceStart() : 0;
      // A worker has no caller that could catch.
      failure.Note(CatchOutOfMemory([&] { return step.kernel->Run(own); }));
      if (timed) slices_[slice] = {std::this_thread::get_id(), start, SinceStart() - start};
    });
    return failure.Take();
  }

  Runtime& runtime_;
  const CpuLease& lease_;
  Frame& frame_;
  RunContext& context_;
  Clock::time_point start_;
  std::vector<SliceTiming> slices_;  // of the step that is timed
};

Executor::Executor(std::shared_ptr<const Plan> plan, std::shared_ptr<Runtime> runtime,
                   const std::shared_ptr<MemoryBudget>& budget, std::shared_ptr<ArenaPool> arenas)
    : plan_(std::move(plan)),
      runtime_(std::move(runtime)),
      budget_(budget ? budget : ProcessBudget()),
      arenas_(arenas ? std::move(arenas) : std::make_shared<ArenaPool>(budget_)) {}

Executor::~Executor() = default;

Result<std::unique_ptr<Frame>> Executor::TakeFrame() {
  KHEYA_ASSIGN_OR_RETURN(std::unique_ptr<Buffer> arena, arenas_->Take(plan_->arena_bytes));
  std::unique_ptr<Frame> frame;
  {
    std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      frame = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (frame == nullptr) {
    KHEYA_ASSIGN_OR_RETURN(frame, Frame::Create(*plan_, budget_));
  }
  KHEYA_RETURN_IF_ERROR(frame->SetArena(std::move(arena)));
  return frame;
}

void Executor::GiveFrame(std::unique_ptr<Frame> frame) {
  arenas_->Give(frame->Clear());
  std::lock_guard lock(mutex_);
  if (idle_.size() < static_cast<size_t>(runtime_->ledger().allowed())) {
    idle_.push_back(std::move(frame));
  }
}

Status Executor::Run(RunContext& context, std::span<const Value> inputs, std::span<Value> outputs) {
  const int wanted = context.threads > 0 ? context.threads : runtime_->ledger().allowed();
  KHEYA_ASSIGN_OR_RETURN(CpuLease lease,
                         runtime_->ledger().Acquire(wanted, context.deadline, context.cancel));
  KHEYA_ASSIGN_OR_RETURN(std::unique_ptr<Frame> frame, TakeFrame());
  std::vector<Value>& results = frame->lists().results;
  results.assign(outputs.begin(), outputs.end());
  Status status = frame->BindInputs(inputs);
  if (status.ok()) status = frame->BindOutputs(results);
  if (status.ok()) status = ActiveRun(*runtime_, lease, *frame, context).RunSteps();
  if (status.ok()) status = frame->Collect(results);
  if (status.ok()) std::move(results.begin(), results.end(), outputs.begin());
  GiveFrame(std::move(frame));
  return status;
}

}  // namespace kheya
