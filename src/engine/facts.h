// Counting over graphs.
#ifndef KHEYA_ENGINE_FACTS_H_
#define KHEYA_ENGINE_FACTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "graph/graph.h"

namespace kheya {

std::vector<TensorInfo> InputInfos(const Graph& graph);
std::vector<TensorInfo> OutputInfos(const Graph& graph);

// Multiply-accumulates of one run; nullopt where the shapes of an operator that counts them are not
// known or the sum overflows.
std::optional<int64_t> CountMacs(const Graph& graph);
// The same with every input dimension that is not known taken as 1, save those in `shapes`.
std::optional<int64_t> CountMacs(const Graph& graph, const std::map<std::string, Shape>& shapes);

// Shapes for the inputs of a tensor kind that are not fully known, unknown dimensions taken as 1.
std::map<std::string, Shape> SmallestShapes(const Graph& graph);

}  // namespace kheya

#endif  // KHEYA_ENGINE_FACTS_H_
