// Executor: runs a Plan, for many threads at once.
//
//   Executor executor(plan, Runtime::Default(), budget);
//   KHEYA_RETURN_IF_ERROR(executor.Run(context, inputs, outputs));
#ifndef KHEYA_RUNTIME_EXECUTOR_H_
#define KHEYA_RUNTIME_EXECUTOR_H_

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/allocator.h"
#include "base/cpu_ledger.h"
#include "base/status.h"
#include "runtime/plan.h"
#include "runtime/run_context.h"
#include "tensor/value.h"

namespace kheya {

class ArenaPool;
class Frame;

// Thread safety: all members. Each run in progress has an arena of its own, which goes back to the
// pool afterwards.
class Executor {
 public:
  // `budget` null: the process's. `arenas` null: a pool of its own.
  Executor(std::shared_ptr<const Plan> plan, std::shared_ptr<Runtime> runtime,
           const std::shared_ptr<MemoryBudget>& budget,
           std::shared_ptr<ArenaPool> arenas = nullptr);
  ~Executor();

  // Inputs and outputs in the plan's order. Inputs must have the plan's types and shapes
  // (InvalidArgument names the input). An output that is a tensor is written in place; an empty one
  // becomes a new tensor. Denormals count as zero inside; the caller's float mode comes back.
  // On failure, outputs that came empty are empty.
  Status Run(RunContext& context, std::span<const Value> inputs, std::span<Value> outputs);

  const Plan& plan() const { return *plan_; }

 private:
  class ActiveRun;

  Result<std::unique_ptr<Frame>> TakeFrame();
  void GiveFrame(std::unique_ptr<Frame> frame);

  const std::shared_ptr<const Plan> plan_;
  const std::shared_ptr<Runtime> runtime_;
  const std::shared_ptr<MemoryBudget> budget_;
  const std::shared_ptr<ArenaPool> arenas_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Frame>> idle_;
};

}  // namespace kheya

#endif  // KHEYA_RUNTIME_EXECUTOR_H_
