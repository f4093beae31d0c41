// PackCache: weights in the form that kernels read, made once for each content and layout.
#ifndef KHEYA_KERNELS_PACK_CACHE_H_
#define KHEYA_KERNELS_PACK_CACHE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/allocator.h"
#include "base/hash.h"
#include "base/status.h"
#include "tensor/tensor.h"

namespace kheya {

// Shared by all plans of a model (or of many). An entry lives as long as some kernel holds it.
// Thread safety: all members.
class PackCache {
 public:
  using Packer = std::function<Result<Buffer>()>;

  // Memory of packed weights is drawn from `budget` (null: the process's).
  explicit PackCache(std::shared_ptr<MemoryBudget> budget = nullptr) : budget_(std::move(budget)) {}

  // The packed form of `weights` that `layout` names in full (library, shape, blocks); `pack` makes
  // it when it is not there.
  Result<std::shared_ptr<const Buffer>> Get(const Tensor& weights, const std::string& layout,
                                            const Packer& pack);

  const std::shared_ptr<MemoryBudget>& budget() const { return budget_; }
  // Bytes of the packed weights that are alive.
  uint64_t bytes() const;

 private:
  using Key = std::pair<Hash128, std::string>;

  // The hash of a tensor's content, remembered while the tensor's memory is alive.
  Hash128 HashOf(const Tensor& weights);

  struct Hashed {
    std::weak_ptr<const void> owner;
    size_t bytes;
    Hash128 hash;
  };

  const std::shared_ptr<MemoryBudget> budget_;
  mutable std::mutex mutex_;
  std::map<Key, std::weak_ptr<const Buffer>> entries_;
  std::map<const void*, Hashed> hashes_;
};

}  // namespace kheya

#endif  // KHEYA_KERNELS_PACK_CACHE_H_
