#include "engine/compile_checks.h"

#include <algorithm>

#include "base/string_util.h"
#include "ops/verify_model.h"

namespace kheya {
namespace {

constexpr size_t kMostUnsupportedListed = 10;

}  // namespace

Status CheckSupported(const Graph& graph) {
  const std::vector<UnsupportedNode> unsupported = FindUnsupported(graph);
  if (unsupported.empty()) return VerifyModel(graph);
  std::string list;
  for (size_t i = 0; i < std::min(unsupported.size(), kMostUnsupportedListed); ++i) {
    list += fmt::format("{}{}: {}", i == 0 ? "" : "; ", unsupported[i].node, unsupported[i].reason);
  }
  if (unsupported.size() > kMostUnsupportedListed) {
    list += fmt::format("; and {} more", unsupported.size() - kMostUnsupportedListed);
  }
  return UnimplementedError("{}", list);
}

Status ParseTactics(const std::string& name, CompilePlanOptions* options) {
  const std::vector<std::string> names = TacticNames();
  if (std::ranges::find(names, name) == names.end()) {
    return InvalidArgumentError("found tactics '{}', expected one of {}", name, Join(names, ", "));
  }
  if (name == "portable") options->tactics = Tactics::kPortable;
  if (name == "reference") options->tactics = Tactics::kReference;
  if (options->tactics == Tactics::kAuto && name != "auto") options->forced = name;
  return OkStatus();
}

std::string NameOf(const Model& model) {
  if (!model.graph.name().empty()) return model.graph.name();
  const size_t slash = model.path.rfind('/');
  const std::string file = slash == std::string::npos ? model.path : model.path.substr(slash + 1);
  return file.substr(0, file.rfind('.'));
}

ValueType WithoutShapes(ValueType type) {
  type.shape.reset();
  if (type.element) type.element = std::make_shared<ValueType>(WithoutShapes(*type.element));
  return type;
}

bool IsFixed(const std::vector<TensorInfo>& infos) {
  return std::all_of(infos.begin(), infos.end(), [](const TensorInfo& info) {
    return !info.type.is_tensor() || info.type.KnownShape().has_value();
  });
}

}  // namespace kheya
