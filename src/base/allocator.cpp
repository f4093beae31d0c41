#include "base/allocator.h"

#include <sys/sysinfo.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/cgroup.h"
#include "base/checked_math.h"

namespace kheya {
namespace {

// Bytes of the block behind `size` usable ones: the tail, and the end rounded up to the alignment.
bool BlockBytes(size_t size, size_t* block) {
  return CheckedAdd(size, kReadableTail + kAlignment - 1, block) &&
         (*block &= ~(kAlignment - 1), true);
}

uint64_t ProcessLimitBytes() {
  uint64_t limit = ReadCgroupLimits().memory_bytes;
  struct sysinfo info;
  if (sysinfo(&info) == 0) {
    const uint64_t physical = uint64_t{info.totalram} * info.mem_unit;
    if (limit == 0 || physical < limit) limit = physical;
  }
  return limit;
}

}  // namespace

MemoryBudget::MemoryBudget(std::string name, uint64_t limit_bytes,
                           std::shared_ptr<MemoryBudget> parent)
    : name_(std::move(name)), limit_bytes_(limit_bytes), parent_(std::move(parent)) {}

Status MemoryBudget::Reserve(uint64_t bytes) {
  uint64_t used = used_bytes();
  uint64_t wanted = 0;
  do {
    if (!CheckedAdd(used, bytes, &wanted) || (limit_bytes_ != 0 && wanted > limit_bytes_)) {
      return ResourceExhaustedError("memory budget '{}': asked for {} bytes, found {} of {} in use",
                                    name_, bytes, used, limit_bytes_);
    }
  } while (!used_bytes_.compare_exchange_weak(used, wanted, std::memory_order_relaxed));
  if (parent_) {
    if (Status status = parent_->Reserve(bytes); !status.ok()) {
      used_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
      return status;
    }
  }
  uint64_t peak = peak_bytes();
  while (peak < wanted &&
         !peak_bytes_.compare_exchange_weak(peak, wanted, std::memory_order_relaxed)) {
  }
  return OkStatus();
}

void MemoryBudget::Release(uint64_t bytes) {
  used_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  if (parent_) parent_->Release(bytes);
}

const std::shared_ptr<MemoryBudget>& ProcessBudget() {
  static const auto* budget = new std::shared_ptr<MemoryBudget>(
      std::make_shared<MemoryBudget>("process", ProcessLimitBytes()));
  return *budget;
}

Result<Reservation> Reservation::Take(std::shared_ptr<MemoryBudget> budget, uint64_t bytes) {
  if (!budget) budget = ProcessBudget();
  KHEYA_RETURN_IF_ERROR(budget->Reserve(bytes));
  return Reservation(std::move(budget), bytes);
}

Reservation::Reservation(Reservation&& other) noexcept
    : budget_(std::exchange(other.budget_, nullptr)), bytes_(other.bytes_) {}

Reservation::~Reservation() {
  if (budget_ != nullptr) budget_->Release(bytes_);
}

Result<Buffer> Buffer::Allocate(size_t bytes, std::shared_ptr<MemoryBudget> budget) {
  if (!budget) budget = ProcessBudget();
  size_t block = 0;
  if (!BlockBytes(bytes, &block)) {
    return ResourceExhaustedError("asked for {} bytes, more than the address space", bytes);
  }
  KHEYA_RETURN_IF_ERROR(budget->Reserve(block));
  void* data = std::aligned_alloc(kAlignment, block);
  if (data == nullptr) {
    budget->Release(block);
    return ResourceExhaustedError("the system refused {} bytes", block);
  }
  Buffer buffer;
  buffer.data_ = static_cast<std::byte*>(data);
  buffer.size_ = bytes;
  buffer.budget_ = std::move(budget);
  std::memset(buffer.data_ + bytes, 0, block - bytes);
  return buffer;
}

Result<Buffer> Buffer::AllocateZeroed(size_t bytes, std::shared_ptr<MemoryBudget> budget) {
  KHEYA_ASSIGN_OR_RETURN(Buffer buffer, Allocate(bytes, std::move(budget)));
  std::memset(buffer.data_, 0, bytes);
  return buffer;
}

Result<Buffer> Buffer::Borrow(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                              std::shared_ptr<MemoryBudget> budget) {
  if (!budget) budget = ProcessBudget();
  size_t block = 0;
  if (!BlockBytes(bytes.size(), &block)) return InvalidArgumentError("found too many bytes");
  KHEYA_RETURN_IF_ERROR(budget->Reserve(block));
  Buffer buffer;
  buffer.data_ = const_cast<std::byte*>(bytes.data());
  buffer.size_ = bytes.size();
  buffer.budget_ = std::move(budget);
  buffer.owner_ = std::move(owner);
  return buffer;
}

Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      budget_(std::move(other.budget_)),
      owner_(std::move(other.owner_)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(budget_, other.budget_);
  std::swap(owner_, other.owner_);
  return *this;
}

Buffer::~Buffer() {
  if (data_ == nullptr) return;
  if (owner_ == nullptr) std::free(data_);
  size_t block = 0;
  if (BlockBytes(size_, &block)) budget_->Release(block);
}

}  // namespace kheya
