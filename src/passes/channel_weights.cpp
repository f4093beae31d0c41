#include "passes/channel_weights.h"

#include <algorithm>

#include "base/checked_math.h"
#include "ops/contexts.h"
#include "passes/match.h"

namespace kheya {
namespace {

// How weights are laid out: `blocks` of `channels` runs of `run` elements; block b holds those of
// output channels from (b / blocks_per_group) * channels on.
struct Layout {
  int64_t blocks = 1;
  int64_t blocks_per_group = 1;
  int64_t channels = 0;
  int64_t run = 1;
};

bool IsTransB(const Node& node) { return AttributeReader(node).Int("transB", 0) != 0; }

Layout LayoutOf(const Node& node, const Shape& w) {
  if (IsOp(node, "Conv")) return {1, 1, w[0], w.Product(1, w.rank())};
  if (IsOp(node, "Gemm")) {
    return IsTransB(node) ? Layout{1, 1, w[0], w[1]} : Layout{w[0], w[0], w[1], 1};
  }
  const int64_t groups = std::max<int64_t>(AttributeReader(node).Int("group", 1), 1);
  return {w[0], std::max<int64_t>(w[0] / groups, 1), w[1], w.Product(2, w.rank())};
}

}  // namespace

std::optional<int64_t> OutputChannels(const Graph& graph, const Node& node) {
  const SymbolicShape* w = ShapeOf(graph, InputOf(node, 1));
  if (w == nullptr || w->size() < 2) return std::nullopt;
  if (IsOp(node, "Conv")) return (*w)[0].maybe();
  if (IsOp(node, "Gemm")) return (*w)[IsTransB(node) ? 0 : 1].maybe();
  int64_t channels = 0;
  const std::optional<int64_t> per_group = (*w)[1].maybe();
  if (!per_group || !CheckedMul(*per_group, AttributeReader(node).Int("group", 1), &channels)) {
    return std::nullopt;
  }
  return channels;
}

std::optional<std::vector<double>> BiasOf(const Graph& graph, const Node& node, int64_t channels) {
  const ValueId bias = InputOf(node, 2);
  const auto count = static_cast<size_t>(channels);
  if (!bias.valid()) return std::vector<double>(count, 0.0);
  if (DTypeOfValue(graph, bias) != DType::kFloat32) return std::nullopt;
  std::optional<std::vector<double>> values = ConstantFloats(graph, bias);
  if (!values) return std::nullopt;
  const Shape& shape = graph.Constant(bias)->shape();
  if (values->size() == 1) {
    values = std::vector<double>(count, (*values)[0]);
  } else if (values->size() != count || shape[shape.rank() - 1] != channels) {
    return std::nullopt;
  }
  if (IsOp(node, "Gemm")) {
    const double beta = AttributeReader(node).Float("beta", 1.0f);
    for (double& value : *values) value *= beta;
  }
  return values;
}

std::optional<std::vector<double>> PerChannelConstant(const Graph& graph, ValueId value,
                                                      int64_t channels, int rank) {
  auto values = ConstantFloats(graph, value);
  if (!values) return std::nullopt;
  const Shape& shape = graph.Constant(value)->shape();
  if (shape.rank() > rank) return std::nullopt;
  if (values->size() == 1) return std::vector<double>(static_cast<size_t>(channels), (*values)[0]);
  const int channel_axis = shape.rank() - (rank - 1);
  if (channel_axis < 0 || shape[channel_axis] != channels || shape.num_elements() != channels) {
    return std::nullopt;
  }
  return values;
}

Result<Tensor> ScaleWeights(const Graph& graph, const Node& node, std::span<const double> scale) {
  const Tensor& w = *graph.Constant(node.inputs[1]);
  KHEYA_ASSIGN_OR_RETURN(Tensor scaled, Tensor::Allocate(DType::kFloat32, w.shape()));
  const std::span<float> out = scaled.mutable_data<float>();
  const Layout layout = LayoutOf(node, w.shape());
  int64_t at = 0;
  for (int64_t block = 0; block < layout.blocks; ++block) {
    const int64_t first = block / layout.blocks_per_group * layout.channels;
    for (int64_t channel = 0; channel < layout.channels; ++channel) {
      const double factor = scale[static_cast<size_t>(first + channel)];
      for (int64_t i = 0; i < layout.run; ++i, ++at) {
        out[static_cast<size_t>(at)] = static_cast<float>(w.At<float>(at) * factor);
      }
    }
  }
  return scaled;
}

NodeSpec SpecOf(const Node& node) {
  return {.op = node.op,
          .domain = node.domain,
          .name = node.name,
          .inputs = node.inputs,
          .attributes = node.attributes};
}

}  // namespace kheya
