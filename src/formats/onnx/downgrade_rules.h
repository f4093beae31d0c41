// The rules of Downgrade, one for each family of operators.
#ifndef KHEYA_FORMATS_ONNX_DOWNGRADE_RULES_H_
#define KHEYA_FORMATS_ONNX_DOWNGRADE_RULES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"

namespace kheya::onnx {

// A node of the canonical operator set that becomes one of an older opset.
class Downgraded {
 public:
  Downgraded(Graph& graph, NodeId id, int opset) : graph(graph), id(id), opset(opset) {}

  const Node& node() const { return graph.node(id); }
  bool HasInput(size_t index) const {
    return index < node().inputs.size() && node().inputs[index].valid();
  }
  std::optional<int> InputRank(size_t index) const;
  // Moves a constant integer input into an attribute of this name; nothing when it is left out.
  // Unimplemented when it is not constant.
  Status InputToInts(size_t index, const char* attribute);
  // The constant integers of an input, and the input is taken away.
  Result<std::optional<std::vector<int64_t>>> TakeInts(size_t index, const char* name);

  Graph& graph;
  const NodeId id;
  const int opset;
};

Status DowngradeAxes(Downgraded& node);
Status DowngradeDft(Downgraded& node);
Status DowngradeDilations(Downgraded& node);
Status DowngradeDropout(Downgraded& node);
Status DowngradeGridSample(Downgraded& node);
Status DowngradeMod(Downgraded& node);
Status DowngradeOrEqual(Downgraded& node);
Status DowngradePad(Downgraded& node);
Status DowngradeQuantize(Downgraded& node);
Status DowngradeReshape(Downgraded& node);
Status DowngradeResize(Downgraded& node);
Status DowngradeRoiAlign(Downgraded& node);
Status DowngradeSoftmax(Downgraded& node);
Status DowngradeSplit(Downgraded& node);

// Operators that older ones make up (downgrade_expand.cpp).
Status ExpandGelu(Downgraded& node);
Status ExpandGroupNormalization(Downgraded& node);
Status ExpandHardSwish(Downgraded& node);
Status ExpandLayerNormalization(Downgraded& node);
Status ExpandMish(Downgraded& node);
Status ExpandRmsNormalization(Downgraded& node);
Status ExpandSwiGlu(Downgraded& node);
Status ExpandSwish(Downgraded& node);

}  // namespace kheya::onnx

#endif  // KHEYA_FORMATS_ONNX_DOWNGRADE_RULES_H_
