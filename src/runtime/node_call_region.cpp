// Slice and Pad.
#include <algorithm>
#include <cstdlib>

#include "ops/slice_axes.h"
#include "runtime/node_call_builders.h"

namespace kheya {
namespace {

// The elements of a constant list; nullopt where there is none.
std::optional<std::vector<int64_t>> ConstantInts(const NodeShapes& node, size_t index) {
  if (!node.input(index).present()) return std::nullopt;
  const Tensor* constant = node.graph().Constant(node.node().inputs[index]);
  if (constant == nullptr) return std::nullopt;
  Result<std::vector<int64_t>> ints = ToInt64s(*constant);
  if (!ints.ok()) return std::nullopt;
  return std::move(ints).value();
}

// Axes from 0 on, each once; those of the first dimensions where none are given.
std::optional<std::vector<int>> AxesOf(const NodeShapes& node, size_t index, size_t count) {
  const int rank = node.input(0).shape.rank();
  std::optional<std::vector<int64_t>> given = ConstantInts(node, index);
  if (!given && node.input(index).present()) return std::nullopt;
  std::vector<int> axes;
  for (size_t i = 0; i < count; ++i) {
    if (given && given->size() != count) return std::nullopt;
    const int64_t axis = given ? (*given)[i] : static_cast<int64_t>(i);
    if (axis < -rank || axis >= rank) return std::nullopt;
    axes.push_back(static_cast<int>(axis < 0 ? axis + rank : axis));
    if (std::count(axes.begin(), axes.end(), axes.back()) > 1) return std::nullopt;
  }
  return axes;
}

RegionParams Whole(int rank) {
  RegionParams params;
  params.starts.assign(static_cast<size_t>(rank), 0);
  params.steps.assign(static_cast<size_t>(rank), 1);
  return params;
}

}  // namespace

std::optional<NodeCall> MakeSliceCall(const NodeShapes& node) {
  const Shape& x = node.input(0).shape;
  const std::optional<std::vector<int64_t>> starts = ConstantInts(node, 1);
  const std::optional<std::vector<int64_t>> ends = ConstantInts(node, 2);
  std::optional<std::vector<int64_t>> steps = ConstantInts(node, 4);
  if (!starts || !ends || starts->size() != ends->size()) return std::nullopt;
  if (!steps && node.input(4).present()) return std::nullopt;
  if (!steps) steps.emplace(starts->size(), 1);
  const std::optional<std::vector<int>> axes = AxesOf(node, 3, starts->size());
  if (!axes || steps->size() != starts->size()) return std::nullopt;
  RegionParams params = Whole(x.rank());
  std::vector<int64_t> dims(x.begin(), x.end());
  for (size_t i = 0; i < axes->size(); ++i) {
    const int axis = (*axes)[i];
    const Result<AxisSlice> slice = SliceAxis((*starts)[i], (*ends)[i], (*steps)[i], x[axis]);
    if (!slice.ok()) return std::nullopt;
    params.starts[axis] = slice->start;
    // A step that is not used may be too large to multiply.
    params.steps[axis] = slice->count > 1 ? slice->step : 1;
    dims[axis] = slice->count;
  }
  const Shape& y = node.output(0).shape;
  if (dims != std::vector<int64_t>(y.begin(), y.end())) return std::nullopt;
  return node.Call(std::move(params), LayoutRule::kFollow, 1);
}

std::optional<NodeCall> MakePadCall(const NodeShapes& node) {
  const Shape& x = node.input(0).shape;
  const Shape& y = node.output(0).shape;
  const std::optional<std::vector<int64_t>> pads = ConstantInts(node, 1);
  if (node.attributes().String("mode", "constant") != "constant") return std::nullopt;
  if (!pads || pads->size() % 2 != 0) return std::nullopt;
  const std::optional<std::vector<int>> axes = AxesOf(node, 3, pads->size() / 2);
  const bool all = axes && (node.input(3).present() || std::ssize(*axes) == x.rank());
  if (!all) return std::nullopt;
  RegionParams params = Whole(x.rank());
  for (size_t i = 0; i < axes->size(); ++i) {
    const int axis = (*axes)[i];
    const int64_t begin = (*pads)[i], end = (*pads)[axes->size() + i];
    constexpr int64_t kLargest = int64_t{1} << 48;
    if (std::abs(begin) > kLargest || std::abs(end) > kLargest) return std::nullopt;
    if (x[axis] + begin + end != y[axis]) return std::nullopt;
    params.starts[axis] = -begin;
  }
  NodeCall call = node.Call(std::move(params), LayoutRule::kFollow, 1);
  const TensorDesc& fill = node.input(2);
  if (!fill.present()) return call;
  if (fill.shape.num_elements() != 1) return std::nullopt;
  call.call.inputs.push_back(fill);
  call.inputs.push_back(node.node().inputs[2]);
  call.follows.push_back(false);
  return call;
}

}  // namespace kheya
