#include "serve/core/work_queue.h"

#include <algorithm>

namespace kheya {

WorkQueue::WorkQueue(int threads, size_t capacity)
    : capacity_(capacity), idle_(static_cast<size_t>(std::max(threads, 1))), alive_(idle_) {
  for (size_t i = 0, count = idle_; i < count; ++i) threads_.emplace_back([this] { Work(); });
}

WorkQueue::~WorkQueue() { Stop(); }

uint64_t WorkQueue::TryPush(std::string name, std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  // A job that an idle thread is about to take does not wait.
  if (stopped_ || waiting_.size() >= capacity_ + idle_) return 0;
  waiting_.push_back({++last_ticket_, std::move(name), std::move(job)});
  wake_.notify_one();
  return last_ticket_;
}

bool WorkQueue::Remove(uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  return std::erase_if(waiting_, [&](const Job& job) { return job.ticket == ticket; }) > 0;
}

void WorkQueue::BeginStop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  wake_.notify_all();
}

void WorkQueue::Join() {
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void WorkQueue::Stop() {
  BeginStop();
  Join();
}

std::vector<std::string> WorkQueue::Stop(std::chrono::milliseconds limit) {
  BeginStop();
  std::unique_lock lock(mutex_);
  if (!ended_.wait_for(lock, limit, [this] { return alive_ == 0; })) {
    std::vector<std::string> names(running_.begin(), running_.end());
    for (const Job& job : waiting_) names.push_back(job.name);
    if (!names.empty()) return names;
  }
  lock.unlock();
  Join();
  return {};
}

void WorkQueue::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
    if (waiting_.empty()) break;
    Job job = std::move(waiting_.front());
    waiting_.pop_front();
    --idle_;
    const auto running = running_.insert(running_.end(), std::move(job.name));
    lock.unlock();
    job.run();
    job.run = nullptr;
    lock.lock();
    running_.erase(running);
    ++idle_;
  }
  --alive_;
  ended_.notify_all();
}

}  // namespace kheya
