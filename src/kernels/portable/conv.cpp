// Convolutions over one or two spatial axes in channels-last layout, without a library: for each
// output row, one matrix product for each kernel element that meets the input.
#include <cstring>

#include "kernels/portable/rows.h"
#include "kernels/portable/simd.h"

namespace kheya {
namespace {

constexpr int kHeight = 1;  // places in kernels::Spatial
constexpr int kWidth = 2;

class ConvKernel : public PreparedKernel {
 public:
  explicit ConvKernel(const KernelCall& call)
      : params_(std::get<FusedConvParams>(call.params)),
        in_(kernels::SpatialOf(call.inputs[0].shape, 2)),
        out_(kernels::SpatialOf(call.outputs[0].shape, 2)),
        in_channels_(call.inputs[0].shape[1]),
        out_channels_(call.outputs[0].shape[1]),
        rows_(call.inputs[0].shape[0] * out_[kHeight]),
        has_bias_(call.has_input(2)),
        has_residual_(call.has_input(3)) {
    const Shape& w = call.inputs[1].shape;
    const double flops = 2.0 * static_cast<double>(call.outputs[0].shape.num_elements()) *
                         static_cast<double>(w.Product(1, w.rank()));
    slices_ = SlicesFor(flops, kLeastFlops, rows_);
  }

  // Weights as [kernel element][group][channel in][channel out].
  Status Pack(const Tensor& weights, PackCache* cache) {
    const int64_t groups = params_.conv.groups;
    const int64_t in = in_channels_ / groups, out = out_channels_ / groups;
    const int64_t taps = weights.num_elements() / (out_channels_ * in);
    const auto pack = [&]() -> Result<Buffer> {
      KHEYA_ASSIGN_OR_RETURN(Buffer buffer, Buffer::Allocate(weights.num_bytes(), cache->budget()));
      const float* from = weights.data<float>().data();
      auto* to = reinterpret_cast<float*>(buffer.data());
      for (int64_t tap = 0; tap < taps; ++tap) {
        for (int64_t g = 0; g < groups; ++g) {
          for (int64_t i = 0; i < in; ++i) {
            for (int64_t o = 0; o < out; ++o) {
              to[((tap * groups + g) * in + i) * out + o] =
                  from[((g * out + o) * in + i) * taps + tap];
            }
          }
        }
      }
      return buffer;
    };
    const std::string layout = fmt::format("conv:{}x{}x{}x{}", taps, groups, in, out);
    KHEYA_ASSIGN_OR_RETURN(weights_, cache->Get(weights, layout, weights.num_bytes(), pack));
    return OkStatus();
  }

  int64_t slices() const override { return slices_; }
  bool CanRunInPlace(int input) const override { return input == 3; }
  bool ReadsConstant(int input) const override { return input != 1; }

  Status Run(const KernelArgs& args) const override {
    const SliceRange rows = RangeOf(args.slice, slices_, rows_);
    const int64_t row_size = out_[kWidth] * out_channels_;
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      float* y = OutputF32(args, 0) + row * row_size;
      Begin(args, row * row_size, y);
      const int64_t image = row / out_[kHeight];
      const float* x = InputF32(args, 0) + image * in_[kHeight] * in_[kWidth] * in_channels_;
      AddRow(x, row % out_[kHeight], y);
      if (params_.activation.op != ElementwiseOp::kIdentity) {
        simd::Unary(params_.activation, y, y, row_size);
      }
    }
    return OkStatus();
  }

 private:
  void Begin(const KernelArgs& args, int64_t offset, float* y) const {
    const int64_t row_size = out_[kWidth] * out_channels_;
    if (has_residual_) {
      const float* residual = InputF32(args, 3) + offset;
      if (residual != y) std::memcpy(y, residual, row_size * sizeof(float));
    } else {
      std::fill(y, y + row_size, 0.0f);
    }
    if (!has_bias_) return;
    for (int64_t column = 0; column < out_[kWidth]; ++column) {
      simd::Accumulate(InputF32(args, 2), y + column * out_channels_, out_channels_);
    }
  }

  void AddRow(const float* x, int64_t row, float* y) const {
    const kernels::Window& window = params_.conv.window;
    const int64_t width = window.kernel[kWidth];
    const int64_t tap_size = out_channels_ * (in_channels_ / params_.conv.groups);
    for (int64_t kh = 0; kh < window.kernel[kHeight]; ++kh) {
      const int64_t h =
          row * window.stride[kHeight] - window.pad_begin[kHeight] + kh * window.dilation[kHeight];
      if (h < 0 || h >= in_[kHeight]) continue;
      for (int64_t kw = 0; kw < width; ++kw) {
        const auto* w =
            reinterpret_cast<const float*>(weights_->data()) + (kh * width + kw) * tap_size;
        AddTap(x + h * in_[kWidth] * in_channels_, kw, w, y);
      }
    }
  }

  void AddTap(const float* x_row, int64_t kw, const float* w, float* y) const {
    const kernels::Window& window = params_.conv.window;
    const kernels::MeetingRange meet =
        PositionsMeeting(window, kWidth, kw, in_[kWidth], out_[kWidth]);
    if (meet.first >= meet.last) return;
    const int64_t stride = window.stride[kWidth];
    const float* x = x_row + (meet.first * stride + meet.offset) * in_channels_;
    y += meet.first * out_channels_;
    const int64_t groups = params_.conv.groups;
    const int64_t in = in_channels_ / groups, out = out_channels_ / groups;
    const int64_t count = meet.last - meet.first;
    if (in == 1 && out == 1) {
      for (int64_t i = 0; i < count; ++i) {
        simd::MultiplyAccumulate(x + i * stride * in_channels_, w, y + i * out_channels_, groups);
      }
      return;
    }
    for (int64_t g = 0; g < groups; ++g) {
      simd::Gemm(count, out, in, x + g * in, stride * in_channels_, w + g * in * out, out,
                 y + g * out, out_channels_, /*add=*/true);
    }
  }

  const FusedConvParams params_;
  const kernels::Spatial in_;
  const kernels::Spatial out_;
  const int64_t in_channels_;
  const int64_t out_channels_;
  const int64_t rows_;
  const bool has_bias_;
  const bool has_residual_;
  int64_t slices_ = 1;
  std::shared_ptr<const Buffer> weights_;
};

}  // namespace

bool PortableConvSupports(const KernelCall& call) {
  if (!std::holds_alternative<FusedConvParams>(call.params) || !call.All(DType::kFloat32)) {
    return false;
  }
  const Shape& shape = call.outputs[0].shape;
  return (shape.rank() == 3 || shape.rank() == 4) && shape.num_elements() > 0 &&
         call.inputs[0].shape.num_elements() > 0 && call.inputs[0].layout == Layout::kChannelsLast;
}

Result<std::shared_ptr<const PreparedKernel>> PreparePortableConv(const KernelCall& call,
                                                                  const PrepareContext& context) {
  const Tensor* weights = context.constant(1);
  if (weights == nullptr || context.cache == nullptr) {
    return UnimplementedError("weights are not constant");
  }
  auto kernel = std::make_shared<ConvKernel>(call);
  KHEYA_RETURN_IF_ERROR(kernel->Pack(*weights, context.cache));
  return std::shared_ptr<const PreparedKernel>(std::move(kernel));
}

}  // namespace kheya
