#include "base/file.h"
#include "base/out_of_memory.h"
#include "engine/compiled_graph.h"
#include "engine/engine.h"
#include "engine/model_cache.h"
#include "engine/package.h"
#include "engine/phase_clock.h"
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
  PhaseClock clock(options.phases);
  KHEYA_ASSIGN_OR_RETURN(ImportedModel imported, Import(path, import));
  clock.End("read");
  Model model{path,
              std::move(imported.format),
              imported.file_bytes,
              std::move(imported.graph),
              std::move(imported.warnings),
              std::move(imported.external_files)};
  KHEYA_RETURN_IF_ERROR(InferTypes(model.graph, &model.warnings).WithContext("file '{}'", path));
  clock.End("infer");
  return model;
}

}  // namespace

Result<Model> LoadModel(const std::string& path, const LoadOptions& options) {
  return CatchOutOfMemory([&] { return Load(path, options); });
}

namespace {

void Warn(const CompileOptions& compile, std::string warning) {
  if (compile.warnings != nullptr) compile.warnings->push_back(std::move(warning));
}

// A package as it lies; null, and why in `reason`, where it must be compiled again.
Result<std::shared_ptr<CompiledModel>> OpenPackage(const MappedFile& file,
                                                   const CompileOptions& compile,
                                                   std::shared_ptr<const Package>* package,
                                                   std::string* reason) {
  PhaseClock clock(compile.phases);
  KHEYA_ASSIGN_OR_RETURN(*package, Package::Open(file));
  clock.End("read");
  return CompiledGraph::Open(compile, {*package, ""}, reason);
}

// What the cache holds of a model; null for nothing.
std::shared_ptr<CompiledModel> OpenCached(const std::string& cache_file,
                                          const CompileOptions& compile) {
  PhaseClock clock(compile.phases);
  std::shared_ptr<const Package> package = FindCompiledModel(cache_file);
  clock.End("read");
  if (package == nullptr) return nullptr;
  // Made where nothing was timed: made again when there is time.
  if (compile.tuning_seconds > 0 && !package->plans()->tuned) return nullptr;
  std::string reason;
  CompileOptions quiet = compile;
  std::vector<std::string> warnings;
  quiet.warnings = &warnings;
  Result<std::shared_ptr<CompiledModel>> model =
      CompiledGraph::Open(quiet, {std::move(package), cache_file}, &reason);
  if (!model.ok()) return nullptr;
  for (std::string& warning : warnings) Warn(compile, std::move(warning));
  return std::move(model).value();
}

bool IsPackage(const std::string& path, const LoadOptions& load) {
  const Result<MappedFile> file = MappedFile::Open(path, {load.max_bytes, false});
  return file.ok() && PackageFile::Matches(file->bytes());
}

Result<std::shared_ptr<CompiledModel>> LoadAndCompileChecked(const std::string& path,
                                                             const LoadOptions& load,
                                                             const CompileOptions& compile) {
  CompiledGraph::Storage storage;
  if (IsPackage(path, load)) {
    KHEYA_ASSIGN_OR_RETURN(const MappedFile file,
                           MappedFile::Open(path, {load.max_bytes, load.copy}));
    std::string reason;
    KHEYA_ASSIGN_OR_RETURN(std::shared_ptr<CompiledModel> model,
                           OpenPackage(file, compile, &storage.package, &reason));
    if (model != nullptr) return model;
    Warn(compile, fmt::format("file '{}': the package is compiled again: {}", path, reason));
  }
  const bool cached = !compile.cache_dir.empty() && compile.cache_bytes > 0 && !load.copy &&
                      !compile.compare_tactics && !compile.keep_package;
  std::optional<Hash128> content;
  if (cached) content = RememberedContent(compile.cache_dir, path);
  if (content) {
    storage.cache_file = CompiledModelPath(*content, load, compile);
    if (auto model = OpenCached(storage.cache_file, compile)) return model;
  }
  KHEYA_ASSIGN_OR_RETURN(Model model, LoadModel(path, load));
  if (cached && !content) {
    PhaseClock clock(compile.phases);
    const Result<Hash128> hashed = HashContent(compile.cache_dir, path, model.external_files);
    clock.End("hash file");
    if (hashed.ok()) {
      storage.cache_file = CompiledModelPath(*hashed, load, compile);
      if (auto found = OpenCached(storage.cache_file, compile)) return found;
    }
  }
  for (const std::string& warning : model.warnings) Warn(compile, warning);
  if (!compile.keep_package) storage.package = nullptr;
  return CompiledGraph::Create(std::move(model), compile, std::move(storage))
      .WithContext("file '{}'", path);
}

}  // namespace

Status VerifyPackage(const std::string& path) {
  return CatchOutOfMemory([&]() -> Status {
    KHEYA_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
    KHEYA_ASSIGN_OR_RETURN(const PackageFile package, PackageFile::Open(file));
    return package.Verify();
  });
}

Result<std::shared_ptr<CompiledModel>> LoadAndCompile(const std::string& path,
                                                      const LoadOptions& load,
                                                      const CompileOptions& compile) {
  return CatchOutOfMemory([&] { return LoadAndCompileChecked(path, load, compile); });
}

}  // namespace kheya
