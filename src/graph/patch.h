// Patch: the only way in which a pass changes a graph: collected edits, applied together.
//
//   Patch patch(graph);
//   KHEYA_ASSIGN_OR_RETURN(NodeId fused, patch.AddNode({.op = "Gemm", ...}));
//   patch.ReplaceValue(old_output, patch.Output(fused, 0));
//   KHEYA_RETURN_IF_ERROR(patch.Apply());      // nodes left without users go
//
// Added nodes see the graph as it is: replacements do not reach their inputs, so that a node can be
// put behind a value. Apply replaces, keeps the type of a replaced value where the new one has
// none, passes the name of a value that goes on to the added one that replaces it, removes what
// became dead, and leaves the graph untouched on failure where it can be known beforehand (a
// replaced value of another element type or a conflicting shape). A patch that is never applied, or
// fails to, leaves the graph as it was.
#ifndef KHEYA_GRAPH_PATCH_H_
#define KHEYA_GRAPH_PATCH_H_

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"

namespace kheya {

class Patch {
 public:
  explicit Patch(Graph& graph) : graph_(graph) {}
  ~Patch();  // takes back what was not applied
  Patch(const Patch&) = delete;
  Patch& operator=(const Patch&) = delete;

  ValueId AddConstant(std::string name, Tensor tensor);
  Result<NodeId> AddNode(NodeSpec spec);
  ValueId Output(NodeId node, int index) const { return graph_.node(node).outputs[index]; }
  void SetType(ValueId value, ValueType type);  // at once; for outputs of added nodes
  void ReplaceValue(ValueId from, ValueId to);
  void SetInput(NodeId node, int index, ValueId value);
  void SetAttribute(NodeId node, Attribute attribute);
  void RemoveAttribute(NodeId node, std::string name);
  void RemoveNode(NodeId node);     // its outputs must have no uses once replacements are done
  void RemoveValue(ValueId value);  // a constant; likewise
  Status Apply();                   // once
  bool empty() const;

 private:
  struct InputEdit {
    NodeId node;
    int index;
    ValueId value;
  };
  struct AttributeEdit {
    NodeId node;
    Attribute attribute;
    bool remove;
  };
  Status Check() const;
  Status CheckReplacement(ValueId from, ValueId to) const;
  void ApplyAttributes();
  void Replace(ValueId from, ValueId to);
  Status Remove();
  void NoteInputs(NodeId node);
  void RemoveDead();
  void MoveNames();

  Graph& graph_;
  std::vector<NodeId> added_nodes_;
  std::vector<ValueId> added_constants_;
  std::vector<std::pair<ValueId, ValueId>> replacements_;
  std::vector<InputEdit> input_edits_;
  std::vector<AttributeEdit> attribute_edits_;
  std::vector<NodeId> removals_;
  std::vector<ValueId> value_removals_;
  std::vector<ValueId> maybe_dead_;                             // values that lost a use
  std::vector<std::pair<std::string, ValueId>> names_to_move_;  // of replaced values
  bool applied_ = false;
};

}  // namespace kheya

#endif  // KHEYA_GRAPH_PATCH_H_
