// Convolutions of one group in channels-last layout as products with packed panels: each output row
// is a product of pixels at equal distances with all kernel elements one after another. Where there
// is padding, rows of the input are copied with it first.
#include <cstring>

#include "kernels/portable/panel_product.h"
#include "kernels/portable/rows.h"
#include "kernels/portable/simd.h"

namespace kheya {
namespace {

constexpr int kHeight = 1;  // places in kernels::Spatial
constexpr int kWidth = 2;

class PanelConv : public PreparedKernel {
 public:
  PanelConv(const KernelCall& call, std::shared_ptr<const Buffer> panels)
      : params_(std::get<FusedConvParams>(call.params)),
        in_(kernels::SpatialOf(call.inputs[0].shape, 2)),
        out_(kernels::SpatialOf(call.outputs[0].shape, 2)),
        in_channels_(call.inputs[0].shape[1]),
        out_channels_(call.outputs[0].shape[1]),
        rows_(call.inputs[0].shape[0] * out_[kHeight]),
        panels_(std::move(panels)),
        copies_(NeedsCopy(window(), in_, out_)),
        width_(copies_ ? PaddedWidth(window(), out_) : in_[kWidth]),
        k_(in_channels_ * window().kernel[kHeight] * window().kernel[kWidth]),
        cut_(CutPanels(rows_ * out_[kWidth], rows_, out_channels_, k_)) {
    SetSegments();
    ChooseBlock();
  }

  int64_t slices() const override { return cut_.slices(); }
  size_t workspace_bytes() const override {
    return copies_ ? sizeof(float) * slices() * ScratchFloats() : 0;
  }
  bool CanRunInPlace(int input) const override { return input == 3; }
  bool ReadsConstant(int input) const override { return input != 1; }

  Status Run(const KernelArgs& args) const override {
    const SliceRange rows = cut_.Rows(args.slice, rows_);
    auto* scratch = reinterpret_cast<float*>(args.workspace) + args.slice * ScratchFloats();
    for (int64_t row = rows.begin; row < rows.end;) {
      const int64_t in_image = out_[kHeight] - row % out_[kHeight];
      const int64_t count = std::min({block_, rows.end - row, in_image});
      const float* image =
          InputF32(args, 0) + row / out_[kHeight] * in_[kHeight] * in_[kWidth] * in_channels_;
      const int64_t first = FirstInputRow(row % out_[kHeight]);
      if (copies_) {
        CopyRows(image, first, InputRows(count), scratch);
        RunBlock(args, scratch, row, count);
      } else {
        RunBlock(args, image + first * in_[kWidth] * in_channels_, row, count);
      }
      row += count;
    }
    return OkStatus();
  }

  // True where some window reaches out of the input.
  static bool NeedsCopy(const kernels::Window& window, const kernels::Spatial& in,
                        const kernels::Spatial& out) {
    for (const int axis : {kHeight, kWidth}) {
      const int64_t end = (out[axis] - 1) * window.stride[axis] - window.pad_begin[axis] +
                          kernels::DilatedKernel(window, axis);
      if (window.pad_begin[axis] > 0 || end > in[axis]) return true;
    }
    return false;
  }

  // Of the pixels that the windows of an output row see.
  static int64_t PaddedWidth(const kernels::Window& window, const kernels::Spatial& out) {
    return (out[kWidth] - 1) * window.stride[kWidth] + kernels::DilatedKernel(window, kWidth);
  }

 private:
  const kernels::Window& window() const { return params_.conv.window; }
  int64_t FirstInputRow(int64_t row) const {
    return row * window().stride[kHeight] - window().pad_begin[kHeight];
  }
  int64_t InputRows(int64_t rows) const {
    return (rows - 1) * window().stride[kHeight] + kernels::DilatedKernel(window(), kHeight);
  }
  int64_t ScratchFloats() const { return InputRows(block_) * width_ * in_channels_ + 16; }

  void SetSegments() {
    const bool whole = window().dilation[kWidth] == 1;
    run_ = whole ? in_channels_ * window().kernel[kWidth] : in_channels_;
    for (int64_t h = 0; h < window().kernel[kHeight]; ++h) {
      const int64_t row = h * window().dilation[kHeight] * width_;
      for (int64_t w = 0; w < (whole ? 1 : window().kernel[kWidth]); ++w) {
        offsets_.push_back((row + w * window().dilation[kWidth]) * in_channels_);
      }
    }
  }

  // Rows of the output at once: enough pixels for each reading of a panel, in few bytes.
  void ChooseBlock() {
    constexpr int64_t kPixels = 48;
    constexpr int64_t kBytes = 192 * 1024;
    const int64_t own = (rows_ + cut_.row_slices - 1) / cut_.row_slices;
    const int64_t row_bytes = 4 * window().stride[kHeight] * width_ * in_channels_;
    block_ = std::max((kPixels + out_[kWidth] - 1) / out_[kWidth], kBytes / row_bytes);
    block_ = std::min({block_, own, out_[kHeight]});
  }

  void CopyRows(const float* image, int64_t first, int64_t count, float* to) const {
    const int64_t before = std::min(window().pad_begin[kWidth], width_);
    const int64_t inside = std::clamp<int64_t>(width_ - before, 0, in_[kWidth]);
    const int64_t after = width_ - before - inside;
    for (int64_t row = first; row < first + count; ++row) {
      if (row < 0 || row >= in_[kHeight]) {
        to = std::fill_n(to, width_ * in_channels_, 0.0f);
        continue;
      }
      to = std::fill_n(to, before * in_channels_, 0.0f);
      to = std::copy_n(image + row * in_[kWidth] * in_channels_, inside * in_channels_, to);
      to = std::fill_n(to, after * in_channels_, 0.0f);
    }
  }

  // `x`: the first input row of `count` output rows from `row` on.
  void RunBlock(const KernelArgs& args, const float* x, int64_t row, int64_t count) const {
    const SliceRange columns = cut_.Columns(args.slice, out_channels_);
    const auto width = static_cast<int64_t>(simd::PanelColumns());
    const int64_t x_step = window().stride[kHeight] * width_ * in_channels_;
    const int64_t y_step = out_[kWidth] * out_channels_;
    simd::PanelProduct product;
    product.x_pitch = window().stride[kWidth] * in_channels_;
    product.offsets = offsets_.data();
    product.segments = offsets_.size();
    product.run = run_;
    product.y_pitch = out_channels_;
    const bool done = simd::SetClamp(params_.activation, &product.finish);
    for (int64_t column = columns.begin; column < columns.end; column += width) {
      product.columns = std::min(width, columns.end - column);
      product.panels = reinterpret_cast<const float*>(panels_->data()) + column * k_;
      if (args.inputs.size() > 2 && args.inputs[2] != nullptr) {
        product.bias = InputF32(args, 2) + column;
      }
      for (int64_t i = 0; i < count; ++i) {
        const int64_t at = (row + i) * y_step + column;
        product.x = x + i * x_step;
        product.finish.y = OutputF32(args, 0) + at;
        if (args.inputs.size() > 3 && args.inputs[3] != nullptr) {
          product.finish.residual = InputF32(args, 3) + at;
        }
        simd::RunPanels(product, out_[kWidth]);
      }
    }
    if (!done) Activate(OutputF32(args, 0) + row * y_step, count * out_[kWidth], columns);
  }

  void Activate(float* y, int64_t pixels, SliceRange columns) const {
    for (int64_t i = 0; i < pixels; ++i) {
      float* from = y + i * out_channels_ + columns.begin;
      simd::Unary(params_.activation, from, from, columns.end - columns.begin);
    }
  }

  const FusedConvParams params_;
  const kernels::Spatial in_;
  const kernels::Spatial out_;
  const int64_t in_channels_;
  const int64_t out_channels_;
  const int64_t rows_;
  const std::shared_ptr<const Buffer> panels_;
  const bool copies_;
  const int64_t width_;  // pixels of a row of what is read
  const int64_t k_;
  const PanelCut cut_;
  int64_t run_ = 0;
  int64_t block_ = 1;
  std::vector<ptrdiff_t> offsets_;
};

// Copies of rows with padding far larger than the input are not worth making.
bool ScratchFits(const KernelCall& call, const kernels::Window& window) {
  constexpr double kMostFloats = 1 << 24;
  const double width = static_cast<double>(
      PanelConv::PaddedWidth(window, kernels::SpatialOf(call.outputs[0].shape, 2)));
  const double height = static_cast<double>(kernels::DilatedKernel(window, kHeight)) +
                        64.0 * static_cast<double>(window.stride[kHeight]);
  return width * height * static_cast<double>(call.inputs[0].shape[1]) <= kMostFloats;
}

}  // namespace

bool PanelConvSupports(const KernelCall& call) {
  const auto* params = std::get_if<FusedConvParams>(&call.params);
  if (params == nullptr || !call.All(DType::kFloat32) || params->conv.groups != 1) return false;
  const Shape& out = call.outputs[0].shape;
  if (out.rank() < 3 || out.rank() > 5 || out.num_elements() == 0) return false;
  if (call.inputs[0].shape.num_elements() == 0) return false;
  for (const TensorDesc* desc : {&call.inputs[0], &call.outputs[0]}) {
    if (desc->layout != Layout::kChannelsLast) return false;
  }
  const kernels::Window& window = params->conv.window;
  return window.is_pointwise() || (out.rank() < 5 && ScratchFits(call, window));
}

Result<std::shared_ptr<const PreparedKernel>> PreparePanelConv(const KernelCall& call,
                                                               const PrepareContext& context) {
  const Tensor* weights = context.constant(1);
  if (weights == nullptr || context.cache == nullptr) {
    return UnimplementedError("weights are not constant");
  }
  const auto& params = std::get<FusedConvParams>(call.params);
  const bool pointwise = params.conv.window.is_pointwise();
  if (!pointwise) {
    KHEYA_RETURN_IF_ERROR(CheckFinite(*weights));
  }
  const int64_t in = call.inputs[0].shape[1], out = call.outputs[0].shape[1];
  const int64_t taps = weights->num_elements() / (in * out);
  std::vector<int64_t> rows;
  rows.reserve(taps * in);
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int64_t i = 0; i < in; ++i) rows.push_back(i * taps + tap);
  }
  KHEYA_ASSIGN_OR_RETURN(auto panels, PackPanels(*weights, out, rows, taps * in,
                                                 fmt::format("conv{}", taps), context.cache));
  if (pointwise) {
    return std::shared_ptr<const PreparedKernel>(std::make_shared<PanelMatrixKernel>(
        call.outputs[0].shape.num_elements() / out, out, in, params.activation, std::move(panels)));
  }
  return std::shared_ptr<const PreparedKernel>(
      std::make_shared<PanelConv>(call, std::move(panels)));
}

}  // namespace kheya
