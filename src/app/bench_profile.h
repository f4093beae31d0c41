// The profile of `kheya bench`: where the time of a run goes, step by step, and how near each step
// comes to what this machine can do.
#ifndef KHEYA_APP_BENCH_PROFILE_H_
#define KHEYA_APP_BENCH_PROFILE_H_

#include <string>
#include <vector>

#include "base/json.h"
#include "engine/engine.h"

namespace kheya {

// Collects the timings of many runs of one plan.
class Profile {
 public:
  Profile(std::vector<StepInfo> steps, int threads);

  // Of one run; ignored where there is not one for each step.
  void Add(const std::vector<StepTiming>& timings);

  // "profile": by operator and tactic, most time first; "steps": each; "roofline_ms": what a run
  // would take if every step ran at its roofline, the longer of its arithmetic at the peak and its
  // memory traffic at the bandwidth of as many bytes. The least time of each step counts.
  void WriteTo(Json* report) const;
  // "steps" alone: the kernels that were compared, with their milliseconds; null: failed.
  void WriteComparisonTo(Json* report) const;
  // The timings of one run for chrome://tracing and Perfetto: a track of steps, and one for each
  // thread where slices were timed.
  Json Trace(const std::vector<StepTiming>& timings) const;

 private:
  struct Times {
    int64_t least = 0;
    int64_t total = 0;
  };

  double BoundSeconds(const StepInfo& step) const;
  Json StepRow(size_t index, double all_seconds) const;
  Json Groups(double all_seconds) const;

  const std::vector<StepInfo> steps_;
  const int threads_;
  std::vector<Times> times_;  // by step
  int64_t runs_ = 0;
};

// What WriteTo and WriteComparisonTo wrote, as tables.
void PrintProfile(const Json& report);
void PrintComparison(const Json& report);

}  // namespace kheya

#endif  // KHEYA_APP_BENCH_PROFILE_H_
