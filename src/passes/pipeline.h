// The passes over graphs: Simplify and Lower. The lists are in pipeline.cpp, read top to bottom.
//
//   std::vector<std::string> notes;
//   KHEYA_RETURN_IF_ERROR(Simplify(graph, {.disabled = {"absorb_batch_norm"}, .notes = &notes}));
//   KHEYA_RETURN_IF_ERROR(Lower(graph, {}));
//
// Both infer types first, run their list over the graph and its subgraphs until a round changes
// nothing (at most kMaxRounds rounds), and after each pass that changed something verify and infer
// again. Failures name the pass; the graph is then to be thrown away.
#ifndef KHEYA_PASSES_PIPELINE_H_
#define KHEYA_PASSES_PIPELINE_H_

#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"
#include "passes/pass.h"

namespace kheya {

inline constexpr int kMaxRounds = 10;

using SimplifyOptions = PassOptions;
using LowerOptions = PassOptions;

// Standard operators in, standard operators out: the graph can be saved as a model.
Status Simplify(Graph& graph, const SimplifyOptions& options);

// Chains become operators of kInternalDomain: the graph is for running, and ExpandFused
// (passes/expand_fused.h) turns it back.
Status Lower(Graph& graph, const LowerOptions& options);

std::span<const PassInfo> SimplifyPasses();
std::span<const PassInfo> LowerPasses();
// All names, in order; what `disabled` may hold.
std::vector<std::string> PassNames();
// The passes of these names alone, in this order, by the same rules; InvalidArgument for an unknown
// name. For tests and tools.
Status RunPasses(Graph& graph, std::span<const std::string> names, const PassOptions& options);

}  // namespace kheya

#endif  // KHEYA_PASSES_PIPELINE_H_
