// What every pass sees: its options, its context, its row in the table.
#ifndef KHEYA_PASSES_PASS_H_
#define KHEYA_PASSES_PASS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"
#include "graph/patch.h"

namespace kheya {

// How long a pass took in all its rounds, and how many patches it applied.
struct PassTiming {
  std::string pass;
  double seconds = 0;
  int64_t changes = 0;
};

struct PassOptions {
  // Names of passes that do not run, of any list. An unknown name is InvalidArgument.
  std::vector<std::string> disabled = {};
  // Bytes by which folding may make the model larger, in all.
  uint64_t fold_bytes = uint64_t{64} << 20;
  // Folding leaves alone what takes more multiply-accumulates than this.
  int64_t fold_macs = int64_t{1} << 30;
  std::vector<std::string>* notes = nullptr;   // near misses: why a pattern did not match
  std::vector<PassTiming>* timings = nullptr;  // one entry for each pass that ran
};

// One for all passes of a run. Not thread-safe.
struct PassContext {
  explicit PassContext(const PassOptions& pass_options)
      : options(pass_options), fold_bytes_left(pass_options.fold_bytes) {}

  // Applies the patch and counts it.
  Status Apply(Patch& patch);
  // The same, with a new node whose output 0 takes the place and the name of `value`.
  Status Replace(const Graph& graph, Patch& patch, ValueId value, NodeSpec spec);
  // Records why `node` nearly matched the running pass; once for each text.
  template <typename... Args>
  void Note(const Node& node, fmt::format_string<Args...> format, Args&&... args) {
    if (options.notes != nullptr) AddNote(node, fmt::format(format, std::forward<Args>(args)...));
  }

  const PassOptions& options;
  const char* pass = "";  // the running pass
  int64_t changes = 0;
  uint64_t fold_bytes_left;

 private:
  void AddNote(const Node& node, const std::string& reason);
};

// A pass rewrites one graph, not its subgraphs, through PassContext::Apply alone. It sees inferred
// types, leaves a graph that Verify accepts, and changes nothing when there is nothing to do.
struct PassInfo {
  const char* name;
  Status (*run)(Graph& graph, PassContext& context);
};

// Visits each node that is still there when its turn comes; up to the first error.
using NodeVisitor = Status (*)(Graph& graph, NodeId id, PassContext& context);
Status VisitNodes(Graph& graph, PassContext& context, NodeVisitor visit);
Status VisitNodesInOrder(Graph& graph, PassContext& context, NodeVisitor visit);  // topological

}  // namespace kheya

#endif  // KHEYA_PASSES_PASS_H_
