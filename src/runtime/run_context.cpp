#include "runtime/run_context.h"

namespace kheya {

Status RunContext::CheckAlive() const {
  if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) {
    return CancelledError("the run was cancelled");
  }
  if (deadline != kNoDeadline && Clock::now() >= deadline) {
    return DeadlineExceededError("the deadline passed during the run");
  }
  return OkStatus();
}

}  // namespace kheya
