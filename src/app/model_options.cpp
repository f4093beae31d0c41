#include "app/model_options.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>

#include "app/terminal.h"
#include "app/validators.h"
#include "base/string_util.h"

namespace kheya {

namespace {

// Empty where the environment names no home.
std::string DefaultCacheDir() {
  // The XDG specification says that a path that is not absolute is to be ignored.
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') return std::string(cache) + "/kheya";
  const char* home = std::getenv("HOME");
  return home != nullptr && home[0] == '/' ? std::string(home) + "/.cache/kheya" : "";
}

}  // namespace

Result<std::pair<std::string, Shape>> ParseShapeFlag(const std::string& text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) {
    return InvalidArgumentError("found '{}', expected NAME=1x3x224x224", text);
  }
  std::vector<int64_t> dims;
  const std::string_view list = std::string_view(text).substr(equals + 1);
  if (!list.empty()) {
    for (std::string_view part : Split(list, 'x')) {
      Result<int64_t> dim = ParseInt64(part);
      if (!dim.ok()) return std::move(dim).status().WithContext("'{}'", text);
      dims.push_back(*dim);
    }
  }
  Result<Shape> shape = Shape::Create(dims);
  if (!shape.ok()) return std::move(shape).status().WithContext("'{}'", text);
  return std::make_pair(text.substr(0, equals), *shape);
}

void ModelOptions::AddTo(CLI::App& app) {
  app.add_option("MODEL", model, "The model file")->required();
  app.add_option("--device", device, "Where to run: auto, cpu")
      ->envname("KHEYA_DEVICE")
      ->capture_default_str();
  app.add_option("--threads", threads, "CPUs a run may use; 0: all that this process may")
      ->envname("KHEYA_THREADS")
      ->check(WholeNumber(0));
  app.add_option("--tactics", tactics, "Kernels to choose from")
      ->check(CLI::IsMember(TacticNames()))
      ->capture_default_str();
  app.add_option("--disable-pass", disabled_passes, "Leave out this optimization; may be repeated")
      ->allow_extra_args(false);
  app.add_flag("--no-tuning", no_tuning, "Time no kernels; choices of earlier runs are used")
      ->envname("KHEYA_NO_TUNING");
  app.add_option("--tuning-budget", tuning_budget, "Seconds for timing kernels")
      ->envname("KHEYA_TUNING_BUDGET")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_flag("--deterministic", deterministic, "Fixed choices alone, the same on every run")
      ->envname("KHEYA_DETERMINISTIC");
  app.add_option("--cache-dir", cache_dir,
                 "Where choices of kernels and compiled models are kept (default: kheya in "
                 "XDG_CACHE_HOME or ~/.cache)")
      ->envname("KHEYA_CACHE_DIR");
  app.add_option("--cache-size-mib", cache_size_mib,
                 "What compiled models there may take; 0: only choices are kept")
      ->envname("KHEYA_CACHE_SIZE_MIB")
      ->check(CLI::Range(uint64_t{0}, uint64_t{1} << 30))
      ->capture_default_str();
  app.add_flag("--no-cache", no_cache, "Neither read nor write the cache")
      ->envname("KHEYA_NO_CACHE");
  app.add_option("--shape", shapes, "Fix an input's shape, as NAME=1x3x224x224; may be repeated")
      ->allow_extra_args(false)
      ->check(Accepts([](const std::string& text) { return ParseShapeFlag(text).status(); }));
}

Result<std::map<std::string, Shape>> ModelOptions::ParseShapes() const {
  std::map<std::string, Shape> parsed;
  for (const std::string& text : shapes) {
    KHEYA_ASSIGN_OR_RETURN(auto shape, ParseShapeFlag(text));
    parsed.insert_or_assign(shape.first, shape.second);
  }
  return parsed;
}

Result<std::shared_ptr<CompiledModel>> ModelOptions::Compile(const LoadOptions& load,
                                                             PhaseTimes* phases) const {
  CompileOptions options;
  options.device = device;
  options.tactics = tactics;
  options.disabled_passes = disabled_passes;
  options.compare_tactics = compare_tactics;
  KHEYA_ASSIGN_OR_RETURN(options.input_shapes, ParseShapes());
  const auto bar = std::make_shared<ProgressBar>("timing kernels", std::ceil(tuning_budget));
  options.keep_package = keep_package;
  options.cache_bytes = cache_size_mib << 20;
  if (!deterministic && !no_cache) {
    options.cache_dir = cache_dir.empty() ? DefaultCacheDir() : cache_dir;
  }
  if (!deterministic) {
    options.tuning_seconds = no_tuning ? 0 : tuning_budget;
    options.tuning_progress = [shown = std::weak_ptr(bar)](double seconds) {
      if (const auto bar = shown.lock()) bar->Update(static_cast<int64_t>(seconds));
    };
  }
  options.phases = phases;
  LoadOptions load_options = load;
  load_options.phases = phases;
  std::vector<std::string> warnings;
  options.warnings = &warnings;
  Result<std::shared_ptr<CompiledModel>> compiled = LoadAndCompile(model, load_options, options);
  for (const std::string& warning : warnings) PrintWarning(warning);
  return compiled;
}

}  // namespace kheya
