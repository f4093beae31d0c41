// Rules for operators whose meaning or name changed.
#include "formats/onnx/upgrade_rules.h"

namespace kheya::onnx {
namespace {

// Upsample and the first Resize map coordinates in their own way, and round down.
void UseAsymmetricCoordinates(Upgrade& upgrade) {
  upgrade.Set("coordinate_transformation_mode", std::string("asymmetric"));
  upgrade.Set("nearest_mode", std::string("floor"));
}

// Inputs (x, scales) become (x, roi, scales).
Status MakeRoomForRoi(Upgrade& upgrade) {
  std::vector<ValueId>& inputs = upgrade.spec().inputs;
  if (inputs.size() != 2) {
    return InvalidArgumentError("found {} inputs, expected 2", inputs.size());
  }
  inputs.insert(inputs.begin() + 1, ValueId());
  return OkStatus();
}

// [groups] becomes [groups * count], each element `count` times.
Result<ValueId> RepeatForChannels(Upgrade& upgrade, ValueId values, int64_t count,
                                  std::string_view name) {
  auto constant = [&](std::vector<int64_t> list) {
    const Shape shape{static_cast<int64_t>(list.size())};
    return upgrade.graph().AddConstant(std::string(name), Tensor::FromValues<int64_t>(shape, list));
  };
  KHEYA_ASSIGN_OR_RETURN(
      const ValueId column,
      upgrade.Before({.op = "Unsqueeze", .inputs = {values, constant({1})}}, name));
  KHEYA_ASSIGN_OR_RETURN(
      const ValueId rows,
      upgrade.Before({.op = "Expand", .inputs = {column, constant({1, count})}}, name));
  return upgrade.Before({.op = "Reshape", .inputs = {rows, constant({-1})}}, name);
}

void RenameMode(Upgrade& upgrade, std::string_view from, std::string_view to) {
  for (Attribute& attribute : upgrade.spec().attributes) {
    auto* mode = std::get_if<std::string>(&attribute.value);
    if (attribute.name == "mode" && mode != nullptr && *mode == from) *mode = to;
  }
}

}  // namespace

Status UpgradeSoftmax(Upgrade& upgrade) {
  NodeSpec& spec = upgrade.spec();
  if (spec.inputs.size() != 1 || !spec.inputs[0].valid()) {
    return InvalidArgumentError("found {} inputs, expected 1", spec.inputs.size());
  }
  KHEYA_ASSIGN_OR_RETURN(const std::optional<int64_t> found, upgrade.Take<int64_t>("axis"));
  const int64_t axis = found.value_or(1);
  const int rank = upgrade.InputRank(0);
  if (axis == -1 || (rank > 0 && axis == rank - 1)) {
    upgrade.Set("axis", int64_t{-1});
    return OkStatus();
  }
  const ValueId x = spec.inputs[0];
  KHEYA_ASSIGN_OR_RETURN(
      const ValueId flat,
      upgrade.Before({.op = "Flatten", .inputs = {x}, .attributes = {{"axis", axis}}}, "flat"));
  KHEYA_ASSIGN_OR_RETURN(
      const ValueId result,
      upgrade.Before({.op = spec.op, .inputs = {flat}, .attributes = {{"axis", int64_t{-1}}}},
                     "rows"));
  KHEYA_ASSIGN_OR_RETURN(const ValueId shape,
                         upgrade.Before({.op = "Shape", .inputs = {x}}, "shape"));
  spec.op = "Reshape";
  spec.inputs = {result, shape};
  // A dimension of 0 in the shape is 0 elements, not a dimension to copy.
  spec.attributes = {{"allowzero", int64_t{1}}};
  return OkStatus();
}

Status UpgradeBatchNormalization(Upgrade& upgrade) {
  upgrade.Remove("is_test");
  KHEYA_ASSIGN_OR_RETURN(const std::optional<int64_t> spatial, upgrade.Take<int64_t>("spatial"));
  if (spatial && *spatial != 1) {
    return UnimplementedError("attribute 'spatial': found {}, only 1 is supported", *spatial);
  }
  std::vector<std::string>& outputs = upgrade.spec().outputs;
  for (size_t i = 1; i < outputs.size(); ++i) {
    if (!outputs[i].empty()) {
      return UnimplementedError("output {} of training is not supported in opset {}", i,
                                upgrade.version());
    }
  }
  if (outputs.size() > 1) outputs.resize(1);
  return OkStatus();
}

Status UpgradeDropout(Upgrade& upgrade) {
  upgrade.Remove("ratio");
  upgrade.Remove("is_test");
  // The mask was of the data's type, not bool; no file is known that uses it.
  std::vector<std::string>& outputs = upgrade.spec().outputs;
  if (upgrade.version() < 10 && outputs.size() > 1) outputs.resize(1);
  return OkStatus();
}

Status UpgradeGridSample(Upgrade& upgrade) {
  RenameMode(upgrade, "bilinear", "linear");
  RenameMode(upgrade, "bicubic", "cubic");
  return OkStatus();
}

Status UpgradeGroupNormalization(Upgrade& upgrade) {
  std::vector<ValueId>& inputs = upgrade.spec().inputs;
  KHEYA_ASSIGN_OR_RETURN(const std::optional<int64_t> groups, upgrade.Take<int64_t>("num_groups"));
  if (inputs.size() != 3 || !groups || *groups < 1) {
    return InvalidArgumentError("found {} inputs and {} groups, expected 3 and at least 1",
                                inputs.size(), groups.value_or(0));
  }
  upgrade.Set("num_groups", *groups);
  const ValueType& type = upgrade.graph().value(inputs[0]).type;
  const bool known = upgrade.InputRank(0) >= 2 && (*type.shape)[1].known();
  if (!known || (*type.shape)[1].value() % *groups != 0) {
    return UnimplementedError("opset {} needs a known number of channels that {} groups divide",
                              upgrade.version(), *groups);
  }
  const int64_t channels_per_group = (*type.shape)[1].value() / *groups;
  KHEYA_ASSIGN_OR_RETURN(inputs[1],
                         RepeatForChannels(upgrade, inputs[1], channels_per_group, "scale"));
  KHEYA_ASSIGN_OR_RETURN(inputs[2],
                         RepeatForChannels(upgrade, inputs[2], channels_per_group, "bias"));
  return OkStatus();
}

Status UpgradeRecurrent(Upgrade& upgrade) {
  upgrade.Remove("output_sequence");
  return OkStatus();
}

Status UpgradeResize10(Upgrade& upgrade) {
  UseAsymmetricCoordinates(upgrade);
  return MakeRoomForRoi(upgrade);
}

Status UpgradeResize11(Upgrade& upgrade) {
  if (!upgrade.HasInput(3) || !upgrade.HasInput(2)) return OkStatus();
  ValueId& scales = upgrade.spec().inputs[2];
  const Tensor* tensor = upgrade.graph().Constant(scales);
  if (tensor != nullptr && tensor->num_elements() == 0) scales = ValueId();
  return OkStatus();
}

Status UpgradeRoiAlign(Upgrade& upgrade) {
  upgrade.SetDefault("coordinate_transformation_mode", std::string("output_half_pixel"));
  return OkStatus();
}

Status UpgradeScan8(Upgrade& upgrade) {
  upgrade.spec().op = "Scan8";
  upgrade.spec().domain = kInternalDomain;
  return OkStatus();
}

Status UpgradeScatter(Upgrade& upgrade) {
  upgrade.spec().op = "ScatterElements";
  return OkStatus();
}

Status UpgradeUpsample(Upgrade& upgrade) {
  KHEYA_ASSIGN_OR_RETURN(const std::optional<std::vector<float>> scales,
                         upgrade.Take<std::vector<float>>("scales"));
  KHEYA_ASSIGN_OR_RETURN(const std::optional<float> height, upgrade.Take<float>("height_scale"));
  KHEYA_ASSIGN_OR_RETURN(const std::optional<float> width, upgrade.Take<float>("width_scale"));
  if (height && width) {
    KHEYA_RETURN_IF_ERROR(upgrade.AddInput(
        1, "scales", Tensor::FromValues<float>(Shape{4}, {1.0f, 1.0f, *height, *width})));
  } else if (scales) {
    const Shape shape{static_cast<int64_t>(scales->size())};
    KHEYA_RETURN_IF_ERROR(upgrade.AddInput(1, "scales", Tensor::FromValues<float>(shape, *scales)));
  }
  RenameMode(upgrade, "bilinear", "linear");
  UseAsymmetricCoordinates(upgrade);
  upgrade.spec().op = "Resize";
  return MakeRoomForRoi(upgrade);
}

}  // namespace kheya::onnx
