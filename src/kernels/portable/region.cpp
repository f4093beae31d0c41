// Slices and constant padding: a region of a tensor, which may reach outside of it.
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "kernels/portable/pieces.h"
#include "kernels/portable/rows.h"

namespace kheya {
namespace {

int64_t ElementBytes(DType dtype) {
  return dtype == DType::kString ? 0 : GetDTypeInfo(dtype).bits / 8;
}

// What is taken along one axis of memory: `out` elements from `start` on, every `step`-th; those
// of [first, last) are inside.
struct Axis {
  int64_t in = 1;
  int64_t out = 1;
  int64_t start = 0;
  int64_t step = 1;
  int64_t first = 0;
  int64_t last = 0;

  bool whole() const { return start == 0 && step == 1 && in == out; }
  void FindInside() {
    const auto inside = [this](int64_t i) {
      const int64_t at = start + i * step;
      return at >= 0 && at < in;
    };
    // The first i at which the axis is entered, and how often it is met from there on.
    const int64_t away = step > 0 ? -start : start - (in - 1);
    const int64_t stride = step > 0 ? step : -step;
    first = std::clamp<int64_t>(away <= 0 ? 0 : (away - 1) / stride + 1, 0, out);
    if (first == out || !inside(first)) {
      first = last = 0;
      return;
    }
    const int64_t at = start + first * step;
    const int64_t room = step > 0 ? in - 1 - at : at;
    last = std::min(out, first + room / stride + 1);
  }
};

// The axes in the order of memory; those behind which nothing is left out are one element.
struct Plan {
  std::vector<Axis> axes;
  int64_t element = 0;  // bytes of the operator's elements
  int64_t chunk = 0;    // bytes of what lies together
};

Plan MakePlan(const KernelCall& call) {
  const auto& params = std::get<RegionParams>(call.params);
  const std::vector<int64_t> in = MemoryDims(call.inputs[0]), out = MemoryDims(call.outputs[0]);
  std::vector<int64_t> starts = params.starts, steps = params.steps;
  if (call.inputs[0].layout == Layout::kChannelsLast && in.size() > 2) {
    std::rotate(starts.begin() + 1, starts.begin() + 2, starts.end());
    std::rotate(steps.begin() + 1, steps.begin() + 2, steps.end());
  }
  Plan plan;
  plan.element = plan.chunk = ElementBytes(call.outputs[0].dtype);
  for (size_t i = 0; i < in.size(); ++i) plan.axes.push_back({in[i], out[i], starts[i], steps[i]});
  while (!plan.axes.empty() && plan.axes.back().whole()) {
    plan.chunk *= plan.axes.back().in;
    plan.axes.pop_back();
  }
  if (plan.axes.empty()) plan.axes.emplace_back();
  for (Axis& axis : plan.axes) axis.FindInside();
  return plan;
}

// A region that is cut along one axis and inside of its input: rows of evenly spaced pieces.
struct Strip {
  int64_t start = 0;  // bytes
  int64_t rows = 1;
  int64_t row_stride = 0;  // bytes in the input
  int64_t pieces = 1;      // of a row
  int64_t stride = 0;      // bytes between two pieces
  int64_t bytes = 0;       // of a piece
  int64_t element = 0;

  Status operator()(const KernelArgs& args, SliceRange range) const {
    const int64_t row_bytes = pieces * bytes;
    const std::byte* from = args.inputs[0] + start + range.begin * row_stride;
    std::byte* to = args.outputs[0] + range.begin * row_bytes;
    const int64_t count = range.end - range.begin;
    if (pieces == 1) {
      CopyPieces(from, row_stride, to, count, bytes, element);
      return OkStatus();
    }
    for (int64_t row = 0; row < count; ++row, from += row_stride, to += row_bytes) {
      CopyPieces(from, stride, to, pieces, bytes, element);
    }
    return OkStatus();
  }
};

std::optional<Strip> FindStrip(const Plan& plan) {
  const Axis& axis = plan.axes.back();
  if (axis.first != 0 || axis.last != axis.out) return std::nullopt;
  Strip strip{.bytes = plan.chunk, .element = plan.element};
  for (size_t i = 0; i + 1 < plan.axes.size(); ++i) {
    if (!plan.axes[i].whole()) return std::nullopt;
    strip.rows *= plan.axes[i].in;
  }
  strip.start = axis.start * plan.chunk;
  strip.row_stride = axis.in * plan.chunk;
  if (axis.step == 1) {
    strip.bytes = axis.out * plan.chunk;
  } else {
    strip.pieces = axis.out;
    strip.stride = axis.step * plan.chunk;
  }
  if (strip.rows == 1) {  // so that threads can share it
    strip.rows = axis.out;
    strip.row_stride = axis.step * plan.chunk;
    strip.pieces = 1;
    strip.bytes = plan.chunk;
  }
  return strip;
}

struct RegionBody {
  Plan plan;
  bool has_fill;

  Status operator()(const KernelArgs& args, SliceRange rows) const {
    const Axis& axis = plan.axes.back();
    const int64_t row_bytes = axis.out * plan.chunk;
    const std::byte* fill = has_fill ? args.inputs[1] : nullptr;
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      std::byte* to = args.outputs[0] + row * row_bytes;
      const int64_t source = SourceRow(row);
      if (source < 0 || axis.first == axis.last) {
        Fill(fill, to, row_bytes);
        continue;
      }
      Fill(fill, to, axis.first * plan.chunk);
      CopyInside(args.inputs[0] + source * axis.in * plan.chunk, to);
      Fill(fill, to + axis.last * plan.chunk, (axis.out - axis.last) * plan.chunk);
    }
    return OkStatus();
  }

 private:
  // The row of the input that an output row is; -1: none.
  int64_t SourceRow(int64_t row) const {
    int64_t source = 0, stride = 1;
    for (size_t i = plan.axes.size() - 1; i-- > 0;) {
      const Axis& axis = plan.axes[i];
      const int64_t at = row % axis.out;
      row /= axis.out;
      if (at < axis.first || at >= axis.last) return -1;
      source += (axis.start + at * axis.step) * stride;
      stride *= axis.in;
    }
    return source;
  }

  void Fill(const std::byte* value, std::byte* to, int64_t bytes) const {
    if (value == nullptr) {
      std::memset(to, 0, static_cast<size_t>(bytes));
      return;
    }
    for (int64_t i = 0; i < bytes; i += plan.element) std::memcpy(to + i, value, plan.element);
  }

  void CopyInside(const std::byte* row, std::byte* to) const {
    const Axis& axis = plan.axes.back();
    const std::byte* from = row + (axis.start + axis.first * axis.step) * plan.chunk;
    to += axis.first * plan.chunk;
    const int64_t count = axis.last - axis.first;
    CopyPieces(from, axis.step * plan.chunk, to, count, plan.chunk, plan.element);
  }
};

}  // namespace

bool PortableRegionSupports(const KernelCall& call) {
  const auto* params = std::get_if<RegionParams>(&call.params);
  if (params == nullptr || call.inputs[0].dtype != call.outputs[0].dtype) return false;
  const DType dtype = call.inputs[0].dtype;
  if (dtype == DType::kString || GetDTypeInfo(dtype).bits % 8 != 0) return false;
  if (call.inputs[0].layout != call.outputs[0].layout) return false;
  if (call.has_input(1) && call.inputs[1].dtype != dtype) return false;
  return call.outputs[0].shape.num_elements() > 0;
}

Result<std::shared_ptr<const PreparedKernel>> PreparePortableRegion(const KernelCall& call,
                                                                    const PrepareContext&) {
  RegionBody body{MakePlan(call), call.has_input(1)};
  const TensorDesc& y = call.outputs[0];
  const double bytes = 2.0 * static_cast<double>(BytesFor(y.dtype, y.shape.num_elements()));
  if (const std::optional<Strip> strip = FindStrip(body.plan)) {
    return MakeRowKernel(*strip, strip->rows, bytes);
  }
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < body.plan.axes.size(); ++i) rows *= body.plan.axes[i].out;
  return MakeRowKernel(std::move(body), rows, bytes);
}

}  // namespace kheya
