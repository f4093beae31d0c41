// The text form of graphs: whatever parses is sound and prints as a text that parses to the same.
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "graph/text.h"
#include "graph/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const kheya::Result<kheya::Graph> graph = kheya::ParseGraph(text);
  if (!graph.ok()) return 0;
  kheya::PrintOptions options;
  options.max_constant_elements = std::numeric_limits<int64_t>::max();
  const std::string printed = kheya::PrintGraph(*graph, options);
  const kheya::Result<kheya::Graph> again = kheya::ParseGraph(printed);
  if (!again.ok() || kheya::PrintGraph(*again, options) != printed) std::abort();
  if (!kheya::Verify(graph->Clone()).ok() || kheya::PrintDot(*graph).empty()) std::abort();
  return 0;
}
