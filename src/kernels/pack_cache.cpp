#include "kernels/pack_cache.h"

#include <algorithm>
#include <chrono>

#include "base/file.h"

namespace kheya {
namespace {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Hash128 PackCache::HashTimed(std::span<const std::byte> bytes) {
  const double start = Now();
  const Hash128 hash = HashBytes(bytes);
  hash_seconds_ += Now() - start;
  return hash;
}

const PackCache::Hashed* PackCache::FindHashed(const Tensor& weights) const {
  const auto found = hashes_.find(weights.bytes().data());
  if (found == hashes_.end() || found->second.bytes != weights.num_bytes()) return nullptr;
  return found->second.owner.lock() == weights.owner() ? &found->second : nullptr;
}

PackCache::Hashed& PackCache::HashedOf(const Tensor& weights) {
  if (const Hashed* found = FindHashed(weights)) return const_cast<Hashed&>(*found);
  if (hashes_.size() >= most_hashes_) {
    std::erase_if(hashes_, [](const auto& hashed) { return hashed.second.owner.expired(); });
    most_hashes_ = std::max(most_hashes_, 2 * hashes_.size());
  }
  Hashed& made = hashes_[weights.bytes().data()];
  made = {weights.owner(), weights.num_bytes(), HashTimed(weights.bytes())};
  ReleaseMappedPages(weights.bytes());
  return made;
}

Status PackCache::CheckHashed(const Tensor& weights, Hashed& hashed) {
  if (hashed.checked) return OkStatus();
  if (HashTimed(weights.bytes()) != hashed.hash) {
    return InvalidArgumentError("the file is damaged: a constant {} was changed",
                                weights.TypeString());
  }
  hashed.checked = true;
  ReleaseMappedPages(weights.bytes());
  return OkStatus();
}

std::shared_ptr<const Buffer> PackCache::FromStored(const Key& key, size_t bytes) {
  const auto found = stored_.find(key);
  if (found == stored_.end()) return nullptr;
  const Stored stored = std::move(found->second);
  stored_.erase(found);
  if (stored.bytes.size() != bytes || HashTimed(stored.bytes) != stored.hash) return nullptr;
  Result<Buffer> buffer = Buffer::Borrow(stored.bytes, stored.owner, budget_);
  if (!buffer.ok()) return nullptr;
  return std::make_shared<const Buffer>(std::move(buffer).value());
}

Result<std::shared_ptr<const Buffer>> PackCache::GetLocked(std::weak_ptr<const Buffer>& entry,
                                                           const Tensor& weights, Hashed& hashed,
                                                           const std::string& layout, size_t bytes,
                                                           const Packer& pack) {
  if (std::shared_ptr<const Buffer> alive = entry.lock()) return alive;
  KHEYA_RETURN_IF_ERROR(CheckHashed(weights, hashed));
  if (static_cast<double>(bytes) > most_growth_ * static_cast<double>(weights.num_bytes())) {
    return UnimplementedError("{} bytes would be packed to {}, and memory is short",
                              weights.num_bytes(), bytes);
  }
  const double start = Now();
  KHEYA_ASSIGN_OR_RETURN(Buffer buffer, pack());
  pack_seconds_ += Now() - start;
  ReleaseMappedPages(weights.bytes());
  if (buffer.size() != bytes) {
    return InternalError("packed weights '{}': found {} bytes, expected {}", layout, buffer.size(),
                         bytes);
  }
  auto packed = std::make_shared<const Buffer>(std::move(buffer));
  entry = packed;
  return packed;
}

Result<std::shared_ptr<const Buffer>> PackCache::Get(const Tensor& weights,
                                                     const std::string& layout, size_t bytes,
                                                     const Packer& pack) {
  std::lock_guard lock(mutex_);
  Hashed& hashed = HashedOf(weights);
  hashed.packed = true;
  const Key key{hashed.hash, layout};
  DropExpired();
  std::weak_ptr<const Buffer>& entry = entries_[key];
  if (entry.expired()) {
    if (std::shared_ptr<const Buffer> stored = FromStored(key, bytes)) {
      entry = stored;
      return stored;
    }
    ++num_packed_;
  }
  return GetLocked(entry, weights, hashed, layout, bytes, pack);
}

Result<std::shared_ptr<const Buffer>> PackCache::Share(const Tensor& weights,
                                                       const std::string& layout, size_t bytes,
                                                       const Packer& pack) {
  std::lock_guard lock(mutex_);
  Hashed& hashed = HashedOf(weights);
  DropExpired();
  return GetLocked(unkept_[{hashed.hash, layout}], weights, hashed, layout, bytes, pack);
}

// Names of what is gone, which many shapes would heap up.
void PackCache::DropExpired() {
  if (entries_.size() + unkept_.size() < most_entries_) return;
  const auto expired = [](const auto& entry) { return entry.second.expired(); };
  std::erase_if(entries_, expired);
  std::erase_if(unkept_, expired);
  most_entries_ = std::max(most_entries_, 2 * (entries_.size() + unkept_.size()));
}

void PackCache::LimitGrowth(double most) {
  std::lock_guard lock(mutex_);
  most_growth_ = most;
}

void PackCache::AddStored(Stored stored) {
  std::lock_guard lock(mutex_);
  Key key{stored.content, stored.layout};
  stored_.insert_or_assign(std::move(key), std::move(stored));
}

void PackCache::AddHash(const Tensor& constant, const Hash128& hash) {
  std::lock_guard lock(mutex_);
  hashes_[constant.bytes().data()] = {constant.owner(), constant.num_bytes(), hash, false};
}

Status PackCache::CheckContent(const Tensor& constant) {
  std::lock_guard lock(mutex_);
  const Hashed* found = FindHashed(constant);
  return found == nullptr ? OkStatus() : CheckHashed(constant, const_cast<Hashed&>(*found));
}

bool PackCache::WasPacked(const Tensor& constant) const {
  std::lock_guard lock(mutex_);
  const Hashed* found = FindHashed(constant);
  return found != nullptr && found->packed;
}

std::vector<PackCache::Entry> PackCache::Entries() const {
  std::lock_guard lock(mutex_);
  std::vector<Entry> alive;
  for (const auto& [key, entry] : entries_) {
    if (std::shared_ptr<const Buffer> packed = entry.lock()) {
      alive.push_back({key.first, key.second, std::move(packed)});
    }
  }
  return alive;
}

std::vector<PackCache::Entry> PackCache::TakeStored() {
  std::lock_guard lock(mutex_);
  std::vector<Entry> entries;
  for (auto& [key, stored] : stored_) {
    if (HashTimed(stored.bytes) != stored.hash) continue;
    Result<Buffer> buffer = Buffer::Borrow(stored.bytes, stored.owner, budget_);
    if (!buffer.ok()) continue;
    entries.push_back(
        {key.first, key.second, std::make_shared<const Buffer>(std::move(buffer).value())});
  }
  stored_.clear();
  return entries;
}

bool PackCache::Holds(const Tensor& tensor) const {
  std::lock_guard lock(mutex_);
  return std::ranges::any_of(unkept_, [&](const auto& entry) {
    const std::shared_ptr<const Buffer> alive = entry.second.lock();
    return alive != nullptr && alive->data() == tensor.bytes().data();
  });
}

uint64_t PackCache::bytes() const {
  uint64_t total = 0;
  for (const Entry& entry : Entries()) total += entry.packed->size();
  std::lock_guard lock(mutex_);
  for (const auto& [key, entry] : unkept_) {
    if (const std::shared_ptr<const Buffer> alive = entry.lock()) total += alive->size();
  }
  return total;
}

size_t PackCache::num_packed() const {
  std::lock_guard lock(mutex_);
  return num_packed_;
}

double PackCache::hash_seconds() const {
  std::lock_guard lock(mutex_);
  return hash_seconds_;
}

double PackCache::pack_seconds() const {
  std::lock_guard lock(mutex_);
  return pack_seconds_;
}

}  // namespace kheya
