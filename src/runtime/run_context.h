// RunContext: what one run may take and what it leaves behind.
#ifndef KHEYA_RUNTIME_RUN_CONTEXT_H_
#define KHEYA_RUNTIME_RUN_CONTEXT_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/cpu_ledger.h"
#include "base/status.h"
#include "tensor/value.h"

namespace kheya {

// Part of a step, on one thread.
struct SliceTiming {
  std::thread::id thread;
  int64_t start = 0;  // nanoseconds since the run began
  int64_t nanoseconds = 0;
};

// Time spent in one step of a plan, filled in when profiling.
struct StepTiming {
  std::string step;  // node name
  std::string op;
  std::string tactic;  // "reference", "onednn", ...
  int64_t start = 0;   // nanoseconds since the run began
  int64_t nanoseconds = 0;
  std::vector<SliceTiming> slices = {};  // where they are asked for and the step has several
};

// Belongs to one run at a time; may be used again for the next. Not thread-safe, save that another
// thread may set `cancel`.
struct RunContext {
  // CPUs wanted; 0: all that the runtime's ledger allows. The ledger may give fewer.
  int threads = 0;
  // The run ends with DeadlineExceeded at the first step boundary after this.
  Deadline deadline = kNoDeadline;
  // When set and true, the run ends with Cancelled at the next step boundary.
  const std::atomic<bool>* cancel = nullptr;
  // Of operators that draw random numbers and have no seed of their own; 0: another one each run.
  uint64_t seed = 0;
  // When true, `timings` holds one entry a step after the run.
  bool profile = false;
  std::vector<StepTiming> timings;
  bool profile_slices = false;  // with `profile`: slices too, which costs time in each
  // Values that a model with state keeps between runs, by name. Unused by stateless models.
  std::map<std::string, Value> state;
  // W3C trace id and parent, passed on to logs; empty: none.
  std::string trace_id;

  Status CheckAlive() const;
};

}  // namespace kheya

#endif  // KHEYA_RUNTIME_RUN_CONTEXT_H_
