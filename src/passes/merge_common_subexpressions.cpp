#include "passes/merge_common_subexpressions.h"

#include <map>
#include <optional>
#include <type_traits>
#include <unordered_map>

#include "ops/op.h"
#include "passes/match.h"

namespace kheya {
namespace {

// Comparisons of one constant with others that look alike.
constexpr size_t kMaxCandidates = 16;

// Equal keys mean equal things; every part carries its length or is of fixed size.
class Key {
 public:
  template <typename T>
  void Add(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    text_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void AddText(std::string_view text) {
    Add(text.size());
    text_.append(text);
  }
  template <typename T>
  void AddList(const std::vector<T>& list) {
    Add(list.size());
    for (const T& each : list) Add(each);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// False when the attribute is of a kind that is not compared.
bool AddAttribute(const Attribute& attribute, Key& key) {
  key.AddText(attribute.name);
  key.Add(static_cast<uint8_t>(attribute.kind()));
  switch (attribute.kind()) {
    case AttributeKind::kInt:
      key.Add(std::get<int64_t>(attribute.value));
      return true;
    case AttributeKind::kFloat:
      key.Add(std::get<float>(attribute.value));
      return true;
    case AttributeKind::kString:
      key.AddText(std::get<std::string>(attribute.value));
      return true;
    case AttributeKind::kInts:
      key.AddList(std::get<std::vector<int64_t>>(attribute.value));
      return true;
    case AttributeKind::kFloats:
      key.AddList(std::get<std::vector<float>>(attribute.value));
      return true;
    case AttributeKind::kStrings: {
      const auto& list = std::get<std::vector<std::string>>(attribute.value);
      key.Add(list.size());
      for (const std::string& each : list) key.AddText(each);
      return true;
    }
    default:
      return false;
  }
}

// The order of attributes does not matter.
std::optional<std::string> KeyOf(const Node& node) {
  const OpDef* op = FindOp(node.domain, node.op);
  if (op == nullptr || !op->deterministic) return std::nullopt;
  Key key;
  key.AddText(node.domain);
  key.AddText(node.op);
  key.AddList(node.inputs);
  key.Add(node.outputs.size());
  for (ValueId output : node.outputs) key.Add(output.valid());
  std::map<std::string_view, const Attribute*> sorted;
  for (const Attribute& attribute : node.attributes) sorted[attribute.name] = &attribute;
  for (const auto& [name, attribute] : sorted) {
    if (!AddAttribute(*attribute, key)) return std::nullopt;
  }
  return key.text();
}

// Type, shape and the ends of the bytes: reads little of a large constant that has no equal.
std::string SketchOf(const Tensor& tensor) {
  constexpr size_t kEnd = 64;
  Key key;
  key.Add(tensor.dtype());
  key.AddText(tensor.shape().ToString());
  const auto* data = reinterpret_cast<const char*>(tensor.bytes().data());
  const size_t size = tensor.num_bytes();
  if (size <= 2 * kEnd) {
    key.AddText({data, size});
  } else {
    key.AddText({data, kEnd});
    key.AddText({data + size - kEnd, kEnd});
  }
  return key.text();
}

Status MergeConstants(Graph& graph, PassContext& context) {
  std::unordered_map<std::string, std::vector<ValueId>> by_sketch;
  Patch patch(graph);
  for (ValueId id : graph.ValueIds()) {
    const Tensor* tensor = graph.Constant(id);
    if (tensor == nullptr || tensor->dtype() == DType::kString) continue;
    std::vector<ValueId>& candidates = by_sketch[SketchOf(*tensor)];
    ValueId equal;
    for (ValueId candidate : candidates) {
      if (BitwiseEqual(*graph.Constant(candidate), *tensor)) equal = candidate;
    }
    if (equal.valid()) {
      patch.ReplaceValue(id, equal);
    } else if (candidates.size() < kMaxCandidates) {
      candidates.push_back(id);
    }
  }
  return patch.empty() ? OkStatus() : context.Apply(patch);
}

Status MergeNodes(Graph& graph, PassContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const std::vector<NodeId> order, graph.TopologicalOrder());
  std::unordered_map<std::string, NodeId> first_with;
  for (NodeId id : order) {
    if (!graph.IsLive(id)) continue;
    const std::optional<std::string> key = KeyOf(graph.node(id));
    if (!key) continue;
    const auto [it, is_first] = first_with.emplace(*key, id);
    if (is_first) continue;
    Patch patch(graph);
    const std::vector<ValueId>& outputs = graph.node(id).outputs;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].valid())
        patch.ReplaceValue(outputs[i], patch.Output(it->second, static_cast<int>(i)));
    }
    KHEYA_RETURN_IF_ERROR(context.Apply(patch));
  }
  return OkStatus();
}

}  // namespace

Status MergeCommonSubexpressions(Graph& graph, PassContext& context) {
  KHEYA_RETURN_IF_ERROR(MergeConstants(graph, context));
  return MergeNodes(graph, context);
}

}  // namespace kheya
