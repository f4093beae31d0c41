// ShapePlans: executors by the shapes of the inputs, the least recently used leaving first.
#ifndef KHEYA_ENGINE_SHAPE_PLANS_H_
#define KHEYA_ENGINE_SHAPE_PLANS_H_

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/status.h"
#include "runtime/executor.h"
#include "tensor/shape.h"

namespace kheya {

// Thread safety: all members. A plan that leaves lives on in the runs that use it.
class ShapePlans {
 public:
  using Key = std::vector<int64_t>;  // ranks and dimensions of all inputs
  using Maker = std::function<Result<std::shared_ptr<Executor>>()>;

  explicit ShapePlans(int max_plans) : max_plans_(max_plans < 1 ? 1 : max_plans) {}

  // The executor for `key`, made by `make` when it is not there; one is made at a time.
  Result<std::shared_ptr<Executor>> Get(const Key& key, const Maker& make);
  // All that are kept now.
  std::vector<std::shared_ptr<Executor>> All() const;

 private:
  using Entry = std::pair<Key, std::shared_ptr<Executor>>;

  std::shared_ptr<Executor> Find(const Key& key);
  void Insert(const Key& key, std::shared_ptr<Executor> executor);

  const size_t max_plans_;
  std::mutex making_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;  // most recently used first
  std::map<Key, std::list<Entry>::iterator> by_key_;
};

}  // namespace kheya

#endif  // KHEYA_ENGINE_SHAPE_PLANS_H_
