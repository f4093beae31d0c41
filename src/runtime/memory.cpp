#include "runtime/memory.h"

#include <algorithm>
#include <map>

#include "base/checked_math.h"

namespace kheya {
namespace {

// The steps between which the memory of a root register is in use.
struct Lifetime {
  int first = -1;
  int last = -1;
};

class MemoryPlanner {
 public:
  explicit MemoryPlanner(Plan& plan) : plan_(plan) {}

  Status Run() {
    ComputeLifetimes();
    for (size_t s = 0; s < plan_.steps.size(); ++s) RunInPlace(static_cast<int>(s));
    ListReleases();
    return AssignOffsets();
  }

 private:
  using Place = Register::Place;

  void Touch(RegisterId id, int step) {
    if (id == kNoRegister) return;
    Lifetime& life = lives_[plan_.RootOf(id)];
    if (life.first < 0) life.first = step;
    life.last = std::max(life.last, step);
  }

  void ComputeLifetimes() {
    lives_.assign(plan_.registers.size(), Lifetime());
    const int num_steps = static_cast<int>(plan_.steps.size());
    for (int s = 0; s < num_steps; ++s) {
      for (RegisterId id : plan_.steps[s].inputs) Touch(id, s);
      for (const auto& [value, id] : plan_.steps[s].captures) Touch(id, s);
      for (RegisterId id : plan_.steps[s].outputs) Touch(id, s);
    }
    for (RegisterId id : plan_.outputs) Touch(id, num_steps);
  }

  // Joins output 0 of a step with an input that ends there.
  void RunInPlace(int s) {
    const Step& step = plan_.steps[s];
    if (step.kernel == nullptr || step.outputs.empty() || step.outputs[0] == kNoRegister) return;
    const RegisterId output = step.outputs[0];
    Register& out = plan_.registers[output];
    if (out.place != Place::kArena || out.root != output) return;
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      if (step.inputs[i] == kNoRegister) continue;
      const RegisterId input = plan_.RootOf(step.inputs[i]);
      if (!step.kernel->CanRunInPlace(static_cast<int>(i)) || !Ends(step, input, s)) continue;
      if (plan_.registers[input].bytes != out.bytes) continue;
      out.root = input;
      lives_[input].last = lives_[output].last;
      return;
    }
  }

  bool Ends(const Step& step, RegisterId root, int s) const {
    if (plan_.registers[root].place != Place::kArena || lives_[root].last != s) return false;
    const auto uses = std::count_if(step.inputs.begin(), step.inputs.end(), [&](RegisterId id) {
      return id != kNoRegister && plan_.RootOf(id) == root;
    });
    return uses == 1;
  }

  void ListReleases() {
    for (size_t id = 0; id < plan_.registers.size(); ++id) {
      const int last = lives_[id].last;
      if (plan_.registers[id].place != Place::kDynamic || last < 0) continue;
      if (last < static_cast<int>(plan_.steps.size())) {
        plan_.steps[last].releases.push_back(static_cast<RegisterId>(id));
      }
    }
  }

  Status AssignOffsets() {
    const int num_steps = static_cast<int>(plan_.steps.size());
    std::vector<std::vector<RegisterId>> starting(num_steps), ending(num_steps);
    for (size_t id = 0; id < plan_.registers.size(); ++id) {
      const Register& reg = plan_.registers[id];
      if (reg.place != Place::kArena || reg.root != static_cast<RegisterId>(id)) continue;
      if (lives_[id].first < 0) continue;
      starting[lives_[id].first].push_back(static_cast<RegisterId>(id));
      if (lives_[id].last < num_steps) ending[lives_[id].last].push_back(id);
    }
    for (int s = 0; s < num_steps; ++s) {
      for (RegisterId id : starting[s]) {
        KHEYA_ASSIGN_OR_RETURN(plan_.registers[id].offset, Take(plan_.registers[id].bytes));
      }
      Step& step = plan_.steps[s];
      const size_t workspace = step.kernel ? step.kernel->workspace_bytes() : 0;
      KHEYA_ASSIGN_OR_RETURN(step.workspace_offset, Take(workspace));
      Give(step.workspace_offset, workspace);
      for (RegisterId id : ending[s]) Give(plan_.registers[id].offset, plan_.registers[id].bytes);
    }
    plan_.arena_bytes = top_;
    return OkStatus();
  }

  static size_t RoundUp(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

  // The lowest free place that is large enough.
  Result<size_t> Take(size_t bytes) {
    if (bytes == 0) return size_t{0};
    if (bytes > SIZE_MAX / 4 || top_ > SIZE_MAX / 4) {
      return ResourceExhaustedError("the arena of the plan would overflow");
    }
    const size_t size = RoundUp(bytes);
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      const bool at_top = it->first + it->second == top_;
      if (it->second < size && !at_top) continue;
      const auto [offset, length] = *it;
      free_.erase(it);
      top_ = std::max(top_, offset + size);
      if (length > size) free_[offset + size] = length - size;
      return offset;
    }
    const size_t offset = top_;
    top_ += size;
    return offset;
  }

  void Give(size_t offset, size_t bytes) {
    if (bytes == 0) return;
    auto it = free_.emplace(offset, RoundUp(bytes)).first;
    const auto next = std::next(it);
    if (next != free_.end() && it->first + it->second == next->first) {
      it->second += next->second;
      free_.erase(next);
    }
    if (it == free_.begin()) return;
    const auto previous = std::prev(it);
    if (previous->first + previous->second == it->first) {
      previous->second += it->second;
      free_.erase(it);
    }
  }

  Plan& plan_;
  std::vector<Lifetime> lives_;    // by root register
  std::map<size_t, size_t> free_;  // offset to length
  size_t top_ = 0;
};

}  // namespace

Status PlaceMemory(Plan& plan) { return MemoryPlanner(plan).Run(); }

}  // namespace kheya
