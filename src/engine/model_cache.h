// Compiled models kept on disk, so that the second load of a model packs nothing: each is a package
// named after the content of the model file, the options and the machine. What is foreign, cut or
// changed counts as not there. Any number of processes may read and write at once.
#ifndef KHEYA_ENGINE_MODEL_CACHE_H_
#define KHEYA_ENGINE_MODEL_CACHE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "base/hash.h"
#include "base/status.h"
#include "engine/engine.h"
#include "engine/package.h"

namespace kheya {

// The content of a model file, and of those that hold its weights apart, as hashed before: when
// none of them has another place, size or time since. nullopt: hash it.
std::optional<Hash128> RememberedContent(const std::string& cache_dir, const std::string& path);

// Hashes the content, and remembers it where the files are not so new that a change might keep
// their time.
Result<Hash128> HashContent(const std::string& cache_dir, const std::string& path,
                            const std::vector<std::string>& external_files);

// The file of a model with this content under these options.
std::string CompiledModelPath(const Hash128& content, const LoadOptions& load,
                              const CompileOptions& compile);

// What lies there, marked as used; null where it cannot be used.
std::shared_ptr<const Package> FindCompiledModel(const std::string& file);

// Calls `write` for a file in the cache, with the folder made, then removes the least recently used
// files over CompileOptions::cache_bytes.
Status KeepModelFile(const CompileOptions& options, const std::string& file,
                     FunctionRef<Status()> write);

}  // namespace kheya

#endif  // KHEYA_ENGINE_MODEL_CACHE_H_
