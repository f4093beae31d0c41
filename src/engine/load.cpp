#include "base/out_of_memory.h"
#include "engine/engine.h"
#include "formats/formats.h"
#include "ops/infer.h"

namespace kheya {
namespace {

Result<Model> Load(const std::string& path, const LoadOptions& options) {
  ImportOptions import;
  import.file.max_bytes = options.max_bytes;
  import.file.copy = options.copy;
  import.overridden = options.overridden;
  import.keep_notes = options.keep_notes;
  KHEYA_ASSIGN_OR_RETURN(ImportedModel imported, Import(path, import));
  Model model{path, std::move(imported.format), imported.file_bytes, std::move(imported.graph),
              std::move(imported.warnings)};
  KHEYA_RETURN_IF_ERROR(InferTypes(model.graph, &model.warnings).WithContext("file '{}'", path));
  return model;
}

}  // namespace

Result<Model> LoadModel(const std::string& path, const LoadOptions& options) {
  return CatchOutOfMemory([&] { return Load(path, options); });
}

Result<std::shared_ptr<CompiledModel>> LoadAndCompile(const std::string& path,
                                                      const LoadOptions& load,
                                                      const CompileOptions& compile) {
  KHEYA_ASSIGN_OR_RETURN(Model model, LoadModel(path, load));
  return CompileModel(std::move(model), compile).WithContext("file '{}'", path);
}

}  // namespace kheya
