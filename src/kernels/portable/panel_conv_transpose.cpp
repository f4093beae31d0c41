// Transposed convolutions of one group in channels-last layout. The pixels of the output at one
// remainder of their place by the stride are a convolution of stride 1 with the kernel elements of
// that remainder, in the opposite order: as many products with packed panels as there are
// remainders.
#include <cstring>

#include "kernels/portable/panel_product.h"
#include "kernels/portable/rows.h"

namespace kheya {
namespace {

constexpr int kHeight = 1;  // places in kernels::Spatial
constexpr int kWidth = 2;

// One axis. Output place o is remainder r and index q where o + pad = q stride + r; it is the sum
// over j of x[q - j] times kernel element r + j stride.
struct Axis {
  int64_t in = 1;
  int64_t out = 1;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t pad = 0;

  // Kernel elements of a remainder.
  int64_t taps(int64_t remainder) const {
    return remainder >= kernel ? 0 : (kernel - remainder - 1) / stride + 1;
  }
  int64_t reach() const { return std::max<int64_t>(taps(0) - 1, 0); }
  int64_t place(int64_t index, int64_t remainder) const { return index * stride + remainder - pad; }
  // The indices [0, indices()) and remainders cover all places, and some outside.
  int64_t indices() const { return (out - 1 + pad) / stride + 1; }
  int64_t FirstIndex(int64_t remainder) const {
    return pad <= remainder ? 0 : (pad - remainder + stride - 1) / stride;
  }
  int64_t EndIndex(int64_t remainder) const {
    const int64_t last = out - 1 + pad - remainder;
    return last < 0 ? 0 : last / stride + 1;
  }
};

Axis AxisOf(const KernelCall& call, int axis) {
  const kernels::Window& window = std::get<ConvTransposeParams>(call.params).conv.window;
  return {kernels::SpatialOf(call.inputs[0].shape, 2)[axis],
          kernels::SpatialOf(call.outputs[0].shape, 2)[axis], window.kernel[axis],
          window.stride[axis], window.pad_begin[axis]};
}

// The kernel elements of one remainder along each axis.
struct Phase {
  int64_t row = 0;  // the remainders
  int64_t column = 0;
  std::shared_ptr<const Buffer> panels;
  std::vector<ptrdiff_t> offsets;
  int64_t run = 0;
};

class PanelConvTranspose : public PreparedKernel {
 public:
  explicit PanelConvTranspose(const KernelCall& call)
      : high_(AxisOf(call, kHeight)),
        wide_(AxisOf(call, kWidth)),
        in_channels_(call.inputs[0].shape[1]),
        out_channels_(call.outputs[0].shape[1]),
        rows_(call.inputs[0].shape[0] * high_.indices()),
        copies_(high_.reach() > 0 || wide_.reach() > 0 || high_.indices() > high_.in ||
                wide_.indices() > wide_.in),
        width_(copies_ ? wide_.indices() + wide_.reach() : wide_.in),
        cut_(CutPanels(rows_ * wide_.indices(), rows_, out_channels_,
                       in_channels_ * high_.kernel * wide_.kernel)) {
    constexpr int64_t kBytes = 192 * 1024;
    block_ = std::clamp<int64_t>(kBytes / (4 * width_ * in_channels_), 1, high_.indices());
  }

  Status Pack(const Tensor& weights, PackCache* cache) {
    const int64_t taps = high_.kernel * wide_.kernel;
    for (int64_t row = 0; row < high_.stride; ++row) {
      for (int64_t column = 0; column < wide_.stride; ++column) {
        Phase phase{row, column, nullptr, {}, 0};
        const int64_t high = high_.taps(row), wide = wide_.taps(column);
        std::vector<int64_t> rows;
        for (int64_t h = high - 1; h >= 0; --h) {
          phase.offsets.push_back((high_.reach() - h) * width_ * in_channels_ +
                                  (wide_.reach() - (wide - 1)) * in_channels_);
          for (int64_t w = wide - 1; w >= 0; --w) {
            const int64_t tap = (row + h * high_.stride) * wide_.kernel + column + w * wide_.stride;
            for (int64_t i = 0; i < in_channels_; ++i) {
              rows.push_back(i * out_channels_ * taps + tap);
            }
          }
        }
        phase.run = wide * in_channels_;
        if (wide == 0) phase.offsets.clear();
        if (!rows.empty()) {
          KHEYA_ASSIGN_OR_RETURN(
              phase.panels,
              PackPanels(weights, out_channels_, rows, taps,
                         fmt::format("transposed{}x{}:{}x{}:{}:{}", high_.kernel, wide_.kernel,
                                     high_.stride, wide_.stride, row, column),
                         cache));
        }
        phases_.push_back(std::move(phase));
      }
    }
    return OkStatus();
  }

  int64_t slices() const override { return cut_.slices(); }
  size_t workspace_bytes() const override {
    return copies_ ? sizeof(float) * slices() * ScratchFloats() : 0;
  }
  bool ReadsConstant(int input) const override { return input != 1; }

  Status Run(const KernelArgs& args) const override {
    const SliceRange rows = cut_.Rows(args.slice, rows_);
    auto* scratch = reinterpret_cast<float*>(args.workspace) + args.slice * ScratchFloats();
    for (int64_t row = rows.begin; row < rows.end;) {
      const int64_t image = row / high_.indices(), index = row % high_.indices();
      const int64_t count = std::min({block_, rows.end - row, high_.indices() - index});
      const float* x = InputF32(args, 0) + image * high_.in * wide_.in * in_channels_;
      if (copies_) {
        CopyRows(x, index - high_.reach(), count + high_.reach(), scratch);
        RunBlock(args, scratch, image, index, count);
      } else {
        RunBlock(args, x + index * wide_.in * in_channels_, image, index, count);
      }
      row += count;
    }
    return OkStatus();
  }

 private:
  int64_t ScratchFloats() const { return (block_ + high_.reach()) * width_ * in_channels_ + 16; }

  // Rows of the input with zeros around them: reach() pixels before, the rest after.
  void CopyRows(const float* image, int64_t first, int64_t count, float* to) const {
    const int64_t inside = std::min(wide_.in, width_ - wide_.reach());
    for (int64_t row = first; row < first + count; ++row) {
      if (row < 0 || row >= high_.in) {
        to = std::fill_n(to, width_ * in_channels_, 0.0f);
        continue;
      }
      to = std::fill_n(to, wide_.reach() * in_channels_, 0.0f);
      to = std::copy_n(image + row * wide_.in * in_channels_, inside * in_channels_, to);
      to = std::fill_n(to, (width_ - wide_.reach() - inside) * in_channels_, 0.0f);
    }
  }

  // `x`: the rows from reach() before index `first` on.
  void RunBlock(const KernelArgs& args, const float* x, int64_t image, int64_t first,
                int64_t count) const {
    for (const Phase& phase : phases_) {
      for (int64_t i = 0; i < count; ++i) {
        const int64_t place = high_.place(first + i, phase.row);
        if (place < 0 || place >= high_.out) continue;
        RunRow(args, phase, x + i * width_ * in_channels_, image * high_.out + place);
      }
    }
  }

  void RunRow(const KernelArgs& args, const Phase& phase, const float* x, int64_t row) const {
    const SliceRange columns = cut_.Columns(args.slice, out_channels_);
    const int64_t first = wide_.FirstIndex(phase.column), end = wide_.EndIndex(phase.column);
    if (first >= end) return;
    const int64_t k = phase.run * static_cast<int64_t>(phase.offsets.size());
    simd::PanelProduct product;
    product.x = x + first * in_channels_;
    product.x_pitch = in_channels_;
    product.offsets = phase.offsets.data();
    product.segments = phase.offsets.size();
    product.run = phase.run;
    if (phase.panels != nullptr) {
      product.panels = reinterpret_cast<const float*>(phase.panels->data()) + columns.begin * k;
    }
    product.columns = columns.end - columns.begin;
    if (args.inputs.size() > 2 && args.inputs[2] != nullptr) {
      product.bias = InputF32(args, 2) + columns.begin;
    }
    const int64_t place = wide_.place(first, phase.column);
    product.finish.y =
        OutputF32(args, 0) + (row * wide_.out + place) * out_channels_ + columns.begin;
    product.y_pitch = wide_.stride * out_channels_;
    simd::RunPanels(product, end - first);
  }

  const Axis high_;
  const Axis wide_;
  const int64_t in_channels_;
  const int64_t out_channels_;
  const int64_t rows_;  // indices of all images
  const bool copies_;
  const int64_t width_;  // pixels of a row of what is read
  const PanelCut cut_;
  int64_t block_ = 1;
  std::vector<Phase> phases_;
};

}  // namespace

bool PanelConvTransposeSupports(const KernelCall& call) {
  constexpr int64_t kMostStride = 8;
  constexpr double kMostFloats = 1 << 24;
  const auto* params = std::get_if<ConvTransposeParams>(&call.params);
  if (params == nullptr || !call.All(DType::kFloat32) || params->conv.groups != 1) return false;
  const Shape& out = call.outputs[0].shape;
  if (out.rank() != 3 && out.rank() != 4) return false;
  if (out.num_elements() == 0 || call.inputs[0].shape.num_elements() == 0) return false;
  if (call.inputs[0].layout != Layout::kChannelsLast) return false;
  for (const int axis : {kHeight, kWidth}) {
    const kernels::Window& window = params->conv.window;
    if (window.dilation[axis] != 1 || window.stride[axis] > kMostStride) return false;
  }
  const Axis high = AxisOf(call, kHeight), wide = AxisOf(call, kWidth);
  const double floats = static_cast<double>(high.reach() + 1) *
                        static_cast<double>(wide.indices() + wide.reach()) *
                        static_cast<double>(call.inputs[0].shape[1]);
  return floats <= kMostFloats;
}

Result<std::shared_ptr<const PreparedKernel>> PreparePanelConvTranspose(
    const KernelCall& call, const PrepareContext& context) {
  const Tensor* weights = context.constant(1);
  if (weights == nullptr || context.cache == nullptr) {
    return UnimplementedError("weights are not constant");
  }
  KHEYA_RETURN_IF_ERROR(CheckFinite(*weights));
  auto kernel = std::make_shared<PanelConvTranspose>(call);
  KHEYA_RETURN_IF_ERROR(kernel->Pack(*weights, context.cache));
  return std::shared_ptr<const PreparedKernel>(std::move(kernel));
}

}  // namespace kheya
