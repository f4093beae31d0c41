// Options that every command which runs a model shares.
#ifndef KHEYA_APP_MODEL_OPTIONS_H_
#define KHEYA_APP_MODEL_OPTIONS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace CLI {
class App;
}

namespace kheya {

struct ModelOptions {
  std::string model;
  std::string device = "auto";
  int threads = 0;
  std::string tactics = "auto";
  std::vector<std::string> disabled_passes;
  std::vector<std::string> shapes;  // "NAME=1x3x224x224"
  bool no_tuning = false;
  double tuning_budget = 15;  // seconds
  bool deterministic = false;
  bool compare_tactics = false;  // not a flag of every command
  bool no_cache = false;
  uint64_t cache_size_mib = 8192;
  bool keep_package = false;  // of CompileOptions; no flag
  std::string cache_dir;      // empty: XDG_CACHE_HOME/kheya, or ~/.cache/kheya

  // The members as MODEL and flags; environment KHEYA_THREADS, KHEYA_DEVICE, KHEYA_NO_TUNING,
  // KHEYA_TUNING_BUDGET, KHEYA_DETERMINISTIC, KHEYA_CACHE_DIR, KHEYA_NO_CACHE,
  // KHEYA_CACHE_SIZE_MIB.
  void AddTo(CLI::App& app);
  Result<std::map<std::string, Shape>> ParseShapes() const;
  // Loads and compiles, printing warnings of the import. `phases` may be null.
  Result<std::shared_ptr<CompiledModel>> Compile(const LoadOptions& load = LoadOptions(),
                                                 PhaseTimes* phases = nullptr) const;
};

// "NAME=1x3x224x224".
Result<std::pair<std::string, Shape>> ParseShapeFlag(const std::string& text);

}  // namespace kheya

#endif  // KHEYA_APP_MODEL_OPTIONS_H_
