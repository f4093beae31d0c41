// Importer: builds a Graph from a parsed ONNX model.
//
// It walks the nodes in order, scope by scope. A scope is the body of a graph, a subgraph or a
// function call: names to values. Initializers become constants when they are first used, function
// calls are replaced by their bodies, and nodes of older operator sets are rewritten (upgrade.h).
#ifndef KHEYA_FORMATS_ONNX_IMPORTER_H_
#define KHEYA_FORMATS_ONNX_IMPORTER_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "formats/limits.h"
#include "formats/onnx/notes.h"
#include "formats/onnx/onnx.h"
#include "formats/onnx/proto.h"
#include "formats/onnx/tensor_reader.h"
#include "graph/graph.h"

namespace kheya::onnx {

class Importer {
 public:
  // All must outlive the importer. `warnings` may be null.
  Importer(const ModelProto& model, const TensorReader& tensors, const ImportOptions& options,
           std::vector<std::string>* warnings)
      : model_(model), tensors_(tensors), options_(options), warnings_(warnings) {}

  Result<Graph> Import();

 private:
  // Versions by domain.
  using Opsets = std::map<std::string_view, int64_t>;
  using Arguments = std::unordered_map<std::string_view, const AttributeProto*>;

  // An initializer that nothing has used yet; one of the two is set.
  struct Initializer {
    const TensorProto* dense = nullptr;
    const SparseTensorProto* sparse = nullptr;
  };

  struct Scope {
    Graph* graph = nullptr;
    Scope* parent = nullptr;  // of the enclosing graph; null in models and functions
    const Opsets* opsets = nullptr;
    // An invalid id: an optional input of a function that the call left out.
    std::unordered_map<std::string_view, ValueId> values = {};
    std::unordered_map<std::string_view, Initializer> initializers = {};
    std::unordered_map<std::string_view, const ValueType*> declared = {};
    // In functions: the call's attributes, the names that outputs get, what others start with.
    const Arguments* arguments = nullptr;
    std::unordered_map<std::string_view, std::string> output_names = {};
    std::string prefix = {};
  };

  Status ReadOpsets(const std::vector<OpsetImport>& imports, Opsets& opsets);
  Status IndexFunctions();
  void CopyFacts(Graph& graph);
  static void CopyGraphFacts(const GraphProto& proto, Graph& graph);
  void Warn(std::string text);

  // Everything of `proto` but what is around it: declared inputs, nodes, outputs.
  Status ImportGraph(const GraphProto& proto, Scope& scope);
  Status AddInitializers(const GraphProto& proto, Scope& scope);
  Status AddInputs(const GraphProto& proto, Scope& scope);
  Status AddOutputs(const GraphProto& proto, Scope& scope);
  Status ImportNodes(const std::vector<NodeProto>& nodes, Scope& scope);

  Status ImportNode(const NodeProto& node, Scope& scope);
  Status ImportConstant(const NodeProto& node, Scope& scope);
  Status AddNode(const NodeProto& node, NodeSpec spec, Scope& scope);
  std::string NodeName(const NodeProto& node, const Scope& scope) const;
  std::string OutputName(std::string_view name, const Scope& scope) const;
  Status Bind(std::string_view name, ValueId value, Scope& scope);

  // The value called `name`; captures it from an enclosing graph, makes a constant of an
  // initializer. InvalidArgument when there is none.
  Result<ValueId> Lookup(std::string_view name, Scope& scope);
  // Like Lookup, nullopt when there is none.
  Result<std::optional<ValueId>> Find(std::string_view name, Scope& scope);

  // nullopt: the attribute refers to one that the function's call left out.
  Result<std::optional<Attribute>> ImportAttribute(const AttributeProto& proto, Scope& scope);
  Result<AttributeValue> ImportAttributeValue(const AttributeProto& proto, Scope& scope);
  Result<std::shared_ptr<Graph>> ImportSubgraph(const GraphProto& proto, Scope& scope);
  // The attribute itself, or the call's that it refers to; null when the call left it out.
  const AttributeProto* Resolve(const AttributeProto& proto, const Scope& scope) const;

  const FunctionProto* FindFunction(const NodeProto& node) const;
  Status InlineFunction(const FunctionProto& function, const NodeProto& call, Scope& scope);
  Status BindFunctionInputs(const FunctionProto& function, const NodeProto& call, Scope& caller,
                            Scope& body);
  Status BindFunctionOutputs(const FunctionProto& function, const NodeProto& call, Scope& caller,
                             Scope& body);
  // Keeps calls of large functions by many from costing more than a file can hold.
  Status CountNode(const NodeProto& node);
  // Keeps what a message says for people, where that was asked for.
  template <typename Key>
  Status KeepNote(ByteSpan message, NoteFields fields, const Key& key, std::map<Key, Note>& notes) {
    if (!options_.keep_notes) return OkStatus();
    KHEYA_ASSIGN_OR_RETURN(Note note, ReadNote(message, fields));
    num_notes_ += static_cast<int64_t>(note.metadata.size());
    if (num_notes_ > limits::kNotes) {
      return ResourceExhaustedError("found more than {} metadata texts of nodes and values",
                                    limits::kNotes);
    }
    if (!note.doc.empty() || !note.metadata.empty()) notes.insert_or_assign(key, std::move(note));
    return OkStatus();
  }

  const ModelProto& model_;
  const TensorReader& tensors_;
  const ImportOptions& options_;
  std::vector<std::string>* warnings_;
  Opsets opsets_;
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, const FunctionProto*>
      functions_;
  std::vector<const FunctionProto*> active_calls_;
  int64_t num_nodes_ = 0;
  int64_t inlined_work_ = 0;
  int64_t num_notes_ = 0;
};

}  // namespace kheya::onnx

#endif  // KHEYA_FORMATS_ONNX_IMPORTER_H_
