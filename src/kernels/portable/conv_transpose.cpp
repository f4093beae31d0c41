// Transposed convolutions in channels-last memory: each row of the input is a matrix that is
// multiplied with the weights of one row of the kernel; the products are added where they belong.
#include <algorithm>
#include <utility>

#include "kernels/portable/rows.h"
#include "kernels/portable/simd.h"

namespace kheya {
namespace {

constexpr int kHeight = kernels::kSpatialAxes - 2;
constexpr int kWidth = kernels::kSpatialAxes - 1;

// Of [N, C, W] or [N, C, H, W].
int64_t HeightOf(const Shape& shape) { return shape.rank() == 4 ? shape[2] : 1; }

class ConvTransposeKernel : public PreparedKernel {
 public:
  explicit ConvTransposeKernel(const KernelCall& call)
      : window_(std::get<ConvTransposeParams>(call.params).conv.window),
        channels_(call.inputs[0].shape[1]),
        height_(HeightOf(call.inputs[0].shape)),
        width_(call.inputs[0].shape[call.inputs[0].shape.rank() - 1]),
        filters_(call.outputs[0].shape[1]),
        out_height_(HeightOf(call.outputs[0].shape)),
        out_width_(call.outputs[0].shape[call.outputs[0].shape.rank() - 1]),
        rows_(call.outputs[0].shape[0] * out_height_) {
    const auto panel = static_cast<int64_t>(simd::PanelColumns());
    const int64_t used = window_.kernel[kWidth] * filters_;
    columns_ = (used + panel - 1) / panel * panel;
    // The products of a row of the input are then a row of the output as it lies in memory.
    direct_ = used == columns_ && window_.kernel[kWidth] == window_.stride[kWidth] &&
              window_.dilation[kWidth] == 1 && window_.pad_begin[kWidth] == 0 &&
              out_width_ == width_ * window_.stride[kWidth];
    const double weights = static_cast<double>(window_.kernel[kHeight] * columns_ * channels_);
    const double flops = 2.0 * weights * static_cast<double>(width_ * height_) *
                         static_cast<double>(call.outputs[0].shape[0]);
    slices_ = SlicesFor(flops, LeastFlopsFor(4.0 * weights), rows_);
  }

  Status Prepare(const PrepareContext& context, bool has_bias) {
    const Tensor* weights = context.constant(1);
    const Tensor* bias = context.constant(2);
    if (weights == nullptr || context.cache == nullptr || (has_bias && bias == nullptr)) {
      return UnimplementedError("weights are not constant");
    }
    const auto pack = [&] { return Pack(*weights, context.cache->budget()); };
    KHEYA_ASSIGN_OR_RETURN(
        packed_, context.cache->Get(*weights,
                                    fmt::format("conv_transpose:{}:{}x{}", simd::PanelColumns(),
                                                channels_, weights->shape().ToString()),
                                    pack));
    for (int64_t i = 0; i < window_.kernel[kWidth] && has_bias; ++i) {
      bias_.insert(bias_.end(), bias->data<float>().begin(), bias->data<float>().end());
    }
    return OkStatus();
  }

  int64_t slices() const override { return slices_; }
  size_t workspace_bytes() const override { return slices_ * SliceBytes(); }
  bool ReadsConstant(int input) const override { return input == 0; }

  Status Run(const KernelArgs& args) const override {
    auto* products = reinterpret_cast<float*>(args.workspace + args.slice * SliceBytes());
    const SliceRange rows = RangeOf(args.slice, slices_, rows_);
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      const float* image = InputF32(args, 0) + row / out_height_ * height_ * width_ * channels_;
      float* y = OutputF32(args, 0) + row * out_width_ * filters_;
      RunRow(image, row % out_height_, y, products);
    }
    return OkStatus();
  }

 private:
  size_t SliceBytes() const {
    const size_t bytes = width_ * columns_ * sizeof(float);
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  // For each row of the kernel panels of columns [kernel width, filters].
  Result<Buffer> Pack(const Tensor& weights, const std::shared_ptr<MemoryBudget>& budget) const {
    const auto panel = static_cast<int64_t>(simd::PanelColumns());
    const int64_t kh = window_.kernel[kHeight], kw = window_.kernel[kWidth];
    KHEYA_ASSIGN_OR_RETURN(
        Buffer buffer, Buffer::AllocateZeroed(kh * columns_ * channels_ * sizeof(float), budget));
    auto* to = reinterpret_cast<float*>(buffer.data());
    const float* from = weights.data<float>().data();
    for (int64_t c = 0; c < channels_; ++c) {
      for (int64_t m = 0; m < filters_; ++m) {
        for (int64_t y = 0; y < kh; ++y) {
          for (int64_t x = 0; x < kw; ++x) {
            const int64_t column = x * filters_ + m;
            const int64_t place = (y * columns_ + column / panel * panel) * channels_ + c * panel;
            to[place + column % panel] = *from++;
          }
        }
      }
    }
    return buffer;
  }

  // The row of the input that a row of the kernel takes to output row `y`; -1: none.
  int64_t InputRow(int64_t y, int64_t kernel_row) const {
    const int64_t at = y + window_.pad_begin[kHeight] - kernel_row * window_.dilation[kHeight];
    if (at < 0 || at % window_.stride[kHeight] != 0) return -1;
    const int64_t row = at / window_.stride[kHeight];
    return row < height_ ? row : -1;
  }

  void RunRow(const float* image, int64_t row, float* y, float* products) const {
    bool written = false;
    for (int64_t k = 0; k < window_.kernel[kHeight]; ++k) {
      const int64_t input = InputRow(row, k);
      if (input < 0) continue;
      float* to = direct_ && !written ? y : products;
      const float* panels =
          reinterpret_cast<const float*>(packed_->data()) + k * columns_ * channels_;
      simd::PanelGemm(width_, columns_, channels_, image + input * width_ * channels_, channels_,
                      panels, to, columns_);
      if (direct_) {
        if (written) simd::Accumulate(products, y, width_ * columns_);
      } else {
        if (!written) SetBias(y);
        AddProducts(products, y);
      }
      written = true;
    }
    if (!written) return SetBias(y);
    for (int64_t x = 0; x < width_ && direct_ && !bias_.empty(); ++x) {
      simd::Accumulate(bias_.data(), y + x * columns_, columns_);
    }
  }

  void SetBias(float* y) const {
    for (int64_t x = 0; x < out_width_; ++x) {
      if (bias_.empty()) {
        std::fill_n(y + x * filters_, filters_, 0.0f);
      } else {
        std::copy_n(bias_.begin(), filters_, y + x * filters_);
      }
    }
  }

  void AddProducts(const float* products, float* y) const {
    for (int64_t x = 0; x < width_; ++x) {
      for (int64_t k = 0; k < window_.kernel[kWidth]; ++k) {
        const int64_t at =
            x * window_.stride[kWidth] + k * window_.dilation[kWidth] - window_.pad_begin[kWidth];
        if (at < 0 || at >= out_width_) continue;
        simd::Accumulate(products + x * columns_ + k * filters_, y + at * filters_, filters_);
      }
    }
  }

  const kernels::Window window_;
  const int64_t channels_;
  const int64_t height_;
  const int64_t width_;
  const int64_t filters_;
  const int64_t out_height_;
  const int64_t out_width_;
  const int64_t rows_;   // of all outputs
  int64_t columns_ = 0;  // of the products, filled up
  bool direct_ = false;
  int64_t slices_ = 1;
  std::shared_ptr<const Buffer> packed_;
  std::vector<float> bias_;  // once for each column of the kernel
};

bool LiesChannelsLast(const TensorDesc& desc) {
  return desc.layout == Layout::kChannelsLast || LayoutsCoincide(desc.shape);
}

}  // namespace

bool PortableConvTransposeSupports(const KernelCall& call) {
  const auto* params = std::get_if<ConvTransposeParams>(&call.params);
  if (params == nullptr || !call.All(DType::kFloat32) || params->conv.groups != 1) return false;
  const Shape& x = call.inputs[0].shape;
  if (x.rank() < 3 || x.rank() > 4 || x.num_elements() == 0) return false;
  if (call.outputs[0].shape.num_elements() == 0) return false;
  return LiesChannelsLast(call.inputs[0]) && LiesChannelsLast(call.outputs[0]);
}

Result<std::shared_ptr<const PreparedKernel>> PreparePortableConvTranspose(
    const KernelCall& call, const PrepareContext& context) {
  auto kernel = std::make_shared<ConvTransposeKernel>(call);
  KHEYA_RETURN_IF_ERROR(kernel->Prepare(context, call.has_input(2)));
  return std::shared_ptr<const PreparedKernel>(std::move(kernel));
}

}  // namespace kheya
