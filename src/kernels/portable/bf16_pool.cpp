// Pools over bfloat16 in channels-last layout.
#include <algorithm>

#include "kernels/portable/bf16.h"
#include "kernels/portable/pool_taps.h"
#include "kernels/portable/rows.h"
#include "kernels/portable/simd.h"

namespace kheya {
namespace {

constexpr int kHeight = 1;  // places in kernels::Spatial
constexpr int kWidth = 2;
constexpr uint16_t kMinusInfinity = 0xff80;

class Bf16PoolKernel : public PreparedKernel {
 public:
  explicit Bf16PoolKernel(const KernelCall& call)
      : params_(std::get<kernels::PoolParams>(call.params)),
        in_(kernels::SpatialOf(call.inputs[0].shape, 2)),
        out_(kernels::SpatialOf(call.outputs[0].shape, 2)),
        channels_(call.inputs[0].shape[1]),
        rows_(call.inputs[0].shape[0] * out_[kHeight]) {
    const double taps = static_cast<double>(params_.window.kernel[kHeight]) *
                        static_cast<double>(params_.window.kernel[kWidth]);
    const double outputs = static_cast<double>(call.outputs[0].shape.num_elements());
    slices_ = SlicesFor(2 * outputs * (taps + 1), kLeastBytes, rows_);
  }

  int64_t slices() const override { return slices_; }
  size_t workspace_bytes() const override { return sizeof(float) * slices_ * channels_; }

  Status Run(const KernelArgs& args) const override {
    float* sums = reinterpret_cast<float*>(args.workspace) + args.slice * channels_;
    const SliceRange rows = RangeOf(args.slice, slices_, rows_);
    const int64_t image = in_[kHeight] * in_[kWidth] * channels_;
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      const uint16_t* x =
          reinterpret_cast<const uint16_t*>(args.inputs[0]) + row / out_[kHeight] * image;
      uint16_t* y = reinterpret_cast<uint16_t*>(args.outputs[0]) + row * out_[kWidth] * channels_;
      const PoolTaps high = PoolTapsOf(params_, in_, kHeight, row % out_[kHeight]);
      for (int64_t column = 0; column < out_[kWidth]; ++column, y += channels_) {
        const PoolTaps wide = PoolTapsOf(params_, in_, kWidth, column);
        params_.kind == kernels::PoolKind::kMax ? MaxOne(x, high, wide, y)
                                                : AverageOne(x, high, wide, sums, y);
      }
    }
    return OkStatus();
  }

 private:
  template <typename Visit>
  void ForEachTap(const uint16_t* x, const PoolTaps& high, const PoolTaps& wide,
                  Visit visit) const {
    for (int64_t h = high.first; h < high.last; h += high.step) {
      for (int64_t w = wide.first; w < wide.last; w += wide.step) {
        visit(x + (h * in_[kWidth] + w) * channels_);
      }
    }
  }

  // In rounds of at most kTaps, the result so far being one of the next round's.
  void MaxOne(const uint16_t* x, const PoolTaps& high, const PoolTaps& wide, uint16_t* y) const {
    constexpr size_t kTaps = 64;
    const uint16_t* taps[kTaps];
    size_t count = 0;
    ForEachTap(x, high, wide, [&](const uint16_t* tap) {
      if (count == kTaps) {
        simd::MaxOfBf16(taps, count, y, channels_);
        taps[0] = y;
        count = 1;
      }
      taps[count++] = tap;
    });
    if (count == 0) {
      std::fill(y, y + channels_, kMinusInfinity);
    } else {
      simd::MaxOfBf16(taps, count, y, channels_);
    }
  }

  void AverageOne(const uint16_t* x, const PoolTaps& high, const PoolTaps& wide, float* sums,
                  uint16_t* y) const {
    std::fill(sums, sums + channels_, 0.0f);
    ForEachTap(x, high, wide,
               [&](const uint16_t* tap) { simd::AccumulateBf16(tap, sums, channels_); });
    const int64_t counted = high.counted * wide.counted;
    if (counted > 0) simd::Scale(1.0f / static_cast<float>(counted), sums, channels_);
    simd::Narrow(sums, y, channels_);
  }

  const kernels::PoolParams params_;
  const kernels::Spatial in_;
  const kernels::Spatial out_;
  const int64_t channels_;
  const int64_t rows_;
  int64_t slices_ = 1;
};

// The mean over all positions, summed in float32.
class Bf16GlobalMean : public PreparedKernel {
 public:
  explicit Bf16GlobalMean(const KernelCall& call)
      : dims_(ChannelDimsOf(call.inputs[0].shape)),
        y_type_(call.outputs[0].dtype),
        slices_(SlicesFor(BytesOf(call), kLeastBytes, dims_.batch)) {}

  int64_t slices() const override { return slices_; }
  size_t workspace_bytes() const override { return sizeof(float) * slices_ * dims_.channels; }

  Status Run(const KernelArgs& args) const override {
    const int64_t channels = dims_.channels;
    float* room = reinterpret_cast<float*>(args.workspace) + args.slice * channels;
    const SliceRange images = RangeOf(args.slice, slices_, dims_.batch);
    for (int64_t image = images.begin; image < images.end; ++image) {
      const uint16_t* x =
          reinterpret_cast<const uint16_t*>(args.inputs[0]) + image * dims_.positions * channels;
      float* y = RoomFor(args.outputs[0], y_type_, image * channels, room);
      std::fill(y, y + channels, 0.0f);
      for (int64_t p = 0; p < dims_.positions; ++p) {
        simd::AccumulateBf16(x + p * channels, y, channels);
      }
      simd::Scale(1.0f / static_cast<float>(dims_.positions), y, channels);
      WriteRun(args.outputs[0], y_type_, image * channels, channels, y);
    }
    return OkStatus();
  }

 private:
  const ChannelDims dims_;
  const DType y_type_;
  const int64_t slices_;
};

}  // namespace

bool Bf16PoolSupports(const KernelCall& call) {
  const auto* params = std::get_if<kernels::PoolParams>(&call.params);
  if (params == nullptr || !call.All(DType::kBFloat16)) return false;
  const Shape& shape = call.inputs[0].shape;
  return params->kind != kernels::PoolKind::kLp && (shape.rank() == 3 || shape.rank() == 4) &&
         call.inputs[0].layout == Layout::kChannelsLast && shape.num_elements() > 0;
}

Result<std::shared_ptr<const PreparedKernel>> PrepareBf16Pool(const KernelCall& call,
                                                              const PrepareContext&) {
  return std::shared_ptr<const PreparedKernel>(std::make_shared<Bf16PoolKernel>(call));
}

bool Bf16GlobalMeanSupports(const KernelCall& call) {
  return std::holds_alternative<GlobalMeanParams>(call.params) && MixesBf16(call) &&
         call.inputs[0].dtype == DType::kBFloat16 && call.inputs[0].shape.rank() >= 3 &&
         call.inputs[0].shape.num_elements() > 0 && call.inputs[0].layout == Layout::kChannelsLast;
}

Result<std::shared_ptr<const PreparedKernel>> PrepareBf16GlobalMean(const KernelCall& call,
                                                                    const PrepareContext&) {
  return std::shared_ptr<const PreparedKernel>(std::make_shared<Bf16GlobalMean>(call));
}

}  // namespace kheya
