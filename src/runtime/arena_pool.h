// ArenaPool: the memory of runs, shared by all plans of a model: as many arenas as there were runs
// at once, each as large as the largest plan that it served.
#ifndef KHEYA_RUNTIME_ARENA_POOL_H_
#define KHEYA_RUNTIME_ARENA_POOL_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "base/allocator.h"
#include "base/status.h"

namespace kheya {

// Thread safety: all members.
class ArenaPool {
 public:
  // `budget` null: the process's.
  explicit ArenaPool(std::shared_ptr<MemoryBudget> budget) : budget_(std::move(budget)) {}

  // An arena of at least `bytes`, the caller's until Give. Where none that waits is large enough,
  // the largest of them is freed for it. ResourceExhausted when the budget refuses.
  Result<std::unique_ptr<Buffer>> Take(size_t bytes);
  void Give(std::unique_ptr<Buffer> arena);

 private:
  const std::shared_ptr<MemoryBudget> budget_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Buffer>> idle_;  // the largest last; equals in order of Give
};

}  // namespace kheya

#endif  // KHEYA_RUNTIME_ARENA_POOL_H_
