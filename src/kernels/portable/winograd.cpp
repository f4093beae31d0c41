// 3x3 convolutions in channels-last layout by Winograd's minimal filtering: F(4x4, 3x3) multiplies
// a quarter as often as the direct form, F(2x2, 3x3) 4/9 as often. A tile of the output whose sums
// are not finite is computed again directly, so that infinities and NaNs come out where they would.
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/portable/bf16.h"
#include "kernels/portable/panels.h"
#include "kernels/portable/rows.h"
#include "kernels/portable/simd.h"

namespace kheya {
namespace {

constexpr int kHeight = 1;  // places in kernels::Spatial
constexpr int kWidth = 2;
constexpr int kMostTile = 4;
constexpr int kMostPoints = (kMostTile + 2) * (kMostTile + 2);
constexpr int64_t kChannelMultiple = 16;

// The pixels of a tile of the output; null outside.
template <typename T>
using Pixels = std::array<T*, kMostTile * kMostTile>;

// The rows of G: filters of 3 become filters of tile + 2.
using Filter = std::array<double, 3>;
std::span<const Filter> FilterTransform(int tile) {
  static constexpr std::array<Filter, 4> kTwo = {
      Filter{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
  static constexpr std::array<Filter, 6> kFour = {
      Filter{1.0 / 4, 0, 0},         {-1.0 / 6, -1.0 / 6, -1.0 / 6}, {-1.0 / 6, 1.0 / 6, -1.0 / 6},
      {1.0 / 24, 1.0 / 12, 1.0 / 6}, {1.0 / 24, -1.0 / 12, 1.0 / 6}, {0, 0, 1}};
  if (tile == 2) return kTwo;
  return kFour;
}

class WinogradConv : public PreparedKernel {
 public:
  WinogradConv(const KernelCall& call, int tile)
      : params_(std::get<FusedConvParams>(call.params)),
        tile_(tile),
        in_(kernels::SpatialOf(call.inputs[0].shape, 2)),
        out_(kernels::SpatialOf(call.outputs[0].shape, 2)),
        in_channels_(call.inputs[0].shape[1]),
        out_channels_(call.outputs[0].shape[1]),
        has_bias_(call.has_input(2)),
        has_residual_(call.has_input(3)),
        x_type_(call.inputs[0].dtype),
        y_type_(call.outputs[0].dtype) {
    const auto panel = static_cast<int64_t>(simd::PanelColumns());
    columns_ = (out_channels_ + panel - 1) / panel * panel;
    tiles_high_ = (out_[kHeight] + tile - 1) / tile;
    tiles_wide_ = (out_[kWidth] + tile - 1) / tile;
    tiles_ = call.outputs[0].shape[0] * tiles_high_ * tiles_wide_;
    const double flops =
        2.0 * static_cast<double>(tiles_ * points()) * static_cast<double>(in_channels_ * columns_);
    const double weights = 4.0 * static_cast<double>(points() * in_channels_ * columns_);
    slices_ = SlicesFor(flops, LeastFlopsFor(weights), (tiles_ + kLeastTiles - 1) / kLeastTiles, 8);
    ChooseBlock();
  }

  // Weights as [point][panel][channel in][column].
  Status Pack(const Tensor& weights, PackCache* cache) {
    const size_t bytes = points() * in_channels_ * columns_ * sizeof(float);
    const auto pack = [&]() -> Result<Buffer> {
      KHEYA_ASSIGN_OR_RETURN(Buffer buffer, Buffer::AllocateZeroed(bytes, cache->budget()));
      const float* from = weights.data<float>().data();
      auto* to = reinterpret_cast<float*>(buffer.data());
      for (int64_t o = 0; o < out_channels_; ++o) {
        for (int64_t i = 0; i < in_channels_; ++i, from += 9) PackFilter(from, i, o, to);
      }
      return buffer;
    };
    const std::string layout =
        fmt::format("winograd{}:{}x{}:{}", tile_, in_channels_, columns_, simd::PanelColumns());
    KHEYA_ASSIGN_OR_RETURN(weights_, cache->Get(weights, layout, bytes, pack));
    return OkStatus();
  }

  int64_t slices() const override { return slices_; }
  size_t workspace_bytes() const override { return sizeof(float) * slices_ * SliceFloats(); }
  bool CanRunInPlace(int input) const override { return input == 3; }
  bool ReadsConstant(int input) const override { return input != 1; }

  Status Run(const KernelArgs& args) const override {
    const SliceRange range = RangeOf(args.slice, slices_, tiles_);
    auto* scratch = reinterpret_cast<float*>(args.workspace) + args.slice * SliceFloats();
    std::fill(scratch, scratch + in_channels_, 0.0f);  // the pixels of the padding
    for (int64_t first = range.begin; first < range.end; first += block_) {
      RunBlock(args, scratch, first, std::min(block_, range.end - first));
    }
    return OkStatus();
  }

 private:
  static constexpr int64_t kLeastTiles = 12;

  int64_t points() const { return (tile_ + 2) * (tile_ + 2); }
  const float* packed() const { return reinterpret_cast<const float*>(weights_->data()); }

  // Rows of one point are this far from the next point's: not a multiple of a page, whose lines
  // would all fall into the same place of the cache.
  int64_t PointPitch(int64_t channels) const { return block_ * channels + 16; }
  // Zeros, one tile of each side as float32 where memory is bfloat16, both transformed sides.
  int64_t SliceFloats() const {
    return in_channels_ + TileFloats() +
           points() * (PointPitch(in_channels_) + PointPitch(columns_));
  }
  int64_t TileFloats() const {
    if (x_type_ == DType::kFloat32 && y_type_ == DType::kFloat32) return 0;
    return points() * in_channels_ + 2 * tile_ * tile_ * out_channels_;
  }

  // As many tiles at once as keep both transformed sides in the second cache, but enough for the
  // weights that each block reads.
  void ChooseBlock() {
    constexpr int64_t kBytes = 640 * 1024;
    const int64_t own = (tiles_ + slices_ - 1) / slices_;
    const int64_t bytes = 4 * points() * (in_channels_ + columns_);
    const int64_t wanted = std::max<int64_t>(kBytes / bytes / kLeastTiles, 2) * kLeastTiles;
    const int64_t blocks = (own + wanted - 1) / wanted;
    block_ = (own + blocks - 1) / blocks;
  }

  int64_t PackedIndex(int64_t point, int64_t in, int64_t out) const {
    const auto panel = static_cast<int64_t>(simd::PanelColumns());
    return point * in_channels_ * columns_ + out / panel * panel * in_channels_ + in * panel +
           out % panel;
  }

  void PackFilter(const float* filter, int64_t in, int64_t out, float* to) const {
    const std::span<const Filter> g = FilterTransform(tile_);
    for (size_t i = 0; i < g.size(); ++i) {
      Filter row;
      for (int s = 0; s < 3; ++s) {
        row[s] = g[i][0] * filter[s] + g[i][1] * filter[3 + s] + g[i][2] * filter[6 + s];
      }
      for (size_t j = 0; j < g.size(); ++j) {
        const double value = row[0] * g[j][0] + row[1] * g[j][1] + row[2] * g[j][2];
        to[PackedIndex(i * g.size() + j, in, out)] = static_cast<float>(value);
      }
    }
  }

  // The element of the filter that was packed: the inverse of PackFilter.
  double FilterElement(int row, int column, int64_t in, int64_t out) const {
    const int last = tile_ + 1;
    const std::span<const Filter> g = FilterTransform(tile_);
    // Element 0 and 2 are alone in the first and last row of G; 1 is the difference of rows 1, 2.
    const auto along = [&](int element, auto&& at) {
      if (element == 0) return at(0) / g[0][0];
      if (element == 2) return at(last) / g[last][2];
      return (at(2) - at(1)) / (g[2][1] - g[1][1]);
    };
    return along(row, [&](int i) {
      return along(column, [&](int j) {
        return double{packed()[PackedIndex(i * (tile_ + 2) + j, in, out)]};
      });
    });
  }

  // Where a tile lies in the output.
  struct Place {
    int64_t image = 0;
    int64_t row = 0;
    int64_t column = 0;
  };
  Place PlaceOf(int64_t tile) const {
    return {tile / (tiles_wide_ * tiles_high_), tile / tiles_wide_ % tiles_high_ * tile_,
            tile % tiles_wide_ * tile_};
  }

  // A pixel of the input that a tile reads, counted from its first; null in the padding.
  const std::byte* InputPixel(const KernelArgs& args, const Place& place, int64_t i,
                              int64_t j) const {
    const kernels::Window& window = params_.conv.window;
    const int64_t row = place.row + i - window.pad_begin[kHeight];
    const int64_t column = place.column + j - window.pad_begin[kWidth];
    if (row < 0 || row >= in_[kHeight] || column < 0 || column >= in_[kWidth]) return nullptr;
    const int64_t first =
        ((place.image * in_[kHeight] + row) * in_[kWidth] + column) * in_channels_;
    return args.inputs[0] + BytesFor(x_type_, first);
  }

  int64_t OutputOffset(const Place& place, int64_t row, int64_t column) const {
    return ((place.image * out_[kHeight] + place.row + row) * out_[kWidth] + place.column +
            column) *
           out_channels_;
  }
  bool Inside(const Place& place, int64_t row, int64_t column) const {
    return place.row + row < out_[kHeight] && place.column + column < out_[kWidth];
  }

  void RunBlock(const KernelArgs& args, float* scratch, int64_t first, int64_t count) const {
    const int64_t v_pitch = PointPitch(in_channels_), y_pitch = PointPitch(columns_);
    float* tile = scratch + in_channels_;
    float* v = tile + TileFloats();
    float* products = v + points() * v_pitch;
    for (int64_t i = 0; i < count; ++i) {
      LoadTile(args, PlaceOf(first + i), scratch, tile, v + i * in_channels_, v_pitch);
    }
    for (int64_t p = 0; p < points(); ++p) {
      simd::PanelProduct product;
      product.x = v + p * v_pitch;
      product.x_pitch = product.run = in_channels_;
      product.panels = packed() + p * in_channels_ * columns_;
      product.finish.y = products + p * y_pitch;
      product.columns = product.y_pitch = columns_;
      simd::RunPanels(product, count);
    }
    for (int64_t i = 0; i < count; ++i) {
      StoreTile(args, PlaceOf(first + i), products + i * columns_, y_pitch, tile);
    }
  }

  void LoadTile(const KernelArgs& args, const Place& place, const float* zeros, float* tile,
                float* v, int64_t pitch) const {
    std::array<const float*, kMostPoints> pixels;
    for (int64_t i = 0; i < points(); ++i) {
      const std::byte* pixel = InputPixel(args, place, i / (tile_ + 2), i % (tile_ + 2));
      pixels[i] = zeros;
      if (pixel == nullptr) continue;
      pixels[i] = ReadRun(pixel, x_type_, 0, in_channels_, tile + i * in_channels_);
    }
    simd::WinogradInput(tile_, pixels.data(), in_channels_, v, pitch);
  }

  void StoreTile(const KernelArgs& args, const Place& place, const float* products, int64_t pitch,
                 float* tile) const {
    Pixels<float> y = {};
    Pixels<const float> residual = {};
    float* y_room = tile + points() * in_channels_;
    float* residual_room = y_room + tile_ * tile_ * out_channels_;
    for (int64_t i = 0; i < tile_; ++i) {
      for (int64_t j = 0; j < tile_; ++j) {
        if (!Inside(place, i, j)) continue;
        const int64_t offset = OutputOffset(place, i, j);
        const int64_t pixel = i * tile_ + j;
        y[pixel] = RoomFor(args.outputs[0], y_type_, offset, y_room + pixel * out_channels_);
        if (!has_residual_) continue;
        residual[pixel] = ReadRun(args.inputs[3], y_type_, offset, out_channels_,
                                  residual_room + pixel * out_channels_);
      }
    }
    const float* bias = has_bias_ ? InputF32(args, 2) : nullptr;
    for (int64_t done = 0; done < out_channels_;) {
      done = static_cast<int64_t>(simd::WinogradOutput(tile_, products, pitch, bias,
                                                       has_residual_ ? residual.data() : nullptr,
                                                       y.data(), done, out_channels_));
      if (done == out_channels_) break;
      const int64_t end = std::min(done + kChannelMultiple, out_channels_);
      for (; done < end; ++done) StoreDirectly(args, place, y, residual, done);
    }
    const int64_t count = std::min<int64_t>(tile_, out_[kWidth] - place.column) * out_channels_;
    for (int64_t i = 0; i < tile_ && y[i * tile_] != nullptr; ++i) {
      float* row = y[i * tile_];
      if (params_.activation.op != ElementwiseOp::kIdentity) {
        simd::Unary(params_.activation, row, row, count);
      }
      WriteRun(args.outputs[0], y_type_, OutputOffset(place, i, 0), count, row);
    }
  }

  // One channel of a tile, by the definition.
  void StoreDirectly(const KernelArgs& args, const Place& place, const Pixels<float>& y,
                     const Pixels<const float>& residual, int64_t channel) const {
    std::array<double, kMostTile* kMostTile> sums = {};
    for (int64_t in = 0; in < in_channels_; ++in) {
      for (int tap = 0; tap < 9; ++tap) {
        const double weight = FilterElement(tap / 3, tap % 3, in, channel);
        for (int64_t i = 0; i < tile_ * tile_; ++i) {
          const std::byte* pixel =
              InputPixel(args, place, i / tile_ + tap / 3, i % tile_ + tap % 3);
          float room = 0;
          if (pixel != nullptr) sums[i] += weight * *ReadRun(pixel, x_type_, in, 1, &room);
        }
      }
    }
    for (int64_t i = 0; i < tile_ * tile_; ++i) {
      if (y[i] == nullptr) continue;
      if (has_bias_) sums[i] += InputF32(args, 2)[channel];
      if (has_residual_) sums[i] += residual[i][channel];
      y[i][channel] = static_cast<float>(sums[i]);
    }
  }

  const FusedConvParams params_;
  const int tile_;
  const kernels::Spatial in_;
  const kernels::Spatial out_;
  const int64_t in_channels_;
  const int64_t out_channels_;
  const bool has_bias_;
  const bool has_residual_;
  const DType x_type_;
  const DType y_type_;   // of the residual too
  int64_t columns_ = 0;  // channels of the output, filled up to whole panels
  int64_t tiles_high_ = 0;
  int64_t tiles_wide_ = 0;
  int64_t tiles_ = 0;
  int64_t slices_ = 1;
  int64_t block_ = 1;
  std::shared_ptr<const Buffer> weights_;
};

Result<std::shared_ptr<const PreparedKernel>> Prepare(const KernelCall& call,
                                                      const PrepareContext& context, int tile) {
  const Tensor* weights = context.constant(1);
  if (weights == nullptr || context.cache == nullptr) {
    return UnimplementedError("weights are not constant");
  }
  KHEYA_RETURN_IF_ERROR(CheckFinite(*weights));
  auto kernel = std::make_shared<WinogradConv>(call, tile);
  KHEYA_RETURN_IF_ERROR(kernel->Pack(*weights, context.cache));
  return std::shared_ptr<const PreparedKernel>(std::move(kernel));
}

}  // namespace

// Apart from types.
static bool FormFits(const KernelCall& call) {
  const auto* params = std::get_if<FusedConvParams>(&call.params);
  if (params == nullptr || params->conv.groups != 1) return false;
  const Shape& in = call.inputs[0].shape;
  const Shape& out = call.outputs[0].shape;
  if (out.rank() != 4 || out.num_elements() == 0 || in.num_elements() == 0) return false;
  const kernels::Window& window = params->conv.window;
  for (const int axis : {kHeight, kWidth}) {
    if (window.kernel[axis] != 3 || window.stride[axis] != 1 || window.dilation[axis] != 1) {
      return false;
    }
  }
  return in[1] % kChannelMultiple == 0 && out[1] % kChannelMultiple == 0 &&
         call.inputs[0].layout == Layout::kChannelsLast;
}

bool WinogradSupports(const KernelCall& call) {
  return call.All(DType::kFloat32) && FormFits(call);
}

// Memory of bfloat16: the products are in float32 all the same.
bool WinogradBf16Supports(const KernelCall& call) {
  if (!MixesBf16(call) || !FormFits(call) || call.inputs[1].dtype != DType::kFloat32) return false;
  if (call.has_input(2) && call.inputs[2].dtype != DType::kFloat32) return false;
  return !call.has_input(3) || call.inputs[3].dtype == call.outputs[0].dtype;
}

Result<std::shared_ptr<const PreparedKernel>> PrepareWinograd2(const KernelCall& call,
                                                               const PrepareContext& context) {
  return Prepare(call, context, 2);
}

Result<std::shared_ptr<const PreparedKernel>> PrepareWinograd4(const KernelCall& call,
                                                               const PrepareContext& context) {
  return Prepare(call, context, 4);
}

}  // namespace kheya
