#include "formats/onnx/node_order.h"

#include <functional>
#include <queue>
#include <unordered_map>

namespace kheya::onnx {
namespace {

using Producers = std::unordered_map<std::string_view, int32_t>;

Result<Producers> FindProducers(std::span<const NodeProto> nodes) {
  Producers producers;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (std::string_view output : nodes[i].outputs) {
      if (output.empty()) continue;
      const auto [it, added] = producers.emplace(output, static_cast<int32_t>(i));
      if (added) continue;
      return InvalidArgumentError("{}: output {} is already made by {}", Describe(nodes[i]),
                                  Quote(output), Describe(nodes[it->second]));
    }
  }
  return producers;
}

// Calls visit(producer) for every use of a node's output by `node`.
template <typename Visit>
void VisitProducers(const NodeProto& node, const Producers& producers, Visit visit) {
  auto use = [&](std::string_view name) {
    if (auto it = producers.find(name); it != producers.end()) visit(it->second);
  };
  for (std::string_view input : node.inputs) use(input);
  for (const AttributeProto& attribute : node.attributes) {
    for (const auto& graph : attribute.graphs) {
      for (std::string_view name : graph->free_names) use(name);
    }
  }
}

bool InOrder(std::span<const NodeProto> nodes, const Producers& producers) {
  bool in_order = true;
  for (size_t i = 0; i < nodes.size() && in_order; ++i) {
    VisitProducers(nodes[i], producers,
                   [&](int32_t producer) { in_order &= producer < static_cast<int32_t>(i); });
  }
  return in_order;
}

}  // namespace

Result<std::vector<int32_t>> NodeOrder(std::span<const NodeProto> nodes) {
  KHEYA_ASSIGN_OR_RETURN(const Producers producers, FindProducers(nodes));
  std::vector<int32_t> order;
  order.reserve(nodes.size());
  if (InOrder(nodes, producers)) {
    for (size_t i = 0; i < nodes.size(); ++i) order.push_back(static_cast<int32_t>(i));
    return order;
  }
  std::vector<int64_t> waiting(nodes.size(), 0);  // for how many uses
  std::vector<std::vector<int32_t>> users(nodes.size());
  std::priority_queue<int32_t, std::vector<int32_t>, std::greater<>> ready;
  for (size_t i = 0; i < nodes.size(); ++i) {
    VisitProducers(nodes[i], producers, [&](int32_t producer) {
      ++waiting[i];
      users[producer].push_back(static_cast<int32_t>(i));
    });
    if (waiting[i] == 0) ready.push(static_cast<int32_t>(i));
  }
  while (!ready.empty()) {
    const int32_t next = ready.top();
    ready.pop();
    order.push_back(next);
    for (int32_t user : users[next]) {
      if (--waiting[user] == 0) ready.push(user);
    }
  }
  if (order.size() == nodes.size()) return order;
  size_t stuck = 0;
  while (waiting[stuck] == 0) ++stuck;
  return InvalidArgumentError("{}: is on a cycle or behind one", Describe(nodes[stuck]));
}

}  // namespace kheya::onnx
