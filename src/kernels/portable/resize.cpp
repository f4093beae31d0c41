// Resize: an output row of the last resized axis in memory is made of some input rows, which the
// axes before it choose: copied for the nearest, else summed into one row, then along that axis.
#include "kernels/reference/resize.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "kernels/portable/rows.h"
#include "kernels/portable/simd.h"

namespace kheya {
namespace {

constexpr size_t kAtOnce = 8;  // taps that are summed in one pass

// One axis of memory: output position `at` is the sum over taps of the input's
// indices[tap * out + at] times weights[tap * out + at].
struct AxisMap {
  int64_t in = 1;
  int64_t out = 1;
  int64_t taps = 1;
  bool identity = true;
  std::vector<int32_t> indices = {};
  std::vector<float> weights = {};

  int64_t index(int64_t tap, int64_t at) const {
    return identity ? at : indices[static_cast<size_t>(tap * out + at)];
  }
  float weight(int64_t tap, int64_t at) const {
    return identity ? 1.0f : weights[static_cast<size_t>(tap * out + at)];
  }
};

void FillNearest(const kernels::ResizeParams& params, const kernels::ResizeAxis& axis,
                 AxisMap& map) {
  for (const int64_t index : kernels::NearestIndices(params, axis)) {
    map.indices.push_back(static_cast<int32_t>(index));
  }
  map.weights.assign(map.indices.size(), 1.0f);
}

void FillInterpolated(const kernels::ResizeParams& params, const kernels::ResizeAxis& axis,
                      AxisMap& map) {
  for (int64_t at = 0; at < map.out; ++at) {
    const kernels::ResizeTaps taps = kernels::TapsAt(params, axis, at);
    if (at == 0) {
      map.taps = std::ssize(taps.weights);
      map.indices.resize(static_cast<size_t>(map.taps * map.out));
      map.weights.resize(map.indices.size());
    }
    for (int64_t tap = 0; tap < map.taps; ++tap) {
      const auto place = static_cast<size_t>(tap * map.out + at);
      map.indices[place] = static_cast<int32_t>(taps.indices[static_cast<size_t>(tap)]);
      map.weights[place] = static_cast<float>(taps.weights[static_cast<size_t>(tap)]);
    }
  }
}

struct Plan {
  std::vector<AxisMap> outer;  // in the order of memory
  AxisMap last;                // the last one that is resized
  int64_t inner = 1;           // elements behind it
  int64_t rows = 1;            // of the output, over the outer axes
  int64_t row_taps = 1;        // input rows of an output row
};

Plan MakePlan(const KernelCall& call) {
  const auto& params = std::get<kernels::ResizeParams>(call.params);
  const bool nearest = params.mode == kernels::ResizeMode::kNearest;
  const std::vector<int64_t> in = MemoryDims(call.inputs[0]), out = MemoryDims(call.outputs[0]);
  std::vector<AxisMap> axes;
  for (size_t i = 0; i < in.size(); ++i) axes.push_back({.in = in[i], .out = out[i]});
  const bool turned = call.inputs[0].layout == Layout::kChannelsLast && in.size() > 2;
  for (const kernels::ResizeAxis& axis : params.axes) {
    if (kernels::IsIdentity(params, axis)) continue;
    const int last = static_cast<int>(in.size()) - 1;
    const int place = !turned || axis.axis == 0 ? axis.axis : axis.axis == 1 ? last : axis.axis - 1;
    AxisMap& map = axes[static_cast<size_t>(place)];
    map.identity = false;
    nearest ? FillNearest(params, axis, map) : FillInterpolated(params, axis, map);
  }
  Plan plan;
  while (!axes.empty() && axes.back().identity) {
    plan.inner *= axes.back().out;
    axes.pop_back();
  }
  if (!axes.empty()) {
    plan.last = std::move(axes.back());
    axes.pop_back();
  }
  plan.outer = std::move(axes);
  for (const AxisMap& axis : plan.outer) {
    plan.rows *= axis.out;
    plan.row_taps *= axis.taps;
  }
  return plan;
}

// What the maps of a call may hold, so that no model makes them large.
constexpr double kMostTaps = 1 << 20;

double TapsOf(const kernels::ResizeParams& params, const kernels::ResizeAxis& axis) {
  const double shrink = params.antialias ? std::min(axis.scale, 1.0) : 1.0;
  return static_cast<double>(axis.output) * (6 / shrink);  // no filter is wider
}

class ResizeKernel : public PreparedKernel {
 public:
  explicit ResizeKernel(const KernelCall& call)
      : plan_(MakePlan(call)),
        element_(GetDTypeInfo(call.inputs[0].dtype).bits / 8),
        nearest_(std::get<kernels::ResizeParams>(call.params).mode ==
                 kernels::ResizeMode::kNearest),
        slices_(SlicesFor((nearest_ ? 1 : 2) * BytesOf(call), kLeastBytes, plan_.rows)) {}

  int64_t slices() const override { return slices_; }
  size_t workspace_bytes() const override {
    return nearest_ ? 0 : static_cast<size_t>(slices_ * scratch_floats()) * sizeof(float);
  }

  Status Run(const KernelArgs& args) const override {
    const SliceRange rows = RangeOf(args.slice, slices_, plan_.rows);
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      if (nearest_) {
        CopyRow(args, row, row > rows.begin);
      } else {
        float* scratch = reinterpret_cast<float*>(args.workspace) + args.slice * scratch_floats();
        Interpolate(InputRow(args, row, scratch),
                    OutputF32(args, 0) + row * plan_.last.out * plan_.inner);
      }
    }
    return OkStatus();
  }

 private:
  int64_t scratch_floats() const { return (plan_.last.in * plan_.inner + 15) / 16 * 16; }

  // The input row that is tap `tap` of an output row, and its weight.
  int64_t SourceRow(int64_t row, int64_t tap, float* weight) const {
    int64_t source = 0, stride = 1;
    *weight = 1.0f;
    for (size_t i = plan_.outer.size(); i-- > 0;) {
      const AxisMap& axis = plan_.outer[i];
      source += axis.index(tap % axis.taps, row % axis.out) * stride;
      *weight *= axis.weight(tap % axis.taps, row % axis.out);
      stride *= axis.in;
      row /= axis.out;
      tap /= axis.taps;
    }
    return source;
  }

  void CopyRow(const KernelArgs& args, int64_t row, bool has_previous) const {
    float weight = 0;
    const int64_t source = SourceRow(row, 0, &weight);
    const int64_t bytes = plan_.last.out * plan_.inner * element_;
    std::byte* to = args.outputs[0] + row * bytes;
    if (has_previous && SourceRow(row - 1, 0, &weight) == source) {
      std::memcpy(to, to - bytes, static_cast<size_t>(bytes));
      return;
    }
    CopyChosen(args.inputs[0] + source * plan_.last.in * plan_.inner * element_, to);
  }

  void CopyChosen(const std::byte* from, std::byte* to) const {
    const int64_t chunk = plan_.inner * element_;
    if (plan_.last.identity) {
      std::memcpy(to, from, static_cast<size_t>(plan_.last.out * chunk));
    } else if (chunk == 1) {
      for (int64_t at = 0; at < plan_.last.out; ++at) to[at] = from[plan_.last.index(0, at)];
    } else if (chunk == sizeof(float)) {
      simd::Gather(reinterpret_cast<const float*>(from), static_cast<size_t>(plan_.last.in),
                   plan_.last.indices.data(), reinterpret_cast<float*>(to),
                   static_cast<size_t>(plan_.last.out));
    } else {
      for (int64_t at = 0; at < plan_.last.out; ++at) {
        std::memcpy(to + at * chunk, from + plan_.last.index(0, at) * chunk,
                    static_cast<size_t>(chunk));
      }
    }
  }

  // What the axes before the last make of the input, at output row `row`.
  const float* InputRow(const KernelArgs& args, int64_t row, float* scratch) const {
    const int64_t count = plan_.last.in * plan_.inner;
    const auto tap = [&](int64_t t, float* weight) {
      return InputF32(args, 0) + SourceRow(row, t, weight) * count;
    };
    float weight = 0;
    if (plan_.row_taps == 1) return tap(0, &weight);
    Sum(plan_.row_taps, tap, scratch, count);
    return scratch;
  }

  void Interpolate(const float* x, float* y) const {
    const AxisMap& last = plan_.last;
    if (last.identity) {
      std::copy_n(x, last.out * plan_.inner, y);
    } else if (plan_.inner == 1) {
      simd::GatheredSum(x, static_cast<size_t>(last.in), last.indices.data(), last.weights.data(),
                        static_cast<size_t>(last.taps), y, static_cast<size_t>(last.out));
    } else {
      for (int64_t at = 0; at < last.out; ++at) {
        const auto tap = [&](int64_t t, float* weight) {
          *weight = last.weight(t, at);
          return x + last.index(t, at) * plan_.inner;
        };
        Sum(last.taps, tap, y + at * plan_.inner, plan_.inner);
      }
    }
  }

  // y = the sum of tap(t) times the weight that it gives.
  template <typename Tap>
  static void Sum(int64_t taps, const Tap& tap, float* y, int64_t count) {
    const float* rows[kAtOnce];
    float weights[kAtOnce];
    for (int64_t first = 0; first < taps; first += kAtOnce) {
      const int64_t some = std::min<int64_t>(kAtOnce, taps - first);
      for (int64_t t = 0; t < some; ++t) rows[t] = tap(first + t, &weights[t]);
      simd::WeightedSum(rows, weights, static_cast<size_t>(some), first > 0, y,
                        static_cast<size_t>(count));
    }
  }

  const Plan plan_;
  const int64_t element_;
  const bool nearest_;
  const int64_t slices_;
};

}  // namespace

bool PortableResizeSupports(const KernelCall& call) {
  const auto* params = std::get_if<kernels::ResizeParams>(&call.params);
  if (params == nullptr || call.inputs[0].dtype != call.outputs[0].dtype) return false;
  if (params->coordinates == kernels::CoordinateMode::kCropAndResize) return false;
  const DType dtype = call.inputs[0].dtype;
  const bool nearest = params->mode == kernels::ResizeMode::kNearest;
  const bool bytes = dtype != DType::kString && GetDTypeInfo(dtype).bits % 8 == 0;
  if (!(nearest ? bytes : dtype == DType::kFloat32)) return false;
  const bool small = std::ranges::all_of(params->axes, [&](const kernels::ResizeAxis& axis) {
    return kernels::IsIdentity(*params, axis) || TapsOf(*params, axis) <= kMostTaps;
  });
  if (!small) return false;
  const Shape& x = call.inputs[0].shape;
  const bool counted = std::ranges::all_of(
      x, [](int64_t dim) { return dim > 0 && dim <= std::numeric_limits<int32_t>::max(); });
  return counted && call.inputs[0].layout == call.outputs[0].layout &&
         call.outputs[0].shape.num_elements() > 0;
}

Result<std::shared_ptr<const PreparedKernel>> PreparePortableResize(const KernelCall& call,
                                                                    const PrepareContext&) {
  return std::shared_ptr<const PreparedKernel>(std::make_shared<ResizeKernel>(call));
}

}  // namespace kheya
