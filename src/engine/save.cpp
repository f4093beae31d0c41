#include "base/out_of_memory.h"
#include "engine/engine.h"
#include "formats/formats.h"

namespace kheya {

Status SaveModel(const Model& model, const std::string& path, const SaveOptions& options) {
  const ExportOptions written = {options.opset, options.external_data};
  return CatchOutOfMemory([&] { return ExportOnnx(model.graph, path, written); })
      .WithContext("file '{}'", model.path);
}

}  // namespace kheya
