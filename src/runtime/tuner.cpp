#include "runtime/tuner.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "base/denormals.h"
#include "runtime/trial.h"

namespace kheya {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kMustGain = 0.03;
// Relative L2 error that float32 may have, as between engines.
constexpr double kTolerance = 1e-4;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string Describe(const Elementwise& f) {
  if (f.op == ElementwiseOp::kIdentity) return "";
  return fmt::format(" f{}({:x},{:x})", static_cast<int>(f.op), std::bit_cast<uint32_t>(f.alpha),
                     std::bit_cast<uint32_t>(f.beta));
}

std::string Join(const kernels::Spatial& sizes) {
  return fmt::format("{},{},{}", sizes[0], sizes[1], sizes[2]);
}

std::string Describe(const TensorDesc& desc) {
  if (!desc.present()) return "-";
  return fmt::format("{}{}{}", DTypeName(desc.dtype), desc.shape.ToString(),
                     desc.layout == Layout::kChannelsLast ? "l" : "");
}

}  // namespace

std::vector<double> TimeCandidates(const KernelCall& call,
                                   std::span<const Tuner::Candidate> candidates,
                                   std::span<const Tensor* const> constants, double tolerance) {
  constexpr int kRounds = 15;
  constexpr double kSeconds = 0.03;
  constexpr double kHopeless = 2;  // times the best: tried once is enough
  const bool exact = call.inputs.empty() || call.inputs[0].dtype == DType::kFloat32;
  const double allowed = exact ? kTolerance : tolerance;
  const ScopedFlushDenormals flush;
  TrialInputs inputs;
  if (!inputs.Make(call, constants)) return {};
  std::vector<double> seconds(candidates.size(), std::numeric_limits<double>::infinity());
  std::vector<std::unique_ptr<Trial>> contenders;
  double best = std::numeric_limits<double>::infinity();
  for (const Tuner::Candidate& candidate : candidates) {
    auto contender = std::make_unique<Trial>(call, *candidate.kernel, inputs);
    if (!contender->Allocate()) return {};
    const bool ran = contender->Run() && contender->Run();
    if (!ran || !(contender->Error().value_or(0) <= allowed)) contender = nullptr;
    if (contender != nullptr) best = std::min(best, contender->seconds());
    contenders.push_back(std::move(contender));
  }
  const Clock::time_point start = Clock::now();
  for (int round = 0; round < kRounds && (round < 3 || SecondsSince(start) < kSeconds); ++round) {
    for (const auto& contender : contenders) {
      if (contender != nullptr && contender->seconds() < kHopeless * best) contender->Run();
    }
  }
  for (size_t i = 0; i < contenders.size(); ++i) {
    if (contenders[i] != nullptr) seconds[i] = contenders[i]->seconds();
  }
  return seconds;
}

std::optional<std::string> TuningKey(const KernelCall& call,
                                     std::span<const Tensor* const> constants) {
  std::string key;
  if (const auto* conv = std::get_if<FusedConvParams>(&call.params)) {
    const kernels::Window& w = conv->conv.window;
    key = fmt::format("conv g{} s{} d{} p{} q{}{}", conv->conv.groups, Join(w.stride),
                      Join(w.dilation), Join(w.pad_begin), Join(w.pad_end),
                      Describe(conv->activation));
  } else if (const auto* product = std::get_if<FusedMatMulParams>(&call.params)) {
    const kernels::GemmParams& gemm = product->gemm;
    key = fmt::format("matmul {}{} {:x} {:x}{}", gemm.trans_a ? "t" : "n", gemm.trans_b ? "t" : "n",
                      std::bit_cast<uint32_t>(gemm.alpha), std::bit_cast<uint32_t>(gemm.beta),
                      Describe(product->activation));
  } else {
    return std::nullopt;
  }
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const bool constant = i < constants.size() && constants[i] != nullptr;
    key += fmt::format(" {}{}", Describe(call.inputs[i]), constant ? "c" : "");
  }
  key += " ->";
  for (const TensorDesc& output : call.outputs) key += " " + Describe(output);
  return key;
}

std::optional<std::string> Tuner::Known(const std::string& key) const {
  std::lock_guard lock(mutex_);
  const auto found = choices_.find(key);
  if (found == choices_.end()) return std::nullopt;
  used_.insert(key);
  return found->second;
}

void Tuner::Remember(const std::string& key, const std::string& choice) {
  std::lock_guard lock(mutex_);
  choices_[key] = choice;
  used_.insert(key);
  ++timed_;
}

bool Tuner::CanTime() const {
  std::lock_guard lock(mutex_);
  return spent_ < options_.seconds;
}

size_t Tuner::Choose(const std::string& key, const KernelCall& call,
                     std::span<const Candidate> candidates,
                     std::span<const Tensor* const> constants) {
  std::lock_guard lock(mutex_);
  if (spent_ >= options_.seconds) return 0;
  const Clock::time_point start = Clock::now();
  const std::vector<double> seconds =
      TimeCandidates(call, candidates, constants, options_.tolerance);
  spent_ += SecondsSince(start);
  if (options_.progress) options_.progress(spent_);
  if (std::ranges::none_of(seconds, [](double each) { return std::isfinite(each); })) return 0;
  size_t best = 0;
  for (size_t i = 1; i < seconds.size(); ++i) {
    const double least = best == 0 ? seconds[0] * (1 - kMustGain) : seconds[best];
    if (seconds[i] < least) best = i;
  }
  choices_[key] = candidates[best].tactic;
  used_.insert(key);
  ++timed_;
  return best;
}

TacticChoices Tuner::choices() const {
  std::lock_guard lock(mutex_);
  return choices_;
}

TacticChoices Tuner::used() const {
  std::lock_guard lock(mutex_);
  TacticChoices used;
  for (const std::string& key : used_) used.insert(*choices_.find(key));
  return used;
}

size_t Tuner::num_timed() const {
  std::lock_guard lock(mutex_);
  return timed_;
}

}  // namespace kheya
