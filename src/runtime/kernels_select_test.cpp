// Resize and TopK for the comparison of kernels.
#include <array>

#include "runtime/kernel_case.h"

namespace kheya {
namespace {

std::string OneOf(Rng& rng, std::span<const char* const> words) {
  return words[static_cast<size_t>(Draw(rng, 0, std::ssize(words) - 1))];
}

}  // namespace

void MakeResize(Rng& rng, Case& c) {
  constexpr std::array kModes = {"nearest", "linear", "cubic"};
  constexpr std::array kNearest = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
  constexpr std::array kCoordinates = {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                                       "align_corners", "asymmetric"};
  const int rank = static_cast<int>(Draw(rng, 1, 5));
  std::vector<int64_t> dims, sizes;
  std::vector<float> scales;
  for (int i = 0; i < rank; ++i) {
    dims.push_back(Draw(rng, 1, 9));
    const bool kept = i < 2 ? Draw(rng, 0, 4) != 0 : Draw(rng, 0, 3) == 0;
    sizes.push_back(kept ? dims.back() : Draw(rng, 1, 2 * dims.back() + 8));
    scales.push_back(kept ? 1.0f : static_cast<float>(Draw(rng, 1, 12)) / 4);
    if (scales.back() * static_cast<float>(dims.back()) < 1) scales.back() = 2;
  }
  const std::string mode = OneOf(rng, kModes);
  std::vector<Attribute> attributes = {
      {"mode", mode},
      {"nearest_mode", OneOf(rng, kNearest)},
      {"coordinate_transformation_mode", OneOf(rng, kCoordinates)},
      {"exclude_outside", Draw(rng, 0, 1)},
      {"antialias", int64_t{mode != "nearest" && Draw(rng, 0, 1) != 0}}};
  const bool by_size = Draw(rng, 0, 1) != 0;
  const Shape list{rank};
  const ValueId wanted = c.Constant(by_size ? Tensor::FromValues<int64_t>(list, sizes)
                                            : Tensor::FromValues<float>(list, scales));
  const Shape shape = Shape::Create(dims).value();
  const ValueId x = c.Input(SpoilSometimes(rng, RandomTensor(rng, shape)));
  const auto resize = [&](ValueId data) {
    return c.Node("Resize",
                  by_size ? std::vector{data, ValueId(), ValueId(), wanted}
                          : std::vector{data, ValueId(), wanted},
                  attributes);
  };
  c.Output(resize(x));
  if (rank != 4) return;
  // Behind a convolution it meets channels-last memory.
  const ValueId w = c.Constant(RandomTensor(rng, Shape{shape[1], shape[1], 1, 1}));
  c.Output(resize(c.Node("Conv", {x, w})));
}

void MakeTopK(Rng& rng, Case& c) {
  const Shape shape{Draw(rng, 1, 3), Draw(rng, 1, 3) == 1 ? Draw(rng, 1, 4) : Draw(rng, 1, 700),
                    Draw(rng, 1, 3)};
  const int64_t axis = Draw(rng, -3, 2);
  const int64_t size = shape[static_cast<int>(axis < 0 ? axis + 3 : axis)];
  const ValueId k = c.Constant(
      Tensor::FromValues<int64_t>(Shape{1}, {Draw(rng, 1, std::min<int64_t>(size, 40))}));
  Tensor x = RandomTensor(rng, shape);
  const int64_t form = Draw(rng, 0, 3);  // ties, NaN and zeros of both signs; in order
  for (float& value : x.mutable_data<float>()) {
    if (form == 0) value = std::round(value);
    if (form == 0 && Draw(rng, 0, 30) == 0) value = NAN;
    if (form == 0 && Draw(rng, 0, 30) == 0) value = INFINITY;
  }
  if (form == 1) std::sort(x.mutable_data<float>().begin(), x.mutable_data<float>().end());
  const NodeId node = c.graph
                          .AddNode({.op = "TopK",
                                    .name = "top",
                                    .inputs = {c.Input(std::move(x)), k},
                                    .outputs = {"values", "places"},
                                    .attributes = {{"axis", axis}, {"largest", Draw(rng, 0, 1)}}})
                          .value();
  c.Output(c.graph.node(node).outputs[0]);
  c.Output(c.graph.node(node).outputs[1]);
}

}  // namespace kheya
