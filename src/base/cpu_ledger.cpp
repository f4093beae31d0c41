#include "base/cpu_ledger.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/cgroup.h"

namespace kheya {
namespace {

constexpr auto kCancelPoll = std::chrono::milliseconds(5);

int AffinityCpus() {
  // The kernel refuses a mask smaller than its own, so the size grows until it fits.
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 2) {
    cpu_set_t* set = CPU_ALLOC(cpus);
    if (set == nullptr) break;
    const size_t bytes = CPU_ALLOC_SIZE(cpus);
    const bool ok = sched_getaffinity(0, bytes, set) == 0;
    const int count = ok ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (ok) return count;
  }
  return 1;
}

bool IsSet(const std::atomic<bool>* flag) {
  return flag != nullptr && flag->load(std::memory_order_relaxed);
}

}  // namespace

int AllowedCpus() {
  int cpus = AffinityCpus();
  const double quota = ReadCgroupLimits().cpus;
  if (quota > 0 && quota < cpus) cpus = static_cast<int>(std::ceil(quota));
  return std::max(cpus, 1);
}

CpuLease::CpuLease(CpuLease&& other) noexcept
    : ledger_(std::exchange(other.ledger_, nullptr)), cpus_(std::exchange(other.cpus_, 0)) {}

CpuLease& CpuLease::operator=(CpuLease&& other) noexcept {
  std::swap(ledger_, other.ledger_);
  std::swap(cpus_, other.cpus_);
  return *this;
}

CpuLease::~CpuLease() {
  if (ledger_ != nullptr) ledger_->GiveBack(cpus_);
}

int CpuLedger::in_use() const {
  std::lock_guard lock(mutex_);
  return in_use_;
}

Result<CpuLease> CpuLedger::Acquire(int wanted, Deadline deadline,
                                    const std::atomic<bool>* cancel) {
  std::unique_lock lock(mutex_);
  if (IsSet(cancel)) return CancelledError("the run was cancelled before it started");
  if (!waiting_.empty() || in_use_ == allowed_) {
    KHEYA_RETURN_IF_ERROR(WaitForTurn(lock, deadline, cancel));
  }
  const int cpus = std::clamp(wanted, 1, allowed_ - in_use_);
  in_use_ += cpus;
  WakeNext();
  return CpuLease(this, cpus);
}

Status CpuLedger::WaitForTurn(std::unique_lock<std::mutex>& lock, Deadline deadline,
                              const std::atomic<bool>* cancel) {
  std::condition_variable turn;
  const auto place = waiting_.insert(waiting_.end(), &turn);
  Status status;
  while (waiting_.front() != &turn || in_use_ == allowed_) {
    if (IsSet(cancel)) {
      status = CancelledError("the run was cancelled while it waited for a cpu");
    } else if (Clock::now() >= deadline) {
      status = DeadlineExceededError("no cpu of {} became free in time", allowed_);
    }
    if (!status.ok()) break;
    // A cancel flag rings no bell, so it is looked at again and again.
    const Deadline look = cancel == nullptr ? deadline : Clock::now() + kCancelPoll;
    turn.wait_until(lock, std::min(deadline, look));
  }
  waiting_.erase(place);
  if (!status.ok()) WakeNext();
  return status;
}

void CpuLedger::WakeNext() {
  if (!waiting_.empty() && in_use_ < allowed_) waiting_.front()->notify_one();
}

void CpuLedger::GiveBack(int cpus) {
  std::lock_guard lock(mutex_);
  in_use_ -= cpus;
  WakeNext();
}

}  // namespace kheya
