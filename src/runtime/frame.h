// Frame: the memory of one run of a plan: its arena and a Value and a pointer for each register.
#ifndef KHEYA_RUNTIME_FRAME_H_
#define KHEYA_RUNTIME_FRAME_H_

#include <memory>
#include <span>
#include <vector>

#include "base/allocator.h"
#include "base/status.h"
#include "runtime/plan.h"
#include "tensor/value.h"

namespace kheya {

// Belongs to one run at a time.
class Frame {
 public:
  static Result<std::unique_ptr<Frame>> Create(const Plan& plan,
                                               const std::shared_ptr<MemoryBudget>& budget);

  // The arena of the run that begins, of plan.arena_bytes or more; nothing else of the frame may be
  // used without one.
  Status SetArena(std::unique_ptr<Buffer> arena);

  // Places the caller's values; the caller's tensors must outlive the run.
  Status BindInputs(std::span<const Value> inputs);
  Status BindOutputs(std::span<const Value> outputs);
  // Hands the results over: fills empty outputs, copies into those that were not written in place.
  Status Collect(std::span<Value> outputs);
  // Lets go of everything, and of the arena last.
  std::unique_ptr<Buffer> Clear();

  const Value& value(RegisterId id) const { return values_[id]; }
  std::byte* pointer(RegisterId id) const { return pointers_[id]; }
  std::byte* arena() const { return arena_->data(); }
  const Plan& plan() const { return plan_; }
  const std::shared_ptr<MemoryBudget>& budget() const { return budget_; }

  // Sets a dynamic register. Tensors that lie in the arena or in the caller's memory are copied,
  // since that memory may end before the register does.
  Status SetDynamic(RegisterId id, Value value);
  // The same for a tensor that was made for this register.
  void GiveDynamic(RegisterId id, Tensor tensor) { values_[id] = std::move(tensor); }
  void Release(RegisterId id) { values_[id] = Value(); }

  // Lists that a run fills anew; kept so that a run need not allocate them.
  struct Lists {
    std::vector<Value> results;  // the caller's outputs, until all of them are there
    std::vector<const std::byte*> step_inputs;
    std::vector<std::byte*> step_outputs;
  };
  Lists& lists() { return lists_; }

 private:
  Frame(const Plan& plan, std::shared_ptr<MemoryBudget> budget)
      : plan_(plan), budget_(std::move(budget)) {}
  Status PlaceConstants();
  void BindTensor(RegisterId id, const Tensor& tensor);
  void BindAliases();
  Result<Value> Owned(Value value) const;

  const Plan& plan_;
  const std::shared_ptr<MemoryBudget> budget_;
  std::unique_ptr<Buffer> arena_;
  const std::byte* placed_ = nullptr;  // the arena's memory that registers point to
  std::vector<Value> values_;
  std::vector<std::byte*> pointers_;
  Lists lists_;
  std::vector<RegisterId> external_aliases_;  // share the memory of an input or output
};

}  // namespace kheya

#endif  // KHEYA_RUNTIME_FRAME_H_
