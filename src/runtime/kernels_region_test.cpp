// Slices, padding and transposed convolutions for the comparison of kernels.
#include "runtime/kernel_case.h"

namespace kheya {
namespace {

using Ints = std::vector<int64_t>;

ValueId IntList(Case& c, const Ints& values) {
  const Shape shape{std::ssize(values)};
  return c.Constant(Tensor::FromValues<int64_t>(shape, std::span<const int64_t>(values)));
}

}  // namespace

void MakeRegion(Rng& rng, Case& c) {
  const Shape shape{Draw(rng, 1, 3), Draw(rng, 1, 9), Draw(rng, 1, 9), Draw(rng, 1, 12)};
  const ValueId x = c.Input(RandomTensor(rng, shape));
  Ints starts, ends, axes, steps;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (Draw(rng, 0, 2) == 0) continue;
    const int64_t size = shape[axis], low = Draw(rng, 0, size - 1), high = Draw(rng, low + 1, size);
    const bool back = Draw(rng, 0, 3) == 0;
    axes.push_back(Draw(rng, 0, 1) ? axis : axis - shape.rank());
    starts.push_back(back ? high - 1 : low - (Draw(rng, 0, 3) == 0 ? size : 0));
    ends.push_back(back ? low - 1 - size : high == size ? int64_t{1} << 60 : high);
    steps.push_back(back ? -Draw(rng, 1, 3) : Draw(rng, 1, 3));
  }
  c.Output(c.Node("Slice",
                  {x, IntList(c, starts), IntList(c, ends), IntList(c, axes), IntList(c, steps)}));
  Ints pads(8, 0);
  for (int axis = 0; axis < shape.rank(); ++axis) {
    pads[axis] = Draw(rng, 0, 1) ? 0 : Draw(rng, -(shape[axis] - 1) / 2, 3);
    pads[4 + axis] = Draw(rng, 0, 1) ? 0 : Draw(rng, -(shape[axis] - 1) / 2, 3);
  }
  const ValueId fill = Draw(rng, 0, 1) ? c.Constant(Tensor::Scalar<float>(1.5f)) : ValueId();
  c.Output(c.Node("Pad", {x, IntList(c, pads), fill}));
  // Behind a convolution both meet channels-last memory.
  const ValueId w = c.Constant(RandomTensor(rng, Shape{6, shape[1], 1, 1}));
  const ValueId y = c.Node("Conv", {x, w});
  c.Output(c.Node("Slice", {y, IntList(c, {2}), IntList(c, {5}), IntList(c, {1})}));
  c.Output(c.Node("Pad", {y, IntList(c, {0, 0, 1, 1, 0, Draw(rng, 0, 2), 1, 1})}));
}

void MakeConvTranspose(Rng& rng, Case& c) {
  const bool flat = Draw(rng, 0, 3) == 0;
  const int64_t groups = Draw(rng, 0, 6) == 0 ? 2 : 1;
  const int64_t in = groups * Draw(rng, 1, 20), out = Draw(rng, 0, 1) ? 32 : Draw(rng, 1, 20);
  const int64_t spatial = flat ? 1 : 2;
  Ints x = {Draw(rng, 1, 3), in}, w = {in, out}, strides, dilations, pads, extra;
  const bool tiles = Draw(rng, 0, 1) != 0;  // kernels side by side
  for (int64_t i = 0; i < spatial; ++i) {
    x.push_back(Draw(rng, 1, 9));
    strides.push_back(Draw(rng, 1, 3));
    w.push_back(tiles ? strides.back() : Draw(rng, 1, 4));
    dilations.push_back(tiles ? 1 : Draw(rng, 1, 2));
    extra.push_back(Draw(rng, 0, 1) ? 0 : Draw(rng, 0, strides.back() - 1));
  }
  for (int64_t i = 0; i < 2 * spatial; ++i) {
    pads.push_back(tiles ? 0 : Draw(rng, 0, (w[2 + i % spatial] - 1) / 2));
  }
  const ValueId data = c.Input(SpoilSometimes(rng, RandomTensor(rng, Shape::Create(x).value())));
  const ValueId weights = c.Constant(RandomTensor(rng, Shape::Create(w).value()));
  const ValueId bias =
      Draw(rng, 0, 1) ? c.Constant(RandomTensor(rng, Shape{out * groups})) : ValueId();
  c.Output(c.Node("ConvTranspose", {data, weights, bias},
                  {{"strides", strides},
                   {"dilations", dilations},
                   {"pads", pads},
                   {"output_padding", extra},
                   {"group", groups}}));
}

}  // namespace kheya
