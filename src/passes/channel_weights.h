// The constant weights and biases of operators whose output has channels: Conv, ConvTranspose and
// Gemm.
#ifndef KHEYA_PASSES_CHANNEL_WEIGHTS_H_
#define KHEYA_PASSES_CHANNEL_WEIGHTS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace kheya {

// Output channels, where the weights' shape is known.
std::optional<int64_t> OutputChannels(const Graph& graph, const Node& node);

// The bias with one value a channel (Gemm: times beta), zeros when there is none; nullopt when it
// is not a float32 constant of one value a channel or one value.
std::optional<std::vector<double>> BiasOf(const Graph& graph, const Node& node, int64_t channels);

// One value a channel when `value` is a constant that acts alike on all positions of a channel of a
// tensor of this rank.
std::optional<std::vector<double>> PerChannelConstant(const Graph& graph, ValueId value,
                                                      int64_t channels, int rank);

// The constant float32 weights with everything that goes into output channel c times scale[c].
Result<Tensor> ScaleWeights(const Graph& graph, const Node& node, std::span<const double> scale);

// A spec for a node like this one, save its outputs.
NodeSpec SpecOf(const Node& node);

}  // namespace kheya

#endif  // KHEYA_PASSES_CHANNEL_WEIGHTS_H_
