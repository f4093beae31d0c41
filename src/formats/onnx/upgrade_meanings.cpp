// Rules for operators whose meaning or name changed.
#include <cmath>

#include "base/string_util.h"
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

constexpr float kMaxPower = 1 << 20;

// The whole number that input `index` holds; nullopt when it is no constant.
Result<std::optional<int64_t>> ConstantNumber(Upgrade& upgrade, size_t index) {
  const Tensor* constant = upgrade.graph().Constant(upgrade.spec().inputs[index]);
  if (constant == nullptr) return std::optional<int64_t>();
  if (constant->num_elements() != 1) {
    return InvalidArgumentError("input {}: found {}, expected one number", index,
                                constant->TypeString());
  }
  if (constant->dtype() != DType::kFloat32) {
    KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> numbers, ToInt64s(*constant));
    return std::optional(numbers[0]);
  }
  KHEYA_ASSIGN_OR_RETURN(const Tensor aligned, constant->Aligned());
  const float number = aligned.data<float>()[0];
  constexpr float kMost = 1 << 24;  // above, not every whole number is a float
  if (!(std::fabs(number) <= kMost) || number != std::floor(number)) {
    return InvalidArgumentError("input {}: found {}, expected a whole number", index, number);
  }
  return std::optional(static_cast<int64_t>(number));
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

Status UpgradeCast(Upgrade& upgrade) {
  KHEYA_ASSIGN_OR_RETURN(std::optional<std::string> name, upgrade.Take<std::string>("to"));
  if (!name) return InvalidArgumentError("found no attribute 'to'");
  static constexpr std::pair<std::string_view, DType> kTypes[] = {
      {"float", DType::kFloat32},   {"uint8", DType::kUint8},    {"int8", DType::kInt8},
      {"uint16", DType::kUint16},   {"int16", DType::kInt16},    {"int32", DType::kInt32},
      {"int64", DType::kInt64},     {"string", DType::kString},  {"bool", DType::kBool},
      {"float16", DType::kFloat16}, {"double", DType::kFloat64}, {"uint32", DType::kUint32},
      {"uint64", DType::kUint64},
  };
  const std::string wanted = ToLower(*name);
  for (const auto& [known, dtype] : kTypes) {
    if (known != wanted) continue;
    upgrade.Set("to", static_cast<int64_t>(dtype));
    return OkStatus();
  }
  return InvalidArgumentError("attribute 'to': found '{}', expected the name of an element type",
                              EscapeControls(Abbreviate(*name)));
}

Status UpgradeConcat(Upgrade& upgrade) {
  upgrade.SetDefault("axis", int64_t{1});
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
  // There was no other precision to normalize in than the input's own.
  if (type.dtype == DType::kFloat64) {
    upgrade.Set("stash_type", static_cast<int64_t>(DType::kFloat64));
  }
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

Status UpgradeLpPool(Upgrade& upgrade) {
  KHEYA_ASSIGN_OR_RETURN(const std::optional<float> power, upgrade.Take<float>("p"));
  if (!power) return OkStatus();
  if (*power != std::floor(*power) || *power < 1 || *power > kMaxPower) {
    return UnimplementedError(
        "attribute 'p': found {}, only whole numbers from 1 to {} are "
        "supported",
        *power, kMaxPower);
  }
  upgrade.Set("p", static_cast<int64_t>(*power));
  return OkStatus();
}

Status UpgradePad1(Upgrade& upgrade) {
  KHEYA_ASSIGN_OR_RETURN(std::optional<std::vector<int64_t>> pads,
                         upgrade.Take<std::vector<int64_t>>("paddings"));
  if (!pads) return InvalidArgumentError("found no attribute 'paddings'");
  upgrade.Set("pads", *std::move(pads));
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

Status UpgradeSelu(Upgrade& upgrade) {
  upgrade.SetDefault("alpha", 1.6732f);
  upgrade.SetDefault("gamma", 1.0507f);
  return OkStatus();
}

Status UpgradeSplit1(Upgrade& upgrade) {
  if (!upgrade.HasInput(1)) return OkStatus();
  return UnimplementedError("input 'split' of opset 1 is not supported, only the attribute is");
}

Status UpgradeTile(Upgrade& upgrade) {
  std::vector<ValueId>& inputs = upgrade.spec().inputs;
  if (inputs.size() != 3) {
    return InvalidArgumentError("found {} inputs, expected 3", inputs.size());
  }
  const int rank = upgrade.InputRank(0);
  KHEYA_ASSIGN_OR_RETURN(const std::optional<int64_t> times, ConstantNumber(upgrade, 1));
  KHEYA_ASSIGN_OR_RETURN(const std::optional<int64_t> axis, ConstantNumber(upgrade, 2));
  if (rank < 0 || !times || !axis) {
    return UnimplementedError(
        "opset {} needs an input of known rank and constant 'tiles' and 'axis'", upgrade.version());
  }
  if (*axis < -rank || *axis >= rank) {
    return InvalidArgumentError("axis: found {}, expected {} to {}", *axis, -rank, rank - 1);
  }
  std::vector<int64_t> repeats(rank, 1);
  repeats[*axis < 0 ? *axis + rank : *axis] = *times;
  inputs.resize(1);
  return upgrade.AddInput(1, "repeats", repeats);
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
