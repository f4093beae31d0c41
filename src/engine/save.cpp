#include "engine/engine.h"
#include "formats/formats.h"

namespace kheya {

Status SaveModel(const Model& model, const std::string& path, const SaveOptions& options) {
  ExportOptions written;
  if (options.opset != 0) written.opset = options.opset;
  written.external_data = options.external_data;
  return ExportOnnx(model.graph, path, written).WithContext("file '{}'", model.path);
}

}  // namespace kheya
