// PhaseClock: adds what passed since it was made, or since the last phase ended, to PhaseTimes.
#ifndef KHEYA_ENGINE_PHASE_CLOCK_H_
#define KHEYA_ENGINE_PHASE_CLOCK_H_

#include <chrono>

#include "engine/engine.h"

namespace kheya {

class PhaseClock {
 public:
  // `phases` may be null.
  explicit PhaseClock(PhaseTimes* phases) : phases_(phases) {}

  void End(const char* phase) {
    const auto now = std::chrono::steady_clock::now();
    if (phases_ != nullptr) {
      phases_->emplace_back(phase, std::chrono::duration<double>(now - start_).count());
    }
    start_ = now;
  }

 private:
  PhaseTimes* const phases_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace kheya

#endif  // KHEYA_ENGINE_PHASE_CLOCK_H_
