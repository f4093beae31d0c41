// Tuner: which of several kernels computes a call fastest on this machine, by trying them.
//
//   Tuner tuner({.seconds = 15});
//   const size_t best = tuner.Choose(call, candidates, constants);
//   tuner.choices();   // to be kept for the next time (tactics_cache.h)
//
// Candidates take turns, on one thread; the least time of each counts. One is left out when its
// answers are not those of the definition. The first, which the table of kernels prefers, stays
// unless another is 3% faster.
#ifndef KHEYA_RUNTIME_TUNER_H_
#define KHEYA_RUNTIME_TUNER_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "kernels/kernel.h"

namespace kheya {

// What says all that the time of a call depends on; nullopt for families that are not tuned.
// `constants` as in PrepareContext: which inputs are constant.
std::optional<std::string> TuningKey(const KernelCall& call,
                                     std::span<const Tensor* const> constants);

// The tactic ("onednn:conv") for each key.
using TacticChoices = std::map<std::string, std::string>;

struct TunerOptions {
  double seconds = 0;  // for all calls together; when they are spent, or 0: nothing is timed
  // Called with the seconds spent so far after each call that was timed; may be empty.
  std::function<void(double seconds)> progress = {};
};

// Thread safety: all members; calls are timed one at a time.
class Tuner {
 public:
  struct Candidate {
    std::string tactic;
    std::shared_ptr<const PreparedKernel> kernel;
  };

  explicit Tuner(TunerOptions options, TacticChoices known = {})
      : options_(std::move(options)), choices_(std::move(known)) {}

  // What was chosen before for this key.
  std::optional<std::string> Known(const std::string& key) const;
  // Whether there is time left to try candidates.
  bool CanTime() const;
  // The index of the fastest of at least one candidate, which is remembered; 0 where memory or
  // time is short. `constants` as in PrepareContext.
  size_t Choose(const std::string& key, const KernelCall& call,
                std::span<const Candidate> candidates, std::span<const Tensor* const> constants);

  // All choices, those known at first included.
  TacticChoices choices() const;
  // Those that were asked for.
  TacticChoices used() const;
  // How many were added.
  size_t num_timed() const;

 private:
  const TunerOptions options_;
  mutable std::mutex mutex_;
  TacticChoices choices_;
  mutable std::set<std::string> used_;
  size_t timed_ = 0;
  double spent_ = 0;
};

// Seconds that one run of each candidate takes; infinite for one that fails or answers wrong. Empty
// for lack of memory and for inputs that cannot be made up (indices). `constants` as in
// PrepareContext.
std::vector<double> TimeCandidates(const KernelCall& call,
                                   std::span<const Tuner::Candidate> candidates,
                                   std::span<const Tensor* const> constants);

}  // namespace kheya

#endif  // KHEYA_RUNTIME_TUNER_H_
