// Trial: a kernel tried on inputs of its own: how long it takes, and how far its answers are from
// those of the definition.
//
//   TrialInputs inputs;
//   if (!inputs.Make(call, constants)) ...           // no memory
//   Trial trial(call, *kernel, inputs);
//   if (trial.Allocate() && trial.Run()) trial.seconds(), trial.Error();
#ifndef KHEYA_RUNTIME_TRIAL_H_
#define KHEYA_RUNTIME_TRIAL_H_

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/allocator.h"
#include "kernels/kernel.h"

namespace kheya {

// The inputs of one call, drawn from [-1, 1) where they are not constant.
class TrialInputs {
 public:
  // False for lack of memory and for inputs other than float32 and bfloat16. `constants` as in
  // PrepareContext; they must live on.
  bool Make(const KernelCall& call, std::span<const Tensor* const> constants);

  // As the call's types say.
  std::span<const std::byte* const> inputs() const { return inputs_; }
  // The same in float32, before any rounding.
  std::span<const float* const> exact() const { return exact_; }

 private:
  bool Add(const TensorDesc& desc, const Tensor* constant);

  std::vector<const std::byte*> inputs_;
  std::vector<const float*> exact_;
  std::vector<Tensor> held_;
};

class Trial {
 public:
  Trial(const KernelCall& call, const PreparedKernel& kernel, const TrialInputs& inputs)
      : call_(call), kernel_(kernel), inputs_(inputs) {}

  bool Allocate();
  // Runs once on the calling thread; false when it fails.
  bool Run();
  // Of the fastest run so far.
  double seconds() const { return seconds_; }
  // The relative L2 error of 64 elements of the last run's answer: 0 where these are all 0, and not
  // finite where one is not; nullopt for a call that kernels/sample.h does not know.
  std::optional<double> Error() const;

 private:
  const KernelCall& call_;
  const PreparedKernel& kernel_;
  const TrialInputs& inputs_;
  Buffer workspace_;
  std::vector<Tensor> outputs_;
  std::vector<std::byte*> pointers_;
  double seconds_ = std::numeric_limits<double>::infinity();
};

}  // namespace kheya

#endif  // KHEYA_RUNTIME_TRIAL_H_
