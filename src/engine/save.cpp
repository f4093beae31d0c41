#include <algorithm>

#include "base/out_of_memory.h"
#include "engine/engine.h"
#include "formats/formats.h"

namespace kheya {
namespace {

int DeclaredOpset(const Graph& graph) {
  for (const auto& [domain, version] : graph.declared_opsets) {
    if (domain.empty()) return static_cast<int>(std::min<int64_t>(version, kCanonicalOpset));
  }
  return kCanonicalOpset;
}

}  // namespace

Result<int> SaveModel(const Model& model, const std::string& path, const SaveOptions& options) {
  const int declared = std::max(DeclaredOpset(model.graph), kOldestExportOpset);
  const int last = options.opset.value_or(kCanonicalOpset);
  for (int opset = options.opset.value_or(declared);; ++opset) {
    const ExportOptions written = {opset, options.external_data};
    Status status = CatchOutOfMemory([&] { return ExportOnnx(model.graph, path, written); });
    if (status.ok()) return opset;
    if (opset >= last || status.code() != StatusCode::kUnimplemented) {
      return std::move(status).WithContext("file '{}'", model.path);
    }
  }
}

}  // namespace kheya
