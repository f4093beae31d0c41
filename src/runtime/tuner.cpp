#include "runtime/tuner.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "base/denormals.h"
#include "base/random.h"
#include "kernels/sample.h"

namespace kheya {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kMustGain = 0.03;
constexpr int64_t kSamples = 64;
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

// The memory of one call: its inputs, drawn at random where they are not constant.
class CallMemory {
 public:
  // False for lack of memory and for inputs other than float32.
  bool Make(const KernelCall& call, std::span<const Tensor* const> constants) {
    Random random(1);
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      const Tensor* constant = i < constants.size() ? constants[i] : nullptr;
      if (!call.has_input(i)) {
        inputs_.push_back(nullptr);
        continue;
      }
      if (constant == nullptr) {
        if (call.inputs[i].dtype != DType::kFloat32) return false;
        Result<Tensor> drawn = Tensor::Allocate(DType::kFloat32, call.inputs[i].shape);
        if (!drawn.ok()) return false;
        for (float& value : drawn->mutable_data<float>()) value = random.Uniform(-1.0f, 1.0f);
        held_.push_back(std::move(drawn).value());
        constant = &held_.back();
      }
      inputs_.push_back(constant->bytes().data());
    }
    return true;
  }

  std::span<const std::byte* const> inputs() const { return inputs_; }

 private:
  std::vector<const std::byte*> inputs_;
  std::vector<Tensor> held_;
};

// A candidate with memory to run in.
class Contender {
 public:
  Contender(const KernelCall& call, const Tuner::Candidate& candidate, const CallMemory& memory)
      : call_(call), kernel_(*candidate.kernel), memory_(memory) {}

  bool Allocate() {
    Result<Buffer> workspace = Buffer::Allocate(kernel_.workspace_bytes());
    if (!workspace.ok()) return false;
    workspace_ = std::move(workspace).value();
    for (const TensorDesc& desc : call_.outputs) {
      Result<Tensor> output = Tensor::Allocate(desc.dtype, desc.shape);
      if (!output.ok()) return false;
      outputs_.push_back(std::move(output).value());
    }
    for (Tensor& output : outputs_) {
      pointers_.push_back(static_cast<std::byte*>(output.mutable_view().data));
    }
    return true;
  }

  // Runs once; false when it fails.
  bool Run() {
    const Clock::time_point start = Clock::now();
    for (int64_t slice = 0; slice < kernel_.slices(); ++slice) {
      if (!kernel_.Run({memory_.inputs(), pointers_, workspace_.data(), slice}).ok()) return false;
    }
    best_ = std::min(best_, SecondsSince(start));
    return true;
  }

  // Compares some elements with the definition.
  bool AnswersRight() const {
    if (call_.outputs.size() != 1 || call_.outputs[0].dtype != DType::kFloat32) return true;
    std::vector<const float*> inputs;
    for (const std::byte* input : memory_.inputs()) {
      inputs.push_back(reinterpret_cast<const float*>(input));
    }
    const int64_t count = call_.outputs[0].shape.num_elements();
    double error = 0, size = 0;
    for (int64_t i = 0; i < kSamples; ++i) {
      const int64_t index = i * (count - 1) / (kSamples - 1);
      const std::optional<double> expected = SampleOutput(call_, inputs, index);
      if (!expected) return true;
      const double found = outputs_[0].At<float>(MemoryIndex(call_.outputs[0], index));
      error += (found - *expected) * (found - *expected);
      size += *expected * *expected;
    }
    return std::isfinite(error) && error <= kTolerance * kTolerance * size;
  }

  double best() const { return best_; }

 private:
  const KernelCall& call_;
  const PreparedKernel& kernel_;
  const CallMemory& memory_;
  Buffer workspace_;
  std::vector<Tensor> outputs_;
  std::vector<std::byte*> pointers_;
  double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace

std::vector<double> TimeCandidates(const KernelCall& call,
                                   std::span<const Tuner::Candidate> candidates,
                                   std::span<const Tensor* const> constants) {
  constexpr int kRounds = 15;
  constexpr double kSeconds = 0.03;
  constexpr double kHopeless = 2;  // times the best: tried once is enough
  const ScopedFlushDenormals flush;
  CallMemory memory;
  if (!memory.Make(call, constants)) return {};
  std::vector<double> seconds(candidates.size(), std::numeric_limits<double>::infinity());
  std::vector<std::unique_ptr<Contender>> contenders;
  double best = std::numeric_limits<double>::infinity();
  for (const Tuner::Candidate& candidate : candidates) {
    auto contender = std::make_unique<Contender>(call, candidate, memory);
    if (!contender->Allocate()) return {};
    if (!contender->Run() || !contender->Run() || !contender->AnswersRight()) contender = nullptr;
    if (contender != nullptr) best = std::min(best, contender->best());
    contenders.push_back(std::move(contender));
  }
  const Clock::time_point start = Clock::now();
  for (int round = 0; round < kRounds && (round < 3 || SecondsSince(start) < kSeconds); ++round) {
    for (const auto& contender : contenders) {
      if (contender != nullptr && contender->best() < kHopeless * best) contender->Run();
    }
  }
  for (size_t i = 0; i < contenders.size(); ++i) {
    if (contenders[i] != nullptr) seconds[i] = contenders[i]->best();
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
  const std::vector<double> seconds = TimeCandidates(call, candidates, constants);
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
