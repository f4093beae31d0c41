#include "runtime/arena_pool.h"

#include <algorithm>
#include <utility>

namespace kheya {

Result<std::unique_ptr<Buffer>> ArenaPool::Take(size_t bytes) {
  std::unique_ptr<Buffer> small;  // freed before another is made
  {
    std::lock_guard lock(mutex_);
    const auto fits = [bytes](const auto& arena) { return arena->size() >= bytes; };
    if (const auto found = std::ranges::find_if(idle_, fits); found != idle_.end()) {
      std::unique_ptr<Buffer> arena = std::move(*found);
      idle_.erase(found);
      return arena;
    }
    if (!idle_.empty()) {
      small = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  small.reset();
  KHEYA_ASSIGN_OR_RETURN(Buffer made, Buffer::Allocate(bytes, budget_));
  return std::make_unique<Buffer>(std::move(made));
}

void ArenaPool::Give(std::unique_ptr<Buffer> arena) {
  if (arena == nullptr) return;
  std::lock_guard lock(mutex_);
  const auto smaller = [](const auto& a, const auto& b) { return a->size() < b->size(); };
  idle_.insert(std::ranges::upper_bound(idle_, arena, smaller), std::move(arena));
}

}  // namespace kheya
