// The builders behind MakeNodeCall, one for each kernel family.
#ifndef KHEYA_RUNTIME_NODE_CALL_BUILDERS_H_
#define KHEYA_RUNTIME_NODE_CALL_BUILDERS_H_

#include <optional>
#include <string_view>
#include <vector>

#include "ops/contexts.h"
#include "runtime/node_call.h"

namespace kheya {

// A node with the descriptions of its inputs and outputs.
class NodeShapes {
 public:
  NodeShapes(const Graph& graph, const Node& node);

  // All inputs and outputs that are there are tensors of known shape.
  bool known() const { return known_; }
  // The first output is wanted.
  bool has_first() const { return outputs_[0].present(); }
  const Graph& graph() const { return graph_; }
  const Node& node() const { return node_; }
  AttributeReader attributes() const { return AttributeReader(node_); }
  // Not present when left out.
  const TensorDesc& input(size_t index) const;
  const TensorDesc& output(size_t index) const { return outputs_[index]; }
  size_t num_inputs() const { return inputs_.size(); }
  size_t num_outputs() const { return outputs_.size(); }
  // The float that a constant input of one element holds.
  std::optional<float> ConstantFloat(size_t index) const;

  // A call with inputs [0, count) (all when negative) and all outputs of the node.
  NodeCall Call(KernelParams params, LayoutRule rule, int count = -1) const;

 private:
  const Graph& graph_;
  const Node& node_;
  std::vector<TensorDesc> inputs_;
  std::vector<TensorDesc> outputs_;
  bool known_ = true;
};

// The attributes `activation` and `activation_params` of a fused node; nullopt for one that the
// kernels do not know.
std::optional<Elementwise> ReadFusedActivation(const AttributeReader& attributes);

std::optional<NodeCall> MakeConvCall(const NodeShapes& node);
std::optional<NodeCall> MakeConvTransposeCall(const NodeShapes& node);
std::optional<NodeCall> MakePoolCall(const NodeShapes& node);
std::optional<NodeCall> MakeLrnCall(const NodeShapes& node);
std::optional<NodeCall> MakeAffineCall(const NodeShapes& node);
std::optional<NodeCall> MakeGlobalMeanCall(const NodeShapes& node);
std::optional<NodeCall> MakeMatMulCall(const NodeShapes& node);
std::optional<NodeCall> MakeAttentionCall(const NodeShapes& node);
std::optional<NodeCall> MakeUnaryCall(const NodeShapes& node);
bool IsUnaryCall(std::string_view op);  // MakeUnaryCall knows the operator
std::optional<NodeCall> MakeBinaryCall(const NodeShapes& node);
std::optional<NodeCall> MakeSoftmaxCall(const NodeShapes& node);
std::optional<NodeCall> MakeLayerNormCall(const NodeShapes& node);
std::optional<NodeCall> MakeReduceMeanCall(const NodeShapes& node);
std::optional<NodeCall> MakeTransposeCall(const NodeShapes& node);
std::optional<NodeCall> MakeConcatCall(const NodeShapes& node);
std::optional<NodeCall> MakeSplitCall(const NodeShapes& node);
std::optional<NodeCall> MakeGatherCall(const NodeShapes& node);
std::optional<NodeCall> MakeSliceCall(const NodeShapes& node);
std::optional<NodeCall> MakePadCall(const NodeShapes& node);
std::optional<NodeCall> MakeResizeCall(const NodeShapes& node);
std::optional<NodeCall> MakeTopKCall(const NodeShapes& node);
std::optional<NodeCall> MakeRecurrentCall(const NodeShapes& node);
std::optional<NodeCall> MakeTreesCall(const NodeShapes& node);

}  // namespace kheya

#endif  // KHEYA_RUNTIME_NODE_CALL_BUILDERS_H_
