#include <algorithm>
#include <system_error>
#include <thread>
#include <vector>

#include "base/cpu_ledger.h"
#include "base/denormals.h"

namespace kheya {
namespace {

// How long a thread looks for work, or for the end of it, before it sleeps.
constexpr auto kSpin = std::chrono::microseconds(50);

// True on workers, and on a caller while its own call runs.
thread_local bool inside_parallel_for = false;

void Relax() {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

template <typename Condition>
bool SpinUntil(Condition condition) {
  const Deadline end = Clock::now() + kSpin;
  do {
    for (int i = 0; i < 16; ++i) {
      if (condition()) return true;
      Relax();
    }
  } while (Clock::now() < end);
  return false;
}

}  // namespace

// The workers and the calls that still want some. A call lives on its caller's stack.
class Runtime::Pool {
 public:
  explicit Pool(int max_workers) : max_workers_(max_workers) {}
  ~Pool();
  void Run(int helpers, int64_t count, FunctionRef<void(int64_t)> body);
  int workers() const;

 private:
  struct Call {
    FunctionRef<void(int64_t)> body;
    int64_t count;
    uint64_t float_mode;
    int helpers_wanted;            // guarded by mutex_
    std::atomic<int> helpers = 0;  // changed under mutex_
    std::atomic<int64_t> next = 0;
  };

  static void Work(Call& call);
  void StartWorkers(int wanted);
  void WorkerLoop();
  Call* TakeCall();

  const int max_workers_;
  mutable std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable done_;
  std::vector<Call*> open_;           // calls that want more helpers
  std::atomic<int> open_places_ = 0;  // sum of their helpers_wanted
  std::vector<std::thread> threads_;
  int idle_ = 0;
  bool stop_ = false;
};

Runtime::Pool::~Pool() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

int Runtime::Pool::workers() const {
  std::lock_guard lock(mutex_);
  return static_cast<int>(threads_.size());
}

void Runtime::Pool::Work(Call& call) {
  while (true) {
    const int64_t i = call.next.fetch_add(1, std::memory_order_relaxed);
    if (i >= call.count) return;
    call.body(i);
  }
}

// A system without room for another thread only makes the call slower.
void Runtime::Pool::StartWorkers(int wanted) {
  try {
    while (wanted-- > 0 && static_cast<int>(threads_.size()) < max_workers_) {
      threads_.emplace_back([this] { WorkerLoop(); });
      ++idle_;
    }
  } catch (const std::system_error&) {
  }
}

Runtime::Pool::Call* Runtime::Pool::TakeCall() {
  Call* call = open_.back();
  if (--call->helpers_wanted == 0) open_.pop_back();
  open_places_.fetch_sub(1, std::memory_order_relaxed);
  call->helpers.fetch_add(1, std::memory_order_relaxed);
  --idle_;
  return call;
}

void Runtime::Pool::WorkerLoop() {
  inside_parallel_for = true;
  const uint64_t own_mode = GetFloatMode();
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [this] { return stop_ || !open_.empty(); });
    if (stop_) return;
    Call& call = *TakeCall();
    lock.unlock();
    SetFloatMode(call.float_mode);
    Work(call);
    SetFloatMode(own_mode);
    lock.lock();
    ++idle_;
    if (call.helpers.fetch_sub(1, std::memory_order_release) == 1) done_.notify_all();
    lock.unlock();
    SpinUntil([this] { return open_places_.load(std::memory_order_relaxed) > 0; });
    lock.lock();
  }
}

void Runtime::Pool::Run(int helpers, int64_t count, FunctionRef<void(int64_t)> body) {
  Call call{body, count, GetFloatMode(), helpers};
  {
    std::lock_guard lock(mutex_);
    open_.push_back(&call);
    open_places_.fetch_add(helpers, std::memory_order_relaxed);
    StartWorkers(open_places_.load(std::memory_order_relaxed) - idle_);
  }
  for (int i = 0; i < helpers; ++i) work_.notify_one();
  inside_parallel_for = true;
  Work(call);
  inside_parallel_for = false;
  std::unique_lock lock(mutex_);
  if (call.helpers_wanted > 0) {
    open_places_.fetch_sub(call.helpers_wanted, std::memory_order_relaxed);
    open_.erase(std::find(open_.begin(), open_.end(), &call));
  }
  const auto finished = [&call] { return call.helpers.load(std::memory_order_acquire) == 0; };
  if (finished()) return;
  lock.unlock();
  SpinUntil(finished);
  lock.lock();
  done_.wait(lock, finished);
}

Runtime::Runtime(const RuntimeOptions& options)
    : ledger_(options.threads > 0 ? std::min(options.threads, AllowedCpus()) : AllowedCpus()),
      pool_(std::make_unique<Pool>(ledger_.allowed() - 1)) {}

Runtime::~Runtime() = default;

const std::shared_ptr<Runtime>& Runtime::Default() {
  static const auto* runtime = new std::shared_ptr<Runtime>(std::make_shared<Runtime>());
  return *runtime;
}

void Runtime::ParallelFor(const CpuLease& lease, int64_t count, FunctionRef<void(int64_t)> body) {
  const int64_t helpers = std::min<int64_t>(lease.cpus(), count) - 1;
  if (helpers <= 0 || inside_parallel_for) {
    for (int64_t i = 0; i < count; ++i) body(i);
    return;
  }
  pool_->Run(static_cast<int>(helpers), count, body);
}

int Runtime::workers() const { return pool_->workers(); }

}  // namespace kheya
