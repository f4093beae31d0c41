// The window attributes that convolutions and pools share: kernel_shape, strides, dilations, pads
// and auto_pad.
#ifndef KHEYA_OPS_WINDOW_ATTRIBUTES_H_
#define KHEYA_OPS_WINDOW_ATTRIBUTES_H_

#include <cstdint>
#include <span>

#include "base/status.h"
#include "kernels/params/window.h"
#include "ops/contexts.h"
#include "tensor/dim.h"
#include "tensor/shape.h"

namespace kheya {

enum class AutoPad : uint8_t { kNotSet, kValid, kSameUpper, kSameLower };

struct WindowAttributes {
  kernels::Window window;  // padding is what `pads` says, zeros unless auto_pad is kNotSet
  AutoPad auto_pad = AutoPad::kNotSet;
};

// Reads the attributes for tensors with `rank` spatial axes. `kernel` is the kernel shape that the
// operator found (from kernel_shape or the weights). InvalidArgument for lists of another length,
// an unknown auto_pad and what CheckWindow refuses.
Result<WindowAttributes> ReadWindow(const AttributeReader& attributes, int rank,
                                    std::span<const int64_t> kernel);

// The window with the padding that auto_pad asks for on this input: SAME makes ceil(input /
// stride) positions, with the odd element at the end (upper) or the beginning (lower).
Result<kernels::Window> ResolveWindow(const WindowAttributes& attributes,
                                      const kernels::Spatial& input);

// The number of positions along `axis` ([depth, height, width]) of an input that may be symbolic;
// unknown where it cannot be told. InvalidArgument as kernels::WindowPositions.
Result<Dim> SymbolicPositions(const WindowAttributes& attributes, int axis, const Dim& input,
                              bool ceil);

// Positions along the spatial axes of `input` ([N, C, spatial...]) behind `batch` and `channels`.
Result<SymbolicShape> SymbolicWindowShape(const WindowAttributes& attributes,
                                          const SymbolicShape& input, const Dim& channels,
                                          bool ceil);

}  // namespace kheya

#endif  // KHEYA_OPS_WINDOW_ATTRIBUTES_H_
