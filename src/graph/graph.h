// Graph: a model as nodes and values in one canonical operator set.
//
//   Graph graph("mlp");
//   ValueId x = graph.AddInput("x", ValueType::OfTensor(DType::kFloat32, SymbolicShape{n, 3}));
//   ValueId w = graph.AddConstant("w", weights);
//   NodeId node = graph.AddNode({.op = "MatMul", .inputs = {x, w}, .outputs = {"y"}}).value();
//   graph.AddOutput("y", graph.node(node).outputs[0]);
//
// A value is made by exactly one of: a graph input, a constant, a node's output, a capture (in a
// subgraph: a value of the enclosing graph). Nodes and values live in tables and are named by ids
// that stay valid until the thing is removed; removed ids are not used again.
//
// Every node is of the operator set version kCanonicalOpset of its domain: importers turn older
// semantics into it, so that nothing behind them asks for versions.
//
// The methods keep uses and producers consistent; they do not check operators, types or cycles:
// that is Verify (graph/verify.h) and VerifyModel (ops/verify_model.h). Passes change a graph
// through Patch (graph/patch.h) only.
// Thread safety: const members may be called from many threads. Tensors are shared, not copied.
#ifndef KHEYA_GRAPH_GRAPH_H_
#define KHEYA_GRAPH_GRAPH_H_

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/status.h"
#include "graph/attribute.h"
#include "tensor/tensor.h"
#include "tensor/value.h"

namespace kheya {

// The ai.onnx operator set that graphs are in.
inline constexpr int kCanonicalOpset = 28;
// The domain of Kheya's own operators (fused and internal forms); never written to a model file.
inline constexpr const char* kInternalDomain = "kheya";
// The most elements of an int64 value that is propagated through shape arithmetic.
inline constexpr int64_t kMaxPropagatedElements = 1024;

struct NodeId {
  int32_t index = -1;
  bool valid() const { return index >= 0; }
  auto operator<=>(const NodeId&) const = default;
};

struct ValueId {
  int32_t index = -1;
  bool valid() const { return index >= 0; }  // false: an empty optional input or output
  auto operator<=>(const ValueId&) const = default;
};

// A place where a value is used: input `index` of `node`, or, with index kCaptured, a capture by
// one of the node's subgraphs.
struct Use {
  static constexpr int kCaptured = -1;
  NodeId node;
  int index = 0;
  bool operator==(const Use&) const = default;
};

struct Node {
  std::string op;                // "Conv"
  std::string domain;            // "" is ai.onnx
  std::string name;              // may be empty; not necessarily unique
  std::vector<ValueId> inputs;   // invalid ids: optional inputs left out
  std::vector<ValueId> outputs;  // invalid ids: outputs nobody asked for
  std::vector<Attribute> attributes;

  const Attribute* FindAttribute(std::string_view attribute) const;
  // "node 'conv1' (Conv)", for error contexts.
  std::string Describe() const;
};

enum class ValueOrigin : uint8_t { kNode, kInput, kConstant, kCapture };

struct GraphValue {
  std::string name;  // unique in its graph
  ValueType type;
  ValueOrigin origin = ValueOrigin::kNode;
  NodeId producer;       // when origin is kNode
  int output_index = 0;  // when origin is kNode
  ValueId outer;         // when origin is kCapture: the value of the enclosing graph
  Tensor constant;       // when origin is kConstant
  // Known or symbolic elements of a small integer tensor (rank 0 or 1), where inference found them.
  std::optional<std::vector<Dim>> elements;
  // By nodes of this graph, in no particular order; a node that captures the value has one use of
  // index kCaptured, however many captures it has. Graph outputs are not among them.
  std::vector<Use> uses;
  int num_graph_outputs = 0;  // how many graph outputs this value is
};

struct GraphOutput {
  std::string name;  // the name callers know, whatever the value is called
  ValueId value;
};

// What a file says for people of one thing in a graph.
struct Note {
  std::string doc;
  std::vector<std::pair<std::string, std::string>> metadata;
};

// By index of the node or constant, by name of the input or output. What is gone from the graph may
// still be here.
struct Notes {
  std::map<int32_t, Note> nodes;
  std::map<int32_t, Note> constants;
  std::map<std::string, Note> inputs;  // also of default_inputs
  std::map<std::string, Note> outputs;
};

// What AddNode makes a node from. An empty output name leaves that output out; a name that is
// taken gets a suffix.
struct NodeSpec {
  std::string op;
  std::string domain = {};
  std::string name = {};
  std::vector<ValueId> inputs = {};
  std::vector<std::string> outputs = {};
  std::vector<Attribute> attributes = {};
};

class Graph {
 public:
  explicit Graph(std::string name = "") : name_(std::move(name)) {}
  Graph(Graph&&) = default;
  Graph& operator=(Graph&&) = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  // A deep copy, subgraphs included; tensors are shared. Ids stay the same.
  Graph Clone() const;

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  // Free-form pairs of the model file, in order ("kheya.spec" holds the ModelSpec).
  const std::vector<std::pair<std::string, std::string>>& metadata() const { return metadata_; }
  std::vector<std::pair<std::string, std::string>>& metadata() { return metadata_; }
  const std::string* FindMetadata(std::string_view key) const;
  // As declared by the file, for people: domain and version.
  std::vector<std::pair<std::string, int64_t>> declared_opsets;
  std::string producer;  // "pytorch 2.1", for people
  // What else the file says of the model and of its graph, kept when it is written again.
  std::string model_domain;  // "org.example"
  int64_t model_version = 0;
  // Constants that callers of the file might have replaced: it lists them as inputs too.
  std::vector<std::string> default_inputs;
  std::string doc;  // of the graph; the model's own is the metadata "doc_string"
  std::vector<std::pair<std::string, std::string>> graph_metadata;
  Notes notes;

  // Building.
  ValueId AddInput(std::string name, ValueType type);
  ValueId AddConstant(std::string name, Tensor tensor);
  // In a subgraph: the value that stands for `outer` of the enclosing graph; the same one each
  // time. After a capture was added to a subgraph that already is an attribute, or removed from it,
  // call RefreshCaptures of the enclosing graph.
  ValueId AddCapture(std::string name, ValueId outer, ValueType type);
  // InvalidArgument when an input id or a captured value is not live. Output types are unknown
  // until inferred.
  Result<NodeId> AddNode(NodeSpec spec);
  void AddOutput(std::string name, ValueId value);

  // Looking.
  const std::vector<ValueId>& inputs() const { return inputs_; }
  const std::vector<GraphOutput>& outputs() const { return outputs_; }
  const std::vector<ValueId>& captures() const { return captures_; }
  bool IsLive(NodeId id) const;
  bool IsLive(ValueId id) const;
  // The id must be live.
  const Node& node(NodeId id) const { return *nodes_[id.index]; }
  const GraphValue& value(ValueId id) const { return *values_[id.index]; }
  std::optional<ValueId> FindValue(std::string_view name) const;
  // Live ids in order of their making.
  std::vector<NodeId> NodeIds() const;
  std::vector<ValueId> ValueIds() const;
  int64_t num_nodes() const { return num_nodes_; }
  // Upper bounds of indices, for tables beside the graph.
  int32_t node_index_bound() const { return static_cast<int32_t>(nodes_.size()); }
  int32_t value_index_bound() const { return static_cast<int32_t>(values_.size()); }
  bool IsOutput(ValueId id) const { return value(id).num_graph_outputs > 0; }
  // The constant tensor of a value, or null.
  const Tensor* Constant(ValueId id) const;
  // Producers before users (captures count), ties in order of making. InvalidArgument naming a
  // node on the cycle.
  Result<std::vector<NodeId>> TopologicalOrder() const;
  // A name not yet taken, made from `base`.
  std::string UniqueName(std::string_view base) const;

  // Changing. For importers, inference and Patch; passes use Patch.
  void SetType(ValueId id, ValueType type);
  void SetElements(ValueId id, std::optional<std::vector<Dim>> elements);
  void SetNodeName(NodeId id, std::string name);
  void RenameValue(ValueId id, std::string name);      // the new name must be free
  void SetInput(NodeId id, int index, ValueId value);  // grows the list when needed
  void SetAttribute(NodeId id, Attribute attribute);   // adds or replaces
  void RemoveAttribute(NodeId id, std::string_view name);
  // Every use of `from`, captures and graph outputs included, becomes one of `to`, save those by
  // the nodes `except`.
  void ReplaceUses(ValueId from, ValueId to, std::span<const NodeId> except = {});
  void SetOutput(int index, ValueId value);
  // Removes a node and its outputs, which must be without uses.
  Status RemoveNode(NodeId id);
  // Removes a constant, an input or a capture without uses.
  Status RemoveValue(ValueId id);
  // Counts the capture uses of a node again, after captures of its subgraphs came or went.
  void RefreshCaptures(NodeId id);
  // The subgraphs of a node, in order of its attributes.
  std::vector<Graph*> Subgraphs(NodeId id);
  std::vector<const Graph*> Subgraphs(NodeId id) const;

 private:
  friend class GraphTestPeer;

  ValueId NewValue(std::string name, ValueType type, ValueOrigin origin);
  Node& mutable_node(NodeId id) { return *nodes_[id.index]; }
  GraphValue& mutable_value(ValueId id) { return *values_[id.index]; }
  Status CheckSpec(const NodeSpec& spec) const;
  Status CycleError(const std::vector<int64_t>& waiting) const;
  void AddUse(ValueId value, Use use);
  void RemoveUse(ValueId value, Use use);
  void AddCaptureUses(NodeId id);
  void RemoveCaptureUses(NodeId id);
  void ReplaceCaptures(NodeId id, ValueId from, ValueId to);
  void EraseValue(ValueId id);

  std::string name_;
  std::vector<std::pair<std::string, std::string>> metadata_;
  std::vector<std::unique_ptr<Node>> nodes_;         // null: removed
  std::vector<std::unique_ptr<GraphValue>> values_;  // null: removed
  std::vector<ValueId> inputs_;
  std::vector<ValueId> captures_;
  std::vector<GraphOutput> outputs_;
  std::unordered_map<std::string, ValueId> by_name_;
  std::unordered_map<int32_t, ValueId> capture_by_outer_;  // by the index of the outer value
  std::unordered_map<std::string, int> next_suffix_;       // where UniqueName starts to count
  int64_t num_nodes_ = 0;
};

}  // namespace kheya

#endif  // KHEYA_GRAPH_GRAPH_H_
