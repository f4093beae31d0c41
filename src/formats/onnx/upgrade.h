// UpgradeNode: rewrites a node of an older operator set into the canonical one.
//
// One table, in upgrade.cpp, lists by operator and range of versions what changed since. A rule
// edits the node in place and may put other nodes and constants before it.
#ifndef KHEYA_FORMATS_ONNX_UPGRADE_H_
#define KHEYA_FORMATS_ONNX_UPGRADE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"

namespace kheya::onnx {

// `spec` is of ai.onnx and of opset `version`, its inputs are in `graph`. Unimplemented when the
// old meaning has no canonical form. Outputs keep their positions; trailing ones that no longer
// exist are dropped.
Status UpgradeNode(Graph& graph, int64_t version, NodeSpec& spec);

// What the rules work with: the node and the graph around it.
class Upgrade {
 public:
  Upgrade(Graph& graph, int64_t version, NodeSpec& spec)
      : graph_(graph), spec_(spec), version_(version) {}

  Graph& graph() { return graph_; }
  NodeSpec& spec() { return spec_; }
  int64_t version() const { return version_; }

  bool Has(std::string_view name) { return Locate(name) != spec_.attributes.end(); }
  // Removes the attribute and gives its value; null when it is missing. InvalidArgument when it is
  // of another kind.
  template <typename T>
  Result<std::optional<T>> Take(std::string_view name) {
    const auto it = Locate(name);
    if (it == spec_.attributes.end()) return std::optional<T>();
    T* value = std::get_if<T>(&it->value);
    if (value == nullptr) return KindError(*it);
    std::optional<T> taken(std::move(*value));
    spec_.attributes.erase(it);
    return taken;
  }
  void Remove(std::string_view name);
  void Set(std::string_view name, AttributeValue value);
  void SetDefault(std::string_view name, AttributeValue value);

  // Puts `value` at input `index`, left-out inputs before it. InvalidArgument when it is there.
  Status AddInput(size_t index, ValueId value);
  Status AddInput(size_t index, std::string_view name, Tensor tensor);
  Status AddInput(size_t index, std::string_view name, const std::vector<int64_t>& values);
  bool HasInput(size_t index) const;
  int InputRank(size_t index) const;  // -1: not known

  // A node before this one, with one output; named after this one.
  Result<ValueId> Before(NodeSpec spec, std::string_view suffix);
  // A float as an input of the element type of input 0.
  Status AddFloatLikeInput0(size_t index, std::string_view name, float value);

 private:
  std::vector<Attribute>::iterator Locate(std::string_view name);
  static Status KindError(const Attribute& attribute);
  std::string NameFor(std::string_view suffix) const;

  Graph& graph_;
  NodeSpec& spec_;
  int64_t version_;
};

}  // namespace kheya::onnx

#endif  // KHEYA_FORMATS_ONNX_UPGRADE_H_
