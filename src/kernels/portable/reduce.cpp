// Softmax, layer normalization, means, and local response normalization.
#include "kernels/portable/rows.h"
#include "kernels/portable/simd.h"

namespace kheya {

// Over the last axis that is not 1 wide.
bool PortableSoftmaxSupports(const KernelCall& call) {
  const auto* params = std::get_if<SoftmaxParams>(&call.params);
  if (params == nullptr || !call.All(DType::kFloat32)) return false;
  const TensorDesc& x = call.inputs[0];
  return x.layout == Layout::kPlain && x.shape.Product(params->axis + 1, x.shape.rank()) == 1;
}

Result<std::shared_ptr<const PreparedKernel>> PreparePortableSoftmax(const KernelCall& call,
                                                                     const PrepareContext&) {
  const SoftmaxParams params = std::get<SoftmaxParams>(call.params);
  const Shape& shape = call.inputs[0].shape;
  const int64_t inner = shape[params.axis];
  auto body = [=](const KernelArgs& args, SliceRange rows) {
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      simd::SoftmaxRow(InputF32(args, 0) + row * inner, OutputF32(args, 0) + row * inner, inner,
                       params.log);
    }
    return OkStatus();
  };
  return MakeRowKernel(body, shape.Product(0, params.axis), BytesOf(call), 1);
}

bool PortableLayerNormSupports(const KernelCall& call) {
  return std::holds_alternative<LayerNormParams>(call.params) && call.All(DType::kFloat32) &&
         call.inputs[0].layout == Layout::kPlain;
}

Result<std::shared_ptr<const PreparedKernel>> PreparePortableLayerNorm(const KernelCall& call,
                                                                       const PrepareContext&) {
  const LayerNormParams params = std::get<LayerNormParams>(call.params);
  const Shape& shape = call.inputs[0].shape;
  const int64_t inner = shape.Product(params.axis, shape.rank());
  const bool biased = call.has_input(2);
  auto body = [=](const KernelArgs& args, SliceRange rows) {
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      if (params.rms) {
        simd::RmsNormRow(InputF32(args, 0) + row * inner, InputF32(args, 1), params.epsilon,
                         OutputF32(args, 0) + row * inner, inner);
        continue;
      }
      simd::LayerNormRow(InputF32(args, 0) + row * inner, InputF32(args, 1),
                         biased ? InputF32(args, 2) : nullptr, params.epsilon,
                         OutputF32(args, 0) + row * inner, inner);
    }
    return OkStatus();
  };
  return MakeRowKernel(body, shape.Product(0, params.axis), BytesOf(call), 1);
}

bool PortableGlobalMeanSupports(const KernelCall& call) {
  return std::holds_alternative<GlobalMeanParams>(call.params) && call.All(DType::kFloat32) &&
         call.inputs[0].shape.rank() >= 3 && call.inputs[0].shape.num_elements() > 0;
}

Result<std::shared_ptr<const PreparedKernel>> PreparePortableGlobalMean(const KernelCall& call,
                                                                        const PrepareContext&) {
  const ChannelDims dims = ChannelDimsOf(call.inputs[0].shape);
  const float factor = 1.0f / static_cast<float>(dims.positions);
  if (call.inputs[0].layout == Layout::kPlain) {
    auto body = [=](const KernelArgs& args, SliceRange rows) {
      for (int64_t row = rows.begin; row < rows.end; ++row) {
        const float* x = InputF32(args, 0) + row * dims.positions;
        OutputF32(args, 0)[row] = simd::Sum(x, dims.positions) * factor;
      }
      return OkStatus();
    };
    return MakeRowKernel(body, dims.batch * dims.channels, BytesOf(call));
  }
  auto body = [=](const KernelArgs& args, SliceRange images) {
    for (int64_t image = images.begin; image < images.end; ++image) {
      const float* x = InputF32(args, 0) + image * dims.positions * dims.channels;
      float* y = OutputF32(args, 0) + image * dims.channels;
      std::fill(y, y + dims.channels, 0.0f);
      for (int64_t p = 0; p < dims.positions; ++p) {
        simd::Accumulate(x + p * dims.channels, y, dims.channels);
      }
      simd::Scale(factor, y, dims.channels);
    }
    return OkStatus();
  };
  return MakeRowKernel(body, dims.batch, BytesOf(call));
}

bool PortableReduceMeanSupports(const KernelCall& call) {
  return std::holds_alternative<ReduceMeanParams>(call.params) && call.All(DType::kFloat32) &&
         call.inputs[0].layout == Layout::kPlain && call.inputs[0].shape.num_elements() > 0;
}

Result<std::shared_ptr<const PreparedKernel>> PreparePortableReduceMean(const KernelCall& call,
                                                                        const PrepareContext&) {
  const int axis = std::get<ReduceMeanParams>(call.params).axis;
  const Shape& shape = call.inputs[0].shape;
  const int64_t inner = shape.Product(axis, shape.rank());
  auto body = [=](const KernelArgs& args, SliceRange rows) {
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      OutputF32(args, 0)[row] =
          simd::Sum(InputF32(args, 0) + row * inner, inner) / static_cast<float>(inner);
    }
    return OkStatus();
  };
  return MakeRowKernel(body, shape.Product(0, axis), BytesOf(call));
}

namespace {

// In channels-last layout: the squares of one position and their windowed sums are in the
// workspace.
class LrnKernel : public PreparedKernel {
 public:
  explicit LrnKernel(const KernelCall& call)
      : params_(std::get<kernels::LrnParams>(call.params)),
        dims_(ChannelDimsOf(call.inputs[0].shape)),
        slices_(SlicesFor(4 * BytesOf(call), kLeastBytes, dims_.batch * dims_.positions)) {}

  int64_t slices() const override { return slices_; }
  size_t workspace_bytes() const override { return slices_ * 2 * dims_.channels * sizeof(float); }
  bool CanRunInPlace(int) const override { return true; }

  Status Run(const KernelArgs& args) const override {
    const int64_t channels = dims_.channels;
    float* squares = reinterpret_cast<float*>(args.workspace) + args.slice * 2 * channels;
    float* sums = squares + channels;
    const SliceRange rows = RangeOf(args.slice, slices_, dims_.batch * dims_.positions);
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      const float* x = InputF32(args, 0) + row * channels;
      simd::Binary(BinaryOp::kMul, x, 1, x, 1, squares, channels);
      SumWindows(squares, sums);
      simd::LrnRow(x, sums, params_.alpha / static_cast<float>(params_.size), params_.beta,
                   params_.bias, OutputF32(args, 0) + row * channels, channels);
    }
    return OkStatus();
  }

 private:
  // Channel c sums those in [c - floor((size-1)/2), c + ceil((size-1)/2)].
  void SumWindows(const float* squares, float* sums) const {
    const int64_t channels = dims_.channels;
    std::fill(sums, sums + channels, 0.0f);
    const int64_t before = std::min((params_.size - 1) / 2, channels - 1);
    const int64_t after = std::min(params_.size - 1 - (params_.size - 1) / 2, channels - 1);
    for (int64_t offset = -before; offset <= after; ++offset) {
      const int64_t count = channels - std::abs(offset);
      simd::Accumulate(squares + std::max<int64_t>(offset, 0), sums + std::max<int64_t>(-offset, 0),
                       count);
    }
  }

  const kernels::LrnParams params_;
  const ChannelDims dims_;
  const int64_t slices_;
};

}  // namespace

bool PortableLrnSupports(const KernelCall& call) {
  const auto* params = std::get_if<kernels::LrnParams>(&call.params);
  return params != nullptr && call.All(DType::kFloat32) && params->size > 0 &&
         call.inputs[0].layout == Layout::kChannelsLast && params->bias > 0 &&
         call.inputs[0].shape.num_elements() > 0;
}

Result<std::shared_ptr<const PreparedKernel>> PreparePortableLrn(const KernelCall& call,
                                                                 const PrepareContext&) {
  return std::shared_ptr<const PreparedKernel>(std::make_shared<LrnKernel>(call));
}

}  // namespace kheya
