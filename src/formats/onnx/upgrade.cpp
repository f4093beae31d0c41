#include "formats/onnx/upgrade.h"

#include <algorithm>

#include "formats/onnx/onnx.h"
#include "formats/onnx/upgrade_rules.h"

namespace kheya::onnx {
namespace {

// Applies to versions from <= version < until.
struct UpgradeRow {
  std::string_view op;
  int64_t from;
  int64_t until;
  Status (*rule)(Upgrade& upgrade);
};

constexpr UpgradeRow kUpgrades[] = {
    {"Add", 1, 7, UpgradeBroadcast},
    {"And", 1, 7, UpgradeBroadcast},
    {"BatchNormalization", 1, 14, UpgradeBatchNormalization},
    {"Cast", 1, 6, UpgradeCast},
    {"Clip", 1, 11, UpgradeClip},
    {"Concat", 1, 4, UpgradeConcat},
    {"DFT", 17, 20, UpgradeDft},
    {"Div", 1, 7, UpgradeBroadcast},
    {"Dropout", 1, 12, UpgradeDropout},
    {"Equal", 1, 7, UpgradeBroadcast},
    {"GRU", 1, 7, UpgradeRecurrent},
    {"Gemm", 1, 7, UpgradeGemm},
    {"GlobalLpPool", 1, 2, UpgradeLpPool},
    {"Greater", 1, 7, UpgradeBroadcast},
    {"GridSample", 16, 20, UpgradeGridSample},
    {"GroupNormalization", 18, 21, UpgradeGroupNormalization},
    {"Hardmax", 1, 13, UpgradeSoftmax},
    {"LSTM", 1, 7, UpgradeRecurrent},
    {"Less", 1, 7, UpgradeBroadcast},
    {"LogSoftmax", 1, 13, UpgradeSoftmax},
    {"LpPool", 1, 2, UpgradeLpPool},
    {"Mul", 1, 7, UpgradeBroadcast},
    {"Or", 1, 7, UpgradeBroadcast},
    {"PRelu", 1, 7, UpgradePRelu},
    {"Pad", 1, 2, UpgradePad1},
    {"Pad", 1, 11, UpgradePad},
    {"Pow", 1, 7, UpgradeBroadcast},
    {"RNN", 1, 7, UpgradeRecurrent},
    {"ReduceL1", 1, 18, UpgradeAxes},
    {"ReduceL2", 1, 18, UpgradeAxes},
    {"ReduceLogSum", 1, 18, UpgradeAxes},
    {"ReduceLogSumExp", 1, 18, UpgradeAxes},
    {"ReduceMax", 1, 18, UpgradeAxes},
    {"ReduceMean", 1, 18, UpgradeAxes},
    {"ReduceMin", 1, 18, UpgradeAxes},
    {"ReduceProd", 1, 18, UpgradeAxes},
    {"ReduceSum", 1, 13, UpgradeAxes},
    {"ReduceSumSquare", 1, 18, UpgradeAxes},
    {"Reshape", 1, 5, UpgradeReshape},
    {"Resize", 10, 11, UpgradeResize10},
    {"Resize", 11, kCanonicalOpset + 1, UpgradeResize11},
    {"RoiAlign", 10, 16, UpgradeRoiAlign},
    {"Scan", 8, 9, UpgradeScan8},
    {"Scatter", 9, kCanonicalOpset + 1, UpgradeScatter},
    {"Selu", 1, 6, UpgradeSelu},
    {"Slice", 1, 10, UpgradeSlice},
    {"Softmax", 1, 13, UpgradeSoftmax},
    {"Split", 1, 2, UpgradeSplit1},
    {"Split", 1, 18, UpgradeSplit},
    {"Squeeze", 1, 13, UpgradeAxes},
    {"Sub", 1, 7, UpgradeBroadcast},
    {"Tile", 1, 6, UpgradeTile},
    {"TopK", 1, 10, UpgradeTopK},
    {"Unsqueeze", 1, 13, UpgradeAxes},
    {"Upsample", 1, kCanonicalOpset + 1, UpgradeUpsample},
    {"Xor", 1, 7, UpgradeBroadcast},
};

// Before it, nodes could ask to work in place.
constexpr int64_t kOpsetWithoutInPlace = 6;

}  // namespace

Status UpgradeNode(Graph& graph, int64_t version, NodeSpec& spec) {
  const std::string op = spec.op;
  Upgrade upgrade(graph, version, spec);
  if (version < kOpsetWithoutInPlace) upgrade.Remove("consumed_inputs");
  for (const UpgradeRow& row : kUpgrades) {
    if (row.op != op || version < row.from || version >= row.until) continue;
    KHEYA_RETURN_IF_ERROR(row.rule(upgrade));
  }
  return OkStatus();
}

std::vector<Attribute>::iterator Upgrade::Locate(std::string_view name) {
  return std::find_if(spec_.attributes.begin(), spec_.attributes.end(),
                      [&](const Attribute& attribute) { return attribute.name == name; });
}

Status Upgrade::KindError(const Attribute& attribute) {
  return InvalidArgumentError("attribute '{}': found kind {}, expected another", attribute.name,
                              AttributeKindName(attribute.kind()));
}

void Upgrade::Set(std::string_view name, AttributeValue value) {
  const auto it = Locate(name);
  if (it != spec_.attributes.end()) {
    it->value = std::move(value);
  } else {
    spec_.attributes.push_back({std::string(name), std::move(value)});
  }
}

void Upgrade::Remove(std::string_view name) {
  const auto it = Locate(name);
  if (it != spec_.attributes.end()) spec_.attributes.erase(it);
}

void Upgrade::SetDefault(std::string_view name, AttributeValue value) {
  if (!Has(name)) Set(name, std::move(value));
}

int Upgrade::InputRank(size_t index) const {
  if (!HasInput(index)) return -1;
  const ValueType& type = graph_.value(spec_.inputs[index]).type;
  return type.is_tensor() && type.shape ? static_cast<int>(type.shape->size()) : -1;
}

bool Upgrade::HasInput(size_t index) const {
  return index < spec_.inputs.size() && spec_.inputs[index].valid();
}

Status Upgrade::AddInput(size_t index, ValueId value) {
  if (HasInput(index)) {
    return InvalidArgumentError("found {} inputs in opset {}, expected at most {}",
                                spec_.inputs.size(), version_, index);
  }
  if (spec_.inputs.size() <= index) spec_.inputs.resize(index + 1);
  spec_.inputs[index] = value;
  return OkStatus();
}

Status Upgrade::AddInput(size_t index, std::string_view name, Tensor tensor) {
  return AddInput(index, graph_.AddConstant(NameFor(name), std::move(tensor)));
}

Status Upgrade::AddInput(size_t index, std::string_view name, const std::vector<int64_t>& values) {
  return AddInput(index, name,
                  Tensor::FromValues<int64_t>(Shape{static_cast<int64_t>(values.size())}, values));
}

std::string Upgrade::NameFor(std::string_view suffix) const {
  const bool named = spec_.outputs.empty() || spec_.outputs[0].empty();
  return fmt::format("{}/{}", named ? spec_.name : spec_.outputs[0], suffix);
}

Result<ValueId> Upgrade::Before(NodeSpec spec, std::string_view suffix) {
  spec.name = spec_.name.empty() ? "" : fmt::format("{}/{}", spec_.name, suffix);
  spec.outputs = {NameFor(suffix)};
  KHEYA_ASSIGN_OR_RETURN(const NodeId node, graph_.AddNode(std::move(spec)));
  return graph_.node(node).outputs[0];
}

Status Upgrade::AddFloatLikeInput0(size_t index, std::string_view name, float value) {
  if (!HasInput(0)) return InvalidArgumentError("found no input, expected at least 1");
  const DType dtype = graph_.value(spec_.inputs[0]).type.dtype;
  switch (dtype) {
    case DType::kFloat32:
      return AddInput(index, name, Tensor::Scalar(value));
    case DType::kFloat64:
      return AddInput(index, name, Tensor::Scalar<double>(value));
    case DType::kFloat16:
      return AddInput(index, name, Tensor::Scalar(Float16(value)));
    default:
      break;
  }
  const ValueId constant = graph_.AddConstant(NameFor(name), Tensor::Scalar(value));
  KHEYA_ASSIGN_OR_RETURN(const ValueId like,
                         Before({.op = "CastLike", .inputs = {constant, spec_.inputs[0]}}, "like"));
  return AddInput(index, like);
}

}  // namespace kheya::onnx
