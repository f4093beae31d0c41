#include "serve/core/work_queue.h"

#include <algorithm>

namespace kheya {

WorkQueue::WorkQueue(int threads, size_t capacity)
    : capacity_(capacity), idle_(static_cast<size_t>(std::max(threads, 1))) {
  for (size_t i = 0, count = idle_; i < count; ++i) threads_.emplace_back([this] { Work(); });
}

WorkQueue::~WorkQueue() { Stop(); }

uint64_t WorkQueue::TryPush(std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  // A job that an idle thread is about to take does not wait.
  if (stopped_ || waiting_.size() >= capacity_ + idle_) return 0;
  waiting_.emplace_back(++last_ticket_, std::move(job));
  wake_.notify_one();
  return last_ticket_;
}

bool WorkQueue::Remove(uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  return std::erase_if(waiting_, [&](const auto& entry) { return entry.first == ticket; }) > 0;
}

void WorkQueue::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    wake_.notify_all();
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void WorkQueue::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    std::function<void()> job = std::move(waiting_.front().second);
    waiting_.pop_front();
    --idle_;
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
    ++idle_;
  }
}

}  // namespace kheya
