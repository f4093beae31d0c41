// WorkQueue: a few threads and a bounded line of jobs in front of them.
#ifndef KHEYA_SERVE_CORE_WORK_QUEUE_H_
#define KHEYA_SERVE_CORE_WORK_QUEUE_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace kheya {

// Thread safety: all members. Jobs must not throw.
class WorkQueue {
 public:
  // At most `capacity` jobs wait, besides those that run.
  WorkQueue(int threads, size_t capacity);
  // Stop().
  ~WorkQueue();

  // A ticket for Remove, never 0; 0 when the queue is full or stopped. `name` is for Stop.
  uint64_t TryPush(std::string name, std::function<void()> job);
  // Takes back a job that has not begun; false when it has, or was never there.
  bool Remove(uint64_t ticket);
  // Runs what waits and joins the threads.
  void Stop();
  // The same, but after `limit` gives the names of the jobs that still run or wait; none: all is
  // over.
  std::vector<std::string> Stop(std::chrono::milliseconds limit);

 private:
  struct Job {
    uint64_t ticket = 0;
    std::string name;
    std::function<void()> run;
  };
  void Work();
  void BeginStop();
  void Join();

  const size_t capacity_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable ended_;
  std::deque<Job> waiting_;
  std::list<std::string> running_;  // names
  size_t idle_ = 0;                 // threads that wait for a job
  size_t alive_ = 0;                // threads that have not ended
  uint64_t last_ticket_ = 0;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace kheya

#endif  // KHEYA_SERVE_CORE_WORK_QUEUE_H_
