// Operators of ai.onnx.ml.
#include <memory>
#include <utility>

#include "ops/ml/ml_util.h"
#include "ops/ml/tree_attributes.h"
#include "runtime/node_call_builders.h"

namespace kheya {

// nullopt where the attributes are wrong: the operator's evaluate says in which way.
std::optional<NodeCall> MakeTreesCall(const NodeShapes& node) {
  const Shape& x = node.input(0).shape;
  if (x.rank() < 1 || x.rank() > 2) return std::nullopt;
  Result<kernels::TreeModel> model = ml::ReadTreeModel(node.node(), x[x.rank() - 1]);
  if (!model.ok()) return std::nullopt;
  TreesParams params;
  if (model->scoring.classifies) {
    Result<ml::ClassLabels> labels = ml::LabelsOf(node.attributes(), "classlabels_int64s");
    if (!labels.ok() || labels->use_strings()) return std::nullopt;
    params.labels = std::move(labels->numbers);
  }
  params.model = std::make_shared<const kernels::TreeModel>(std::move(model).value());
  return node.Call(std::move(params), LayoutRule::kPlain, 1);
}

}  // namespace kheya
