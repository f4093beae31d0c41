#include "formats/onnx/upgrade.h"

#include <algorithm>

#include "formats/onnx/onnx.h"
#include "formats/onnx/upgrade_rules.h"

namespace kheya::onnx {
namespace {

// Applies to versions from <= version < until. `rule` null: the old meaning has no canonical form,
// the node is kept under its old version.
struct UpgradeRow {
  std::string_view op;
  int64_t from;
  int64_t until;
  Status (*rule)(Upgrade& upgrade);
};

constexpr UpgradeRow kUpgrades[] = {
    {"Add", 6, 7, UpgradeBroadcast},
    {"And", 6, 7, UpgradeBroadcast},
    {"BatchNormalization", 6, 14, UpgradeBatchNormalization},
    {"Clip", 6, 11, UpgradeClip},
    {"DFT", 17, 20, UpgradeDft},
    {"Div", 6, 7, UpgradeBroadcast},
    {"Dropout", 6, 12, UpgradeDropout},
    {"Equal", 6, 7, UpgradeBroadcast},
    {"GRU", 6, 7, UpgradeRecurrent},
    {"Gemm", 6, 7, UpgradeGemm},
    {"Greater", 6, 7, UpgradeBroadcast},
    {"GridSample", 16, 20, UpgradeGridSample},
    {"GroupNormalization", 18, 21, UpgradeGroupNormalization},
    {"Hardmax", 6, 13, UpgradeSoftmax},
    {"LSTM", 6, 7, UpgradeRecurrent},
    {"Less", 6, 7, UpgradeBroadcast},
    {"LogSoftmax", 6, 13, UpgradeSoftmax},
    {"Mul", 6, 7, UpgradeBroadcast},
    {"Or", 6, 7, UpgradeBroadcast},
    {"PRelu", 6, 7, UpgradePRelu},
    {"Pad", 6, 11, UpgradePad},
    {"Pow", 6, 7, UpgradeBroadcast},
    {"RNN", 6, 7, UpgradeRecurrent},
    {"ReduceL1", 6, 18, UpgradeAxes},
    {"ReduceL2", 6, 18, UpgradeAxes},
    {"ReduceLogSum", 6, 18, UpgradeAxes},
    {"ReduceLogSumExp", 6, 18, UpgradeAxes},
    {"ReduceMax", 6, 18, UpgradeAxes},
    {"ReduceMean", 6, 18, UpgradeAxes},
    {"ReduceMin", 6, 18, UpgradeAxes},
    {"ReduceProd", 6, 18, UpgradeAxes},
    {"ReduceSum", 6, 13, UpgradeAxes},
    {"ReduceSumSquare", 6, 18, UpgradeAxes},
    {"Resize", 10, 11, UpgradeResize10},
    {"Resize", 11, kCanonicalOpset + 1, UpgradeResize11},
    {"RoiAlign", 10, 16, UpgradeRoiAlign},
    {"Scan", 8, 9, UpgradeScan8},
    {"Scatter", 9, kCanonicalOpset + 1, UpgradeScatter},
    {"Slice", 6, 10, UpgradeSlice},
    {"Softmax", 6, 13, UpgradeSoftmax},
    {"Split", 6, 18, UpgradeSplit},
    {"Squeeze", 6, 13, UpgradeAxes},
    {"Sub", 6, 7, UpgradeBroadcast},
    {"TopK", 6, 10, UpgradeTopK},
    {"Unsqueeze", 6, 13, UpgradeAxes},
    {"Upsample", 6, kCanonicalOpset + 1, UpgradeUpsample},
    {"Xor", 6, 7, UpgradeBroadcast},
};

// Changed between the first opset and kOldestOpset by more than `consumed_inputs`. Sorted.
constexpr std::string_view kChangedBeforeOldest[] = {
    "Cast", "Concat", "GRU", "GroupNormalization", "LSTM", "Pad", "RNN", "Reshape", "Split", "Tile",
};

}  // namespace

Status UpgradeNode(Graph& graph, int64_t version, NodeSpec& spec) {
  if (version < kOldestOpset && std::binary_search(std::begin(kChangedBeforeOldest),
                                                   std::end(kChangedBeforeOldest), spec.op)) {
    return UnimplementedError("{} of opset {} is not supported, the oldest supported opset is {}",
                              spec.op, version, kOldestOpset);
  }
  const int64_t known_version = std::max<int64_t>(version, kOldestOpset);
  const std::string op = spec.op;
  Upgrade upgrade(graph, known_version, spec);
  if (version < kOldestOpset) upgrade.Remove("consumed_inputs");
  for (const UpgradeRow& row : kUpgrades) {
    if (row.op != op || known_version < row.from || known_version >= row.until) continue;
    if (row.rule == nullptr) {
      spec.op = fmt::format("{}-{}", op, known_version);
      return OkStatus();
    }
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
