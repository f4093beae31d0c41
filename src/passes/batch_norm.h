// BatchNormalization in inference as y = x scale + shift for each channel.
#ifndef KHEYA_PASSES_BATCH_NORM_H_
#define KHEYA_PASSES_BATCH_NORM_H_

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace kheya {

struct ScaleShift {
  std::vector<double> scale;  // scale / sqrt(var + epsilon)
  std::vector<double> shift;  // bias - mean * scale
};

// nullopt, with the reason, when it trains, has more outputs, or its parameters are not float32
// constants of equal length that give finite numbers.
std::optional<ScaleShift> ReadBatchNorm(const Graph& graph, const Node& norm, std::string* reason);

}  // namespace kheya

#endif  // KHEYA_PASSES_BATCH_NORM_H_
