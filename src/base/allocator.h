// The one allocator: 64-byte aligned blocks with a readable tail, admitted by a budget.
#ifndef KHEYA_BASE_ALLOCATOR_H_
#define KHEYA_BASE_ALLOCATOR_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"

namespace kheya {

inline constexpr size_t kAlignment = 64;
// Bytes behind every block that a vector load may read (never write); they hold zeros at first.
inline constexpr size_t kReadableTail = 64;

// A limit on bytes, for a model or for the process. A request that would pass the limit is refused
// before anything is allocated: the system overcommits, so a failed admission is the only clean
// way to run out of memory. Thread safety: all members.
class MemoryBudget {
 public:
  // `limit_bytes` 0: no limit. A child also draws from `parent`.
  explicit MemoryBudget(std::string name, uint64_t limit_bytes = 0,
                        std::shared_ptr<MemoryBudget> parent = nullptr);

  // ResourceExhausted naming the budget, what is in use, what was asked for and the limit.
  Status Reserve(uint64_t bytes);
  void Release(uint64_t bytes);

  uint64_t limit_bytes() const { return limit_bytes_; }
  uint64_t used_bytes() const { return used_bytes_.load(std::memory_order_relaxed); }
  uint64_t peak_bytes() const { return peak_bytes_.load(std::memory_order_relaxed); }

 private:
  const std::string name_;
  const uint64_t limit_bytes_;
  const std::shared_ptr<MemoryBudget> parent_;
  std::atomic<uint64_t> used_bytes_{0};
  std::atomic<uint64_t> peak_bytes_{0};
};

// The budget of the whole process: the smaller of the cgroup's limit and physical memory.
const std::shared_ptr<MemoryBudget>& ProcessBudget();

// Bytes of a budget for as long as this lives: for memory that containers allocate. Move-only.
class Reservation {
 public:
  // `budget` null: ProcessBudget(). ResourceExhausted when it refuses.
  static Result<Reservation> Take(std::shared_ptr<MemoryBudget> budget, uint64_t bytes);
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&&) = delete;
  ~Reservation();

 private:
  Reservation(std::shared_ptr<MemoryBudget> budget, uint64_t bytes)
      : budget_(std::move(budget)), bytes_(bytes) {}

  std::shared_ptr<MemoryBudget> budget_;  // null: moved from
  uint64_t bytes_;
};

// An owned block. Move-only; frees and releases its budget at the end.
class Buffer {
 public:
  Buffer() = default;
  // Not initialized, save the tail. `budget` null: ProcessBudget().
  static Result<Buffer> Allocate(size_t bytes, std::shared_ptr<MemoryBudget> budget = nullptr);
  static Result<Buffer> AllocateZeroed(size_t bytes,
                                       std::shared_ptr<MemoryBudget> budget = nullptr);
  // The memory of `owner` as it lies, counted by the budget too: aligned to kAlignment, with a
  // readable tail, and never written.
  static Result<Buffer> Borrow(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                               std::shared_ptr<MemoryBudget> budget = nullptr);
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  std::span<std::byte> bytes() { return {data_, size_}; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
  std::shared_ptr<MemoryBudget> budget_;
  std::shared_ptr<const void> owner_;  // of borrowed memory
};

}  // namespace kheya

#endif  // KHEYA_BASE_ALLOCATOR_H_
