#include "base/file.h"
#include "engine/engine.h"
#include "formats/onnx/onnx.h"
#include "ops/infer.h"

namespace kheya {
namespace {

Status Import(const std::string& path, const LoadOptions& options, Model* model) {
  ImportOptions import;
  import.file.max_bytes = options.max_bytes;
  import.file.copy = options.copy;
  KHEYA_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path, import.file));
  model->format = "onnx";
  model->file_bytes = file.bytes().size();
  KHEYA_ASSIGN_OR_RETURN(model->graph, ImportOnnx(file, import, &model->warnings));
  return InferTypes(model->graph, &model->warnings);
}

}  // namespace

Result<Model> LoadModel(const std::string& path, const LoadOptions& options) {
  Model model;
  model.path = path;
  Status status = Import(path, options, &model);
  if (!status.ok()) {
    // What concerns the file itself names it already.
    if (status.message().find(path) != std::string::npos) return status;
    return std::move(status).WithContext("file '{}'", path);
  }
  return model;
}

Result<std::shared_ptr<CompiledModel>> LoadAndCompile(const std::string& path,
                                                      const LoadOptions& load,
                                                      const CompileOptions& compile) {
  KHEYA_ASSIGN_OR_RETURN(Model model, LoadModel(path, load));
  return CompileModel(std::move(model), compile).WithContext("file '{}'", path);
}

}  // namespace kheya
