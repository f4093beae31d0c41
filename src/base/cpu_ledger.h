// CpuLedger: who may use how many CPUs now, and ThreadTeam: the threads that do the work.
//
//   Runtime runtime(RuntimeOptions{});                       // once
//   KHEYA_ASSIGN_OR_RETURN(CpuLease lease, runtime.ledger().Acquire(4, deadline, cancel));
//   runtime.ParallelFor(lease, tiles, [&](int64_t tile) { ... });
//
// Rules
// - allowed() is the smallest of the affinity mask, the cgroup's quota (rounded up) and the
//   option; the CPUs of all leases together never exceed it. A caller that finds none free waits.
// - The calling thread works too: a lease of n CPUs uses the caller and at most n - 1 workers.
//   The runtime owns allowed() - 1 workers in all, started when first needed, asleep when idle.
// - How work is cut depends on shapes alone; a lease only decides how many tiles run at once.
// - oneDNN runs with one OpenMP thread on whatever thread calls it (see docs/decisions), so it
//   never starts a team of its own.
#ifndef KHEYA_BASE_CPU_LEDGER_H_
#define KHEYA_BASE_CPU_LEDGER_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

#include "base/function_ref.h"
#include "base/status.h"

namespace kheya {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;
inline constexpr Deadline kNoDeadline = Deadline::max();

// CPUs this process may use: affinity mask and cgroup (v1 and v2) quota; at least 1.
int AllowedCpus();

class CpuLedger;

// CPUs held by one run. Move-only; given back at the end.
class CpuLease {
 public:
  CpuLease() = default;
  CpuLease(CpuLease&& other) noexcept;
  CpuLease& operator=(CpuLease&& other) noexcept;
  ~CpuLease();
  int cpus() const { return cpus_; }

 private:
  friend class CpuLedger;
  CpuLease(CpuLedger* ledger, int cpus) : ledger_(ledger), cpus_(cpus) {}
  CpuLedger* ledger_ = nullptr;
  int cpus_ = 0;
};

// Thread safety: all members.
class CpuLedger {
 public:
  explicit CpuLedger(int allowed) : allowed_(allowed < 1 ? 1 : allowed) {}
  int allowed() const { return allowed_; }
  int in_use() const;

  // Between 1 and `wanted` CPUs: what is free, waiting while nothing is; who waits longest is
  // served first. DeadlineExceeded or Cancelled when `deadline` passes or `*cancel` becomes true
  // first. `cancel` may be null.
  Result<CpuLease> Acquire(int wanted, Deadline deadline = kNoDeadline,
                           const std::atomic<bool>* cancel = nullptr);

 private:
  friend class CpuLease;
  void GiveBack(int cpus);
  Status WaitForTurn(std::unique_lock<std::mutex>& lock, Deadline deadline,
                     const std::atomic<bool>* cancel);
  void WakeNext();
  const int allowed_;
  mutable std::mutex mutex_;
  std::list<std::condition_variable*> waiting_;  // in the order of arrival
  int in_use_ = 0;
};

struct RuntimeOptions {
  int threads = 0;  // CPUs to use at most; 0: AllowedCpus()
};

// Owns the ledger and the workers. One per process is usual (`Runtime::Default()`); an embedding
// program can make its own and give it to each model. Must outlive all leases.
class Runtime {
 public:
  explicit Runtime(const RuntimeOptions& options = RuntimeOptions());
  ~Runtime();
  static const std::shared_ptr<Runtime>& Default();

  CpuLedger& ledger() { return ledger_; }

  // Calls body(i) once for each i in [0, count), on the caller and at most lease.cpus() - 1
  // workers, and returns when all are done. Bodies must not throw and must write disjoint data.
  // Nested calls run on the calling thread alone. Workers take over the caller's float mode
  // (base/denormals.h).
  void ParallelFor(const CpuLease& lease, int64_t count, FunctionRef<void(int64_t)> body);

  // Workers started so far (never more than allowed - 1).
  int workers() const;

 private:
  class Pool;
  CpuLedger ledger_;
  std::unique_ptr<Pool> pool_;
};

}  // namespace kheya

#endif  // KHEYA_BASE_CPU_LEDGER_H_
