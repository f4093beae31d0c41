#include "ops/window_attributes.h"

#include <algorithm>
#include <string>
#include <vector>

namespace kheya {
namespace {

using kernels::kSpatialAxes;
using kernels::Spatial;
using kernels::Window;

Result<AutoPad> ParseAutoPad(const std::string& text) {
  if (text == "NOTSET" || text.empty()) return AutoPad::kNotSet;
  if (text == "VALID") return AutoPad::kValid;
  if (text == "SAME_UPPER") return AutoPad::kSameUpper;
  if (text == "SAME_LOWER") return AutoPad::kSameLower;
  return InvalidArgumentError(
      "found auto_pad '{}', expected NOTSET, VALID, SAME_UPPER or SAME_LOWER", text);
}

// Writes a list of `rank` values to the last axes of `out`; an empty list leaves it.
Status FillAxes(const char* name, std::span<const int64_t> values, int rank, Spatial& out) {
  if (values.empty()) return OkStatus();
  if (static_cast<int>(values.size()) != rank) {
    return InvalidArgumentError("found {} values of {}, expected {}", values.size(), name, rank);
  }
  std::copy(values.begin(), values.end(), out.end() - rank);
  return OkStatus();
}

Status FillPads(const AttributeReader& attributes, int rank, Window& window) {
  const std::vector<int64_t> pads = attributes.Ints("pads");
  if (pads.empty()) return OkStatus();
  if (static_cast<int>(pads.size()) != 2 * rank) {
    return InvalidArgumentError("found {} values of pads, expected {}", pads.size(), 2 * rank);
  }
  const std::span<const int64_t> all = pads;
  KHEYA_RETURN_IF_ERROR(FillAxes("pads", all.first(rank), rank, window.pad_begin));
  return FillAxes("pads", all.last(rank), rank, window.pad_end);
}

bool IsSame(AutoPad auto_pad) {
  return auto_pad == AutoPad::kSameUpper || auto_pad == AutoPad::kSameLower;
}

}  // namespace

Result<WindowAttributes> ReadWindow(const AttributeReader& attributes, int rank,
                                    std::span<const int64_t> kernel) {
  if (rank < 1 || rank > kSpatialAxes) {
    return UnimplementedError("found {} spatial axes, supported are 1 to {}", rank, kSpatialAxes);
  }
  WindowAttributes result;
  result.window.rank = rank;
  KHEYA_ASSIGN_OR_RETURN(result.auto_pad, ParseAutoPad(attributes.String("auto_pad", "NOTSET")));
  Window& window = result.window;
  KHEYA_RETURN_IF_ERROR(FillAxes("kernel_shape", kernel, rank, window.kernel));
  KHEYA_RETURN_IF_ERROR(FillAxes("strides", attributes.Ints("strides"), rank, window.stride));
  KHEYA_RETURN_IF_ERROR(FillAxes("dilations", attributes.Ints("dilations"), rank, window.dilation));
  if (result.auto_pad == AutoPad::kNotSet) {
    KHEYA_RETURN_IF_ERROR(FillPads(attributes, rank, window));
  }
  KHEYA_RETURN_IF_ERROR(CheckWindow(window));
  return result;
}

Result<Window> ResolveWindow(const WindowAttributes& attributes, const Spatial& input) {
  Window window = attributes.window;
  if (!IsSame(attributes.auto_pad)) return window;
  for (int axis = 0; axis < kSpatialAxes; ++axis) {
    if (input[axis] == 0) continue;
    const int64_t stride = window.stride[axis];
    const int64_t last_start = (input[axis] - 1) / stride * stride;
    const int64_t total =
        std::max<int64_t>(0, last_start - input[axis] + DilatedKernel(window, axis));
    const int64_t less = total / 2;
    const bool upper = attributes.auto_pad == AutoPad::kSameUpper;
    window.pad_begin[axis] = upper ? less : total - less;
    window.pad_end[axis] = upper ? total - less : less;
  }
  KHEYA_RETURN_IF_ERROR(CheckWindow(window));
  return window;
}

Result<Dim> SymbolicPositions(const WindowAttributes& attributes, int axis, const Dim& input,
                              bool ceil) {
  if (input.known()) {
    Spatial size = attributes.window.kernel;  // fits its own window along the other axes
    for (int i = 0; i < kSpatialAxes; ++i) size[i] = DilatedKernel(attributes.window, i);
    size[axis] = input.value();
    KHEYA_ASSIGN_OR_RETURN(Window window, ResolveWindow(attributes, size));
    KHEYA_ASSIGN_OR_RETURN(Spatial positions, WindowPositions(window, size, ceil));
    return Dim(positions[axis]);
  }
  const Window& window = attributes.window;
  const int64_t stride = window.stride[axis];
  if (IsSame(attributes.auto_pad)) return input.CeilDiv(stride);
  const int64_t dilated = DilatedKernel(window, axis);
  const Dim room = input + (window.pad_begin[axis] + window.pad_end[axis] - dilated);
  if (!ceil) return room.FloorDiv(stride) + 1;
  // Whether a last window is dropped for starting in the end padding depends on the input, save
  // where the window always reaches back into it.
  if (dilated - window.pad_end[axis] < stride) return Dim();
  return room.CeilDiv(stride) + 1;
}

Result<SymbolicShape> SymbolicWindowShape(const WindowAttributes& attributes,
                                          const SymbolicShape& input, const Dim& channels,
                                          bool ceil) {
  SymbolicShape output = {input[0], channels};
  const int rank = static_cast<int>(input.size()) - 2;
  for (int i = 0; i < rank; ++i) {
    KHEYA_ASSIGN_OR_RETURN(
        Dim dim, SymbolicPositions(attributes, kSpatialAxes - rank + i, input[2 + i], ceil));
    output.push_back(std::move(dim));
  }
  return output;
}

}  // namespace kheya
