// From a node of a graph to the KernelCall that computes it.
#ifndef KHEYA_RUNTIME_NODE_CALL_H_
#define KHEYA_RUNTIME_NODE_CALL_H_

#include <optional>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "kernels/call.h"

namespace kheya {

// Which layouts a call may take. An input marked in `follows` has the layout of the output; the
// others are plain.
enum class LayoutRule : uint8_t {
  kPlain,         // row-major alone
  kChannelsLast,  // channels last is better: inputs are reordered for it
  kFollow,        // the layout in which the marked inputs are already there
};

struct NodeCall {
  KernelCall call;              // every layout plain
  std::vector<ValueId> inputs;  // by input of the call; invalid: none
  std::vector<ValueId> outputs;
  LayoutRule rule = LayoutRule::kPlain;
  std::vector<bool> follows;  // by input of the call
};

// nullopt where no kernel family computes this node, or where shapes it depends on are not known.
std::optional<NodeCall> MakeNodeCall(const Graph& graph, const Node& node);

// The family (kernels.inc) that may compute nodes of this operator; empty where none does.
std::string_view KernelFamilyOf(std::string_view domain, std::string_view op);

}  // namespace kheya

#endif  // KHEYA_RUNTIME_NODE_CALL_H_
