// Rules for attributes that became inputs.
#include "formats/onnx/upgrade_rules.h"

namespace kheya::onnx {
namespace {

using Ints = std::vector<int64_t>;

}  // namespace

Status UpgradeAxes(Upgrade& upgrade) {
  KHEYA_ASSIGN_OR_RETURN(const std::optional<Ints> axes, upgrade.Take<Ints>("axes"));
  if (!axes || axes->empty()) return OkStatus();
  return upgrade.AddInput(1, "axes", *axes);
}

Status UpgradeClip(Upgrade& upgrade) {
  KHEYA_ASSIGN_OR_RETURN(const std::optional<float> min, upgrade.Take<float>("min"));
  KHEYA_ASSIGN_OR_RETURN(const std::optional<float> max, upgrade.Take<float>("max"));
  if (min) KHEYA_RETURN_IF_ERROR(upgrade.AddFloatLikeInput0(1, "min", *min));
  if (max) KHEYA_RETURN_IF_ERROR(upgrade.AddFloatLikeInput0(2, "max", *max));
  return OkStatus();
}

Status UpgradeDft(Upgrade& upgrade) {
  KHEYA_ASSIGN_OR_RETURN(const std::optional<int64_t> axis, upgrade.Take<int64_t>("axis"));
  return upgrade.AddInput(2, "axis", Tensor::Scalar(axis.value_or(1)));
}

Status UpgradePad(Upgrade& upgrade) {
  KHEYA_ASSIGN_OR_RETURN(const std::optional<Ints> pads, upgrade.Take<Ints>("pads"));
  KHEYA_ASSIGN_OR_RETURN(const std::optional<float> value, upgrade.Take<float>("value"));
  if (!pads) return InvalidArgumentError("found no attribute 'pads'");
  KHEYA_RETURN_IF_ERROR(upgrade.AddInput(1, "pads", *pads));
  if (!value || *value == 0) return OkStatus();
  return upgrade.AddFloatLikeInput0(2, "value", *value);
}

Status UpgradeReshape(Upgrade& upgrade) {
  KHEYA_ASSIGN_OR_RETURN(const std::optional<Ints> shape, upgrade.Take<Ints>("shape"));
  if (!shape) return InvalidArgumentError("found no attribute 'shape'");
  return upgrade.AddInput(1, "shape", *shape);
}

Status UpgradeSlice(Upgrade& upgrade) {
  KHEYA_ASSIGN_OR_RETURN(const std::optional<Ints> starts, upgrade.Take<Ints>("starts"));
  KHEYA_ASSIGN_OR_RETURN(const std::optional<Ints> ends, upgrade.Take<Ints>("ends"));
  KHEYA_ASSIGN_OR_RETURN(const std::optional<Ints> axes, upgrade.Take<Ints>("axes"));
  if (!starts || !ends) return InvalidArgumentError("found no attributes 'starts' and 'ends'");
  KHEYA_RETURN_IF_ERROR(upgrade.AddInput(1, "starts", *starts));
  KHEYA_RETURN_IF_ERROR(upgrade.AddInput(2, "ends", *ends));
  if (!axes) return OkStatus();
  return upgrade.AddInput(3, "axes", *axes);
}

Status UpgradeSplit(Upgrade& upgrade) {
  KHEYA_ASSIGN_OR_RETURN(const std::optional<Ints> split, upgrade.Take<Ints>("split"));
  if (split) return upgrade.AddInput(1, "split", *split);
  if (upgrade.HasInput(1)) return OkStatus();
  upgrade.Set("num_outputs", static_cast<int64_t>(upgrade.spec().outputs.size()));
  return OkStatus();
}

Status UpgradeTopK(Upgrade& upgrade) {
  KHEYA_ASSIGN_OR_RETURN(const std::optional<int64_t> k, upgrade.Take<int64_t>("k"));
  if (!k) return InvalidArgumentError("found no attribute 'k'");
  return upgrade.AddInput(1, "k", Ints{*k});
}

}  // namespace kheya::onnx
