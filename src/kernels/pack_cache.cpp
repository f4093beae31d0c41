#include "kernels/pack_cache.h"

namespace kheya {

Hash128 PackCache::HashOf(const Tensor& weights) {
  const void* data = weights.bytes().data();
  auto found = hashes_.find(data);
  if (found != hashes_.end() && found->second.bytes == weights.num_bytes() &&
      found->second.owner.lock() == weights.owner()) {
    return found->second.hash;
  }
  const Hash128 hash = HashBytes(weights.bytes());
  hashes_[data] = {weights.owner(), weights.num_bytes(), hash};
  return hash;
}

Result<std::shared_ptr<const Buffer>> PackCache::Get(const Tensor& weights,
                                                     const std::string& layout,
                                                     const Packer& pack) {
  std::lock_guard lock(mutex_);
  std::weak_ptr<const Buffer>& entry = entries_[{HashOf(weights), layout}];
  if (std::shared_ptr<const Buffer> alive = entry.lock()) return alive;
  KHEYA_ASSIGN_OR_RETURN(Buffer buffer, pack());
  auto packed = std::make_shared<const Buffer>(std::move(buffer));
  entry = packed;
  return packed;
}

uint64_t PackCache::bytes() const {
  std::lock_guard lock(mutex_);
  uint64_t total = 0;
  for (const auto& [key, entry] : entries_) {
    if (std::shared_ptr<const Buffer> alive = entry.lock()) total += alive->size();
  }
  return total;
}

}  // namespace kheya
