// Graphs from text through inference, Simplify and Lower: clean errors, or a graph that is sound.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "graph/text.h"
#include "graph/verify.h"
#include "passes/expand_fused.h"
#include "passes/pipeline.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  kheya::Result<kheya::Graph> graph = kheya::ParseGraph(text);
  if (!graph.ok()) return 0;
  kheya::PassOptions options;
  options.fold_bytes = 1 << 20;
  options.fold_macs = 1 << 20;
  if (!kheya::Simplify(*graph, options).ok() || !kheya::Lower(*graph, options).ok()) return 0;
  if (!kheya::Verify(*graph).ok()) std::abort();
  if (kheya::ExpandFused(*graph).ok() && !kheya::Verify(*graph).ok()) std::abort();
  return 0;
}
