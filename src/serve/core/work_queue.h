// WorkQueue: a few threads and a bounded line of jobs in front of them.
#ifndef KHEYA_SERVE_CORE_WORK_QUEUE_H_
#define KHEYA_SERVE_CORE_WORK_QUEUE_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace kheya {

// Thread safety: all members. Jobs must not throw.
class WorkQueue {
 public:
  // At most `capacity` jobs wait, besides those that run.
  WorkQueue(int threads, size_t capacity);
  // Stop().
  ~WorkQueue();

  // A ticket for Remove, never 0; 0 when the queue is full or stopped.
  uint64_t TryPush(std::function<void()> job);
  // Takes back a job that has not begun; false when it has, or was never there.
  bool Remove(uint64_t ticket);
  // Runs what waits and joins the threads.
  void Stop();

 private:
  void Work();

  const size_t capacity_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::pair<uint64_t, std::function<void()>>> waiting_;
  size_t idle_ = 0;  // threads that wait for a job
  uint64_t last_ticket_ = 0;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace kheya

#endif  // KHEYA_SERVE_CORE_WORK_QUEUE_H_
