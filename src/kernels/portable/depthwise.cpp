// Depthwise convolutions in channels-last layout: every channel has a kernel of its own.
#include "kernels/portable/depthwise.h"

#include "kernels/portable/rows.h"
#include "kernels/portable/simd.h"

namespace kheya {
namespace {

constexpr int kHeight = 1;  // places in kernels::Spatial
constexpr int kWidth = 2;

class DepthwiseConv : public PreparedKernel {
 public:
  explicit DepthwiseConv(const KernelCall& call)
      : params_(std::get<FusedConvParams>(call.params)),
        in_(kernels::SpatialOf(call.inputs[0].shape, 2)),
        out_(kernels::SpatialOf(call.outputs[0].shape, 2)),
        channels_(call.inputs[0].shape[1]),
        rows_(call.inputs[0].shape[0] * out_[kHeight]),
        slices_(SlicesFor(BytesOf(call), kLeastBytes, rows_)) {}

  // Weights as [row][column][channel].
  Status Pack(const Tensor& weights, PackCache* cache) {
    const int64_t taps = weights.num_elements() / channels_;
    const auto pack = [&]() -> Result<Buffer> {
      KHEYA_ASSIGN_OR_RETURN(Buffer buffer, Buffer::Allocate(weights.num_bytes(), cache->budget()));
      simd::Transpose(weights.data<float>().data(), taps, reinterpret_cast<float*>(buffer.data()),
                      channels_, channels_, taps);
      return buffer;
    };
    const std::string layout = fmt::format("transposed:{}x{}", channels_, taps);
    KHEYA_ASSIGN_OR_RETURN(weights_, cache->Get(weights, layout, weights.num_bytes(), pack));
    return OkStatus();
  }

  int64_t slices() const override { return slices_; }
  bool CanRunInPlace(int input) const override { return input == 3; }
  bool ReadsConstant(int input) const override { return input != 1; }

  Status Run(const KernelArgs& args) const override {
    const SliceRange rows = RangeOf(args.slice, slices_, rows_);
    simd::DepthwiseRow row;
    row.columns = window().kernel[kWidth];
    row.stride = window().stride[kWidth];
    row.dilation = window().dilation[kWidth];
    row.pad = window().pad_begin[kWidth];
    row.width = in_[kWidth];
    row.pixels = out_[kWidth];
    row.channels = channels_;
    row.x_pitch = window().dilation[kHeight] * in_[kWidth] * channels_;
    if (args.inputs.size() > 2 && args.inputs[2] != nullptr) row.bias = InputF32(args, 2);
    const bool done = simd::SetClamp(params_.activation, &row.finish);
    for (int64_t i = rows.begin; i < rows.end; ++i) {
      SetRow(args, i, &row);
      simd::Depthwise(row);
      if (!done) {
        float* y = row.finish.y;
        simd::Unary(params_.activation, y, y, out_[kWidth] * channels_);
      }
    }
    return OkStatus();
  }

 private:
  const kernels::Window& window() const { return params_.conv.window; }

  void SetRow(const KernelArgs& args, int64_t i, simd::DepthwiseRow* row) const {
    const int64_t image = i / out_[kHeight];
    const int64_t dilation = window().dilation[kHeight], kernel = window().kernel[kHeight];
    const int64_t at = i % out_[kHeight] * window().stride[kHeight] - window().pad_begin[kHeight];
    const int64_t first = std::min(at >= 0 ? 0 : (-at + dilation - 1) / dilation, kernel);
    const int64_t last = std::clamp((in_[kHeight] - at + dilation - 1) / dilation, first, kernel);
    row->rows = last - first;
    row->weights = reinterpret_cast<const float*>(weights_->data()) +
                   first * window().kernel[kWidth] * channels_;
    row->x = InputF32(args, 0) +
             (image * in_[kHeight] + at + first * dilation) * in_[kWidth] * channels_;
    const int64_t offset = i * out_[kWidth] * channels_;
    row->finish.y = OutputF32(args, 0) + offset;
    if (args.inputs.size() > 3 && args.inputs[3] != nullptr) {
      row->finish.residual = InputF32(args, 3) + offset;
    }
  }

  const FusedConvParams params_;
  const kernels::Spatial in_;
  const kernels::Spatial out_;
  const int64_t channels_;
  const int64_t rows_;
  const int64_t slices_;
  std::shared_ptr<const Buffer> weights_;
};

}  // namespace

bool DepthwiseSupports(const KernelCall& call) {
  const auto* params = std::get_if<FusedConvParams>(&call.params);
  if (params == nullptr || !call.All(DType::kFloat32)) return false;
  const Shape& in = call.inputs[0].shape;
  const Shape& out = call.outputs[0].shape;
  if (out.rank() != 3 && out.rank() != 4) return false;
  if (out.num_elements() == 0 || in.num_elements() == 0) return false;
  return params->conv.groups == in[1] && in[1] == out[1] && in[1] > 1 &&
         call.inputs[0].layout == Layout::kChannelsLast;
}

Result<std::shared_ptr<const PreparedKernel>> PrepareDepthwise(const KernelCall& call,
                                                               const PrepareContext& context) {
  const Tensor* weights = context.constant(1);
  if (weights == nullptr || context.cache == nullptr) {
    return UnimplementedError("weights are not constant");
  }
  auto kernel = std::make_shared<DepthwiseConv>(call);
  KHEYA_RETURN_IF_ERROR(kernel->Pack(*weights, context.cache));
  return std::shared_ptr<const PreparedKernel>(std::move(kernel));
}

}  // namespace kheya
