// PackCache: weights in the form that kernels read, made once for each content and layout, or found
// in a file where they were made before.
#ifndef KHEYA_KERNELS_PACK_CACHE_H_
#define KHEYA_KERNELS_PACK_CACHE_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/allocator.h"
#include "base/hash.h"
#include "base/status.h"
#include "tensor/tensor.h"

namespace kheya {

// Shared by all plans of a model (or of many). An entry lives as long as some kernel holds it.
//
// A kernel that packs a constant reads that constant inside its Packer alone: constants of a file
// are compared with their hashes when they are read, and not at all where what was packed lies in
// the file. Packed weights may come from a file, so nothing in them may be trusted to be an index:
// see Share. Thread safety: all members.
class PackCache {
 public:
  using Packer = std::function<Result<Buffer>()>;

  // Packed weights in a file's memory, which `owner` keeps.
  struct Stored {
    Hash128 content;  // of the weights
    std::string layout;
    std::span<const std::byte> bytes;  // aligned to kAlignment, with a readable tail
    Hash128 hash;                      // of `bytes`, as the file says
    std::shared_ptr<const void> owner;
  };
  // Packed weights in use.
  struct Entry {
    Hash128 content;
    std::string layout;
    std::shared_ptr<const Buffer> packed;
  };

  // Memory of packed weights is drawn from `budget` (null: the process's).
  explicit PackCache(std::shared_ptr<MemoryBudget> budget = nullptr) : budget_(std::move(budget)) {}

  // The packed form of `weights`, `bytes` long, that `layout` names in full (library, shape,
  // blocks, also of the processor): what other code or another processor would pack otherwise has
  // another name. `pack` makes it when it is not there. InvalidArgument when the weights are not
  // what their file says.
  Result<std::shared_ptr<const Buffer>> Get(const Tensor& weights, const std::string& layout,
                                            size_t bytes, const Packer& pack);

  // The same for what holds indices or must be made anyway: shared, never from or for a file.
  Result<std::shared_ptr<const Buffer>> Share(const Tensor& weights, const std::string& layout,
                                              size_t bytes, const Packer& pack);

  // Packed weights for later Gets. They are compared with their hash when they are first asked for,
  // and left where they differ.
  void AddStored(Stored stored);
  // The content hash of a constant as its file says, not compared yet.
  void AddHash(const Tensor& constant, const Hash128& hash);
  // InvalidArgument when a constant of AddHash has other content; ok for any other tensor.
  Status CheckContent(const Tensor& constant);
  // Whether Get was asked for this tensor.
  bool WasPacked(const Tensor& constant) const;

  const std::shared_ptr<MemoryBudget>& budget() const { return budget_; }
  // All of Get that some kernel holds.
  std::vector<Entry> Entries() const;
  // All of AddStored that no Get has asked for and whose hash is right; they are not there
  // afterwards.
  std::vector<Entry> TakeStored();
  // Whether the tensor's memory was made by Share.
  bool Holds(const Tensor& tensor) const;
  // Bytes of the packed weights that are alive.
  uint64_t bytes() const;
  // From now on refuses packed forms, those of files excepted, of more than `most` times the bytes
  // of the weights: where memory is short.
  void LimitGrowth(double most);
  // How often weights were packed, that is, not found.
  size_t num_packed() const;
  // What comparing and packing took so far.
  double hash_seconds() const;
  double pack_seconds() const;

 private:
  using Key = std::pair<Hash128, std::string>;

  struct Hashed {
    std::weak_ptr<const void> owner;
    size_t bytes = 0;
    Hash128 hash;
    bool checked = true;
    bool packed = false;
  };

  // The hash of a tensor's content, remembered while the tensor's memory is alive.
  Hashed& HashedOf(const Tensor& weights);
  const Hashed* FindHashed(const Tensor& weights) const;
  void DropExpired();
  Hash128 HashTimed(std::span<const std::byte> bytes);
  Status CheckHashed(const Tensor& weights, Hashed& hashed);
  Result<std::shared_ptr<const Buffer>> GetLocked(std::weak_ptr<const Buffer>& entry,
                                                  const Tensor& weights, Hashed& hashed,
                                                  const std::string& layout, size_t bytes,
                                                  const Packer& pack);
  std::shared_ptr<const Buffer> FromStored(const Key& key, size_t bytes);

  const std::shared_ptr<MemoryBudget> budget_;
  mutable std::mutex mutex_;
  std::map<Key, std::weak_ptr<const Buffer>> entries_;
  std::map<Key, std::weak_ptr<const Buffer>> unkept_;  // of Share
  std::map<Key, Stored> stored_;
  std::map<const void*, Hashed> hashes_;
  size_t num_packed_ = 0;
  size_t most_hashes_ = 1024;  // before what is gone is looked for
  size_t most_entries_ = 1024;
  double most_growth_ = std::numeric_limits<double>::infinity();
  double hash_seconds_ = 0;
  double pack_seconds_ = 0;
};

}  // namespace kheya

#endif  // KHEYA_KERNELS_PACK_CACHE_H_
