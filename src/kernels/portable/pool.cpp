// Maximum and average pools over one or two spatial axes in channels-last layout.
#include <limits>

#include "kernels/portable/pool_taps.h"
#include "kernels/portable/rows.h"
#include "kernels/portable/simd.h"

namespace kheya {
namespace {

constexpr int kHeight = 1;  // places in kernels::Spatial
constexpr int kWidth = 2;

class PoolKernel : public PreparedKernel {
 public:
  explicit PoolKernel(const KernelCall& call)
      : params_(std::get<kernels::PoolParams>(call.params)),
        in_(kernels::SpatialOf(call.inputs[0].shape, 2)),
        out_(kernels::SpatialOf(call.outputs[0].shape, 2)),
        channels_(call.inputs[0].shape[1]),
        rows_(call.inputs[0].shape[0] * out_[kHeight]) {
    const double taps = static_cast<double>(params_.window.kernel[kHeight]) *
                        static_cast<double>(params_.window.kernel[kWidth]);
    const double outputs = static_cast<double>(call.outputs[0].shape.num_elements());
    slices_ = SlicesFor(4 * outputs * (taps + 1), kLeastBytes, rows_);
  }

  int64_t slices() const override { return slices_; }

  Status Run(const KernelArgs& args) const override {
    const SliceRange rows = RangeOf(args.slice, slices_, rows_);
    const int64_t image = in_[kHeight] * in_[kWidth] * channels_;
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      const float* x = InputF32(args, 0) + row / out_[kHeight] * image;
      float* y = OutputF32(args, 0) + row * out_[kWidth] * channels_;
      const PoolTaps high = PoolTapsOf(params_, in_, kHeight, row % out_[kHeight]);
      for (int64_t column = 0; column < out_[kWidth]; ++column, y += channels_) {
        PoolOne(x, high, PoolTapsOf(params_, in_, kWidth, column), y);
      }
    }
    return OkStatus();
  }

 private:
  // The taps of one position are gathered in rounds of at most kTaps pointers.
  void PoolOne(const float* x, const PoolTaps& high, const PoolTaps& wide, float* y) const {
    constexpr size_t kTaps = 64;
    const float* taps[kTaps + 1];
    size_t count = 0;
    bool begun = false;
    const bool max = params_.kind == kernels::PoolKind::kMax;
    const auto reduce = [&] {
      if (begun) taps[count++] = y;
      max ? simd::MaxOf(taps, count, y, channels_)
          : simd::ScaledSumOf(taps, count, 1.0f, y, channels_);
      begun = true;
      count = 0;
    };
    const int64_t counted = high.counted * wide.counted;
    const float factor = counted > 0 ? 1.0f / static_cast<float>(counted) : 1.0f;
    for (int64_t h = high.first; h < high.last; h += high.step) {
      for (int64_t w = wide.first; w < wide.last; w += wide.step) {
        taps[count++] = x + (h * in_[kWidth] + w) * channels_;
        if (count == kTaps) reduce();
      }
    }
    if (!begun && count == 0) {
      std::fill(y, y + channels_, max ? -std::numeric_limits<float>::infinity() : 0.0f);
    } else if (!max && !begun) {
      simd::ScaledSumOf(taps, count, factor, y, channels_);
    } else {
      if (count > 0) reduce();
      if (!max) simd::Scale(factor, y, channels_);
    }
  }

  const kernels::PoolParams params_;
  const kernels::Spatial in_;
  const kernels::Spatial out_;
  const int64_t channels_;
  const int64_t rows_;
  int64_t slices_ = 1;
};

}  // namespace

bool PortablePoolSupports(const KernelCall& call) {
  const auto* params = std::get_if<kernels::PoolParams>(&call.params);
  if (params == nullptr || !call.All(DType::kFloat32)) return false;
  const Shape& shape = call.inputs[0].shape;
  return params->kind != kernels::PoolKind::kLp && (shape.rank() == 3 || shape.rank() == 4) &&
         call.inputs[0].layout == Layout::kChannelsLast && shape.num_elements() > 0;
}

Result<std::shared_ptr<const PreparedKernel>> PreparePortablePool(const KernelCall& call,
                                                                  const PrepareContext&) {
  return std::shared_ptr<const PreparedKernel>(std::make_shared<PoolKernel>(call));
}

}  // namespace kheya
