#include "engine/shape_plans.h"

namespace kheya {

std::shared_ptr<Executor> ShapePlans::Find(const Key& key) {
  std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->second;
}

void ShapePlans::Insert(const Key& key, std::shared_ptr<Executor> executor) {
  std::lock_guard lock(mutex_);
  entries_.emplace_front(key, std::move(executor));
  by_key_[key] = entries_.begin();
  if (entries_.size() <= max_plans_) return;
  by_key_.erase(entries_.back().first);
  entries_.pop_back();
}

Result<std::shared_ptr<Executor>> ShapePlans::Get(const Key& key, const Maker& make) {
  if (std::shared_ptr<Executor> found = Find(key)) return found;
  std::lock_guard making(making_);
  if (std::shared_ptr<Executor> found = Find(key)) return found;
  KHEYA_ASSIGN_OR_RETURN(std::shared_ptr<Executor> made, make());
  Insert(key, made);
  return made;
}

std::vector<std::shared_ptr<Executor>> ShapePlans::All() const {
  std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Executor>> all;
  for (const Entry& entry : entries_) all.push_back(entry.second);
  return all;
}

}  // namespace kheya
