// Rules for operators of opset 6 that were told how to broadcast.
#include "formats/onnx/upgrade_rules.h"

namespace kheya::onnx {
namespace {

// Adds `count` dimensions of 1 behind those of input 1.
Status AppendDims(Upgrade& upgrade, int rank, int count) {
  if (count <= 0) return OkStatus();
  std::vector<int64_t> axes;
  for (int i = 0; i < count; ++i) axes.push_back(rank + i);
  const Tensor tensor = Tensor::FromValues<int64_t>(Shape{count}, axes);
  const ValueId constant = upgrade.graph().AddConstant("axes", tensor);
  KHEYA_ASSIGN_OR_RETURN(
      upgrade.spec().inputs[1],
      upgrade.Before({.op = "Unsqueeze", .inputs = {upgrade.spec().inputs[1], constant}},
                     "aligned"));
  return OkStatus();
}

}  // namespace

Status UpgradeBroadcast(Upgrade& upgrade) {
  upgrade.Remove("broadcast");
  KHEYA_ASSIGN_OR_RETURN(const std::optional<int64_t> axis, upgrade.Take<int64_t>("axis"));
  if (!axis) return OkStatus();
  const int64_t rank_a = upgrade.InputRank(0);
  const int64_t rank_b = upgrade.InputRank(1);
  if (rank_a < 0 || rank_b < 0) {
    return UnimplementedError("attribute 'axis' of opset {} needs inputs of known ranks",
                              upgrade.version());
  }
  if (*axis < -rank_a || *axis > rank_a - rank_b) {
    return InvalidArgumentError("attribute 'axis': found {}, expected {} to {}", *axis, -rank_a,
                                rank_a - rank_b);
  }
  const int64_t first = *axis < 0 ? *axis + rank_a : *axis;
  return AppendDims(upgrade, static_cast<int>(rank_b), static_cast<int>(rank_a - first - rank_b));
}

Status UpgradeGemm(Upgrade& upgrade) {
  upgrade.Remove("broadcast");
  return OkStatus();
}

Status UpgradePRelu(Upgrade& upgrade) {
  const int rank = upgrade.InputRank(0);
  if (upgrade.InputRank(1) != 1 || rank <= 2) return OkStatus();
  const ValueType& slope = upgrade.graph().value(upgrade.spec().inputs[1]).type;
  if ((*slope.shape)[0] == Dim(1)) return OkStatus();
  return AppendDims(upgrade, 1, rank - 2);
}

}  // namespace kheya::onnx
