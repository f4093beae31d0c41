#include "runtime/trial.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/random.h"
#include "kernels/portable/bf16.h"
#include "kernels/sample.h"
#include "tensor/float16.h"

namespace kheya {
namespace {

constexpr int64_t kSamples = 64;

}  // namespace

bool TrialInputs::Add(const TensorDesc& desc, const Tensor* constant) {
  if (constant == nullptr) {
    Random random(held_.size() + 1);
    Result<Tensor> drawn = Tensor::Allocate(DType::kFloat32, desc.shape);
    if (!drawn.ok()) return false;
    for (float& value : drawn->mutable_data<float>()) value = random.Uniform(-1.0f, 1.0f);
    held_.push_back(std::move(drawn).value());
    constant = &held_.back();
  }
  exact_.push_back(constant->dtype() == DType::kFloat32 ? constant->data<float>().data() : nullptr);
  inputs_.push_back(constant->bytes().data());
  if (desc.dtype != DType::kBFloat16 || exact_.back() == nullptr) return true;
  Result<Tensor> narrow = Tensor::Allocate(DType::kBFloat16, desc.shape);
  if (!narrow.ok()) return false;
  auto* bits = static_cast<uint16_t*>(narrow->mutable_view().data);
  simd::Narrow(exact_.back(), bits, static_cast<size_t>(desc.shape.num_elements()));
  held_.push_back(std::move(narrow).value());
  inputs_.back() = held_.back().bytes().data();
  return true;
}

bool TrialInputs::Make(const KernelCall& call, std::span<const Tensor* const> constants) {
  held_.reserve(2 * call.inputs.size());
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const Tensor* constant = i < constants.size() ? constants[i] : nullptr;
    if (!call.has_input(i)) {
      inputs_.push_back(nullptr);
      exact_.push_back(nullptr);
      continue;
    }
    if (constant == nullptr && !IsFloat(call.inputs[i])) return false;
    if (!Add(call.inputs[i], constant)) return false;
  }
  return true;
}

bool Trial::Allocate() {
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

bool Trial::Run() {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  for (int64_t slice = 0; slice < kernel_.slices(); ++slice) {
    if (!kernel_.Run({inputs_.inputs(), pointers_, workspace_.data(), slice}).ok()) return false;
  }
  const std::chrono::duration<double> spent = Clock::now() - start;
  seconds_ = std::min(seconds_, spent.count());
  return true;
}

std::optional<double> Trial::Error() const {
  if (call_.outputs.size() != 1 || !IsFloat(call_.outputs[0])) return std::nullopt;
  const TensorDesc& desc = call_.outputs[0];
  const int64_t count = desc.shape.num_elements();
  double error = 0, size = 0;
  for (int64_t i = 0; i < kSamples; ++i) {
    const int64_t index = i * (count - 1) / (kSamples - 1);
    const std::optional<double> expected = SampleOutput(call_, inputs_.exact(), index);
    if (!expected) return std::nullopt;
    const int64_t place = MemoryIndex(desc, index);
    const double found = desc.dtype == DType::kFloat32 ? double{outputs_[0].At<float>(place)}
                                                       : double{outputs_[0].At<BFloat16>(place)};
    error += (found - *expected) * (found - *expected);
    size += *expected * *expected;
  }
  return error == 0 ? 0 : std::sqrt(error / size);
}

}  // namespace kheya
